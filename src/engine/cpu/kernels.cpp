#include "engine/cpu/kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "engine/cpu/dispatch.hpp"
#include "support/error.hpp"

namespace tyche::engine::cpu {

namespace {

Kernels kernels_of(std::int64_t target) {
  Kernels table;
  fill_products(target, table);
  fill_sparse(target, table);
  fill_pointwise(target, table);
  fill_normalise(target, table);
  fill_features(target, table);
  fill_channels(target, table);
  fill_peak(target, table);
  return table;
}

// Best first: Highway gives better instruction sets lower bits.
std::vector<std::int64_t> targets_here() { return hwy::SupportedAndGeneratedTargets(); }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// Every table this machine can use, made on first demand.
const std::map<std::string, Kernels, std::less<>>& tables() {
  static const auto all = [] {
    std::map<std::string, Kernels, std::less<>> out;
    const auto targets = targets_here();
    for (const std::int64_t target : targets) out.emplace(lower(hwy::TargetName(target)), kernels_of(target));
    out.emplace("auto", kernels_of(targets.front()));
    out.emplace("portable", kernels_of(targets.back()));
    return out;
  }();
  return all;
}

}  // namespace

const Kernels& kernels_for(std::string_view name) {
  const auto found = tables().find(name);
  if (found == tables().end()) {
    throw InputError("no CPU kernels '{}' in this build on this machine; there are {}", name,
                     fmt::join(kernel_names(), ", "));
  }
  return found->second;
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& [name, table] : tables()) names.push_back(name);
  return names;
}

std::vector<std::string> built_kernels() {
  std::vector<std::string> names;
  for (std::int64_t left = HWY_TARGETS; left != 0; left &= left - 1) names.emplace_back(hwy::TargetName(left & -left));
  return names;
}

}  // namespace tyche::engine::cpu
