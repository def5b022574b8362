#include "datasets/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "graph/lines.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/words.hpp"

namespace tyche::datasets {

namespace {

constexpr std::array<const char*, 3> kParts = {"train", "validation", "test"};
constexpr std::array<std::vector<std::uint32_t> Fold::*, 3> kLists = {&Fold::train, &Fold::validation, &Fold::test};
constexpr std::array<const char*, 3> kValidation = {"validation", "valid", "val"};

std::string out_of_range(std::uint64_t index, std::uint64_t graphs, Unit unit) {
  return fmt::format("{0} {1} is out of range: the data has {2} {0}s (0 to {3})", tyche::name(unit), index, graphs,
                     static_cast<long long>(graphs) - 1);
}

/// Sorts the parts; throws where one is empty or a graph is in two. `place` is where the fold stands.
void finish(Fold& fold, std::uint64_t graphs, std::string_view name, const std::string& place, Unit unit) {
  std::vector<std::uint8_t> seen(graphs, 0);
  for (std::size_t part = 0; part < kParts.size(); ++part) {
    std::vector<std::uint32_t>& list = fold.*kLists[part];
    if (list.empty() && part != 1) {
      throw InputError::at(name, place, "the {} part is empty; expected at least one {}", kParts[part],
                           tyche::name(unit));
    }
    for (const std::uint32_t graph : list) {
      if (seen[graph] != 0) {
        throw InputError::at(name, place, "{} {} is in two parts, {} and {}", tyche::name(unit), graph,
                             kParts[seen[graph] - 1u], kParts[part]);
      }
    }
    for (const std::uint32_t graph : list) seen[graph] = static_cast<std::uint8_t>(part + 1);
    std::sort(list.begin(), list.end());
  }
}

/// A fold of graphs as one of all their units.
Fold in_units(Fold fold, const Units& units) {
  for (const auto list : kLists) fold.*list = units.units_of(fold.*list);
  return fold;
}

// ---- JSON

using Json = nlohmann::json;

/// Reads folds out of a JSON value; `place` grows with the way to it: "[3].model_selection[0].train[17]".
class JsonSplit {
 public:
  JsonSplit(std::string_view name, const Units& units) : name_(name), units_(units) {}

  [[nodiscard]] Fold fold(const Json& json, const std::string& place) {
    expect(json.is_object(), json, place, "an object with \"train\" and \"test\"");
    read_unit(json, place);
    Fold fold;
    const Json* rest = &json;
    std::string rest_place = place;
    if (json.contains("model_selection")) {
      const Json& inner = json["model_selection"];
      rest_place = place + ".model_selection";
      expect(inner.is_array() && inner.size() == 1, inner, rest_place,
             "a list of one {\"train\": …, \"validation\": …}");
      rest = &inner[0];
      rest_place += "[0]";
      expect(rest->is_object(), *rest, rest_place, "an object with \"train\" and \"validation\"");
    }
    fold.train = part(*rest, rest_place, "train");
    for (const char* word : kValidation) {
      if (!rest->contains(word)) continue;
      if (!fold.validation.empty()) fail(rest_place, "has two validation parts");
      fold.validation = indices((*rest)[word], fmt::format("{}.{}", rest_place, word));
    }
    fold.test = part(json, place, "test");
    finish(fold, count_, name_, place, unit_);
    return unit_ == Unit::graph ? in_units(std::move(fold), units_) : fold;
  }

 private:
  void read_unit(const Json& json, const std::string& place) {
    unit_ = Unit::graph;
    if (json.contains("unit")) {
      const Json& unit = json["unit"];
      const auto is = [&](const char* word) { return unit == word; };
      expect(is("graphs") || is("nodes") || is("edges"), unit, place + ".unit", "\"graphs\", \"nodes\" or \"edges\"");
      unit_ = is("nodes") ? Unit::node : is("edges") ? Unit::edge : Unit::graph;
    }
    if (unit_ != Unit::graph && unit_ != units_.unit()) {
      fail(place,
           fmt::format("splits {}s, but what is learned is of {}s", tyche::name(unit_), tyche::name(units_.unit())));
    }
    count_ = unit_ == Unit::graph ? units_.graphs() : units_.size();
  }
  [[noreturn]] void fail(const std::string& place, const std::string& message) const {
    throw InputError::at(name_, place, message);
  }
  void expect(bool good, const Json& came, const std::string& place, const std::string& what) const {
    if (good) return;
    // Only what cannot be deep is written out.
    const std::string found = came.is_primitive() ? shown(came.dump()) : fmt::format("an {}", came.type_name());
    fail(place, fmt::format("expected {}, found {}", what, found));
  }
  [[nodiscard]] std::vector<std::uint32_t> part(const Json& json, const std::string& place, const char* word) const {
    if (!json.contains(word)) fail(place, fmt::format("has no \"{}\"", word));
    return indices(json[word], fmt::format("{}.{}", place, word));
  }
  [[nodiscard]] std::vector<std::uint32_t> indices(const Json& json, const std::string& place) const {
    const std::string unit(tyche::name(unit_));
    expect(json.is_array(), json, place, fmt::format("a list of {}s", unit));
    std::vector<std::uint32_t> list;
    std::vector<bool> seen(count_, false);
    for (std::size_t i = 0; i < json.size(); ++i) {
      const auto here = [&] { return fmt::format("{}[{}]", place, i); };
      if (!json[i].is_number_unsigned()) expect(false, json[i], here(), fmt::format("the index of a {}", unit));
      const auto index = json[i].get<std::uint64_t>();
      if (index >= count_) fail(here(), out_of_range(index, count_, unit_));
      if (seen[index]) fail(here(), fmt::format("{} {} is in this part already", unit, index));
      seen[index] = true;
      list.push_back(static_cast<std::uint32_t>(index));
    }
    return list;
  }

  std::string_view name_;
  const Units& units_;
  // Of the fold at hand.
  Unit unit_ = Unit::graph;
  std::uint64_t count_ = 0;
};

// ---- index files

std::optional<std::filesystem::path> existing(const std::filesystem::path& folder, const std::string& ending,
                                              std::size_t part) {
  std::optional<std::filesystem::path> found;
  for (const char* word : kValidation) {
    const std::filesystem::path path = folder / fmt::format("{}{}.txt", part == 1 ? word : kParts[part], ending);
    if (std::filesystem::exists(path)) {
      if (found && *found != path) throw InputError::at(path.string(), "", "is a second validation part");
      found = path;
    }
  }
  return found;
}

/// Nothing where there is no training file of this ending.
std::optional<Fold> fold_of_files(const std::filesystem::path& folder, const std::string& ending,
                                  std::uint64_t graphs) {
  Fold fold;
  for (std::size_t part = 0; part < kParts.size(); ++part) {
    const auto path = existing(folder, ending, part);
    if (!path && part == 0) return std::nullopt;
    if (!path && part == 2) {
      throw InputError::at(folder.string(), "", "has train{0}.txt but no test{0}.txt", ending);
    }
    if (path) fold.*kLists[part] = parse_indices(read_file(*path), path->string(), graphs);
  }
  finish(fold, graphs, folder.string(), fmt::format("train{0}.txt, validation{0}.txt, test{0}.txt", ending),
         Unit::graph);
  return fold;
}

std::vector<Fold> folds_of_folder(const std::filesystem::path& folder, std::uint64_t graphs) {
  if (std::optional<Fold> one = fold_of_files(folder, "", graphs)) return {*one};
  std::vector<Fold> folds;
  while (std::optional<Fold> next = fold_of_files(folder, fmt::format("_idx-{}", folds.size() + 1), graphs)) {
    folds.push_back(std::move(*next));
  }
  if (folds.empty()) {
    throw InputError::at(folder.string(), "",
                         "holds no split; expected train.txt and test.txt (and validation.txt), or train_idx-1.txt and "
                         "test_idx-1.txt and so on");
  }
  return folds;
}

}  // namespace

std::vector<std::uint32_t> parse_indices(std::string_view text, std::string_view name, std::uint64_t graphs) {
  std::vector<std::uint32_t> list;
  std::vector<bool> seen(graphs, false);
  Lines lines(text, name);
  std::string_view line;
  while (lines.next(line)) {
    std::string numbers(line);
    std::replace(numbers.begin(), numbers.end(), ',', ' ');
    Row row(numbers, lines.here());
    while (!row.at_end()) {
      const std::uint64_t index = row.natural("the index of a graph");
      if (index >= graphs) lines.here().fail(out_of_range(index, graphs, Unit::graph));
      if (seen[index]) lines.here().fail("graph {} is in this part already", index);
      seen[index] = true;
      list.push_back(static_cast<std::uint32_t>(index));
    }
  }
  return list;
}

std::vector<Fold> parse_split(std::string_view text, std::string_view name, const Units& units) {
  JsonSplit reader(name, units);
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::size_t byte = std::min<std::size_t>(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(byte), '\n');
    throw InputError::at(name, fmt::format("line {}", line), "expected JSON: the folds of a data set");
  } catch (const Json::exception&) {  // 1e999
    throw InputError::at(name, "", "a number in it is too large; expected indices of graphs");
  }
  if (!json.is_array()) return {reader.fold(json, "")};
  std::vector<Fold> folds;
  for (std::size_t f = 0; f < json.size(); ++f) folds.push_back(reader.fold(json[f], fmt::format("[{}]", f)));
  if (folds.empty()) throw InputError::at(name, "", "the list has no folds");
  return folds;
}

std::vector<Fold> read_split(const std::filesystem::path& path, const Units& units) {
  if (!std::filesystem::is_directory(path)) return parse_split(read_file(path), path.string(), units);
  std::vector<Fold> folds = folds_of_folder(path, units.graphs());
  for (Fold& fold : folds) fold = in_units(std::move(fold), units);
  return folds;
}

std::vector<Fold> folds_of_masks(const GraphSet& set) {
  std::vector<Fold> folds;
  for (const std::vector<NodePart>& parts : set.node_parts) {
    Fold& fold = folds.emplace_back();
    for (std::uint32_t v = 0; v < parts.size(); ++v) {
      if (parts[v] != NodePart::none) (fold.*kLists[static_cast<std::size_t>(parts[v]) - 1]).push_back(v);
    }
  }
  return folds;
}

std::string split_hash(const std::vector<Fold>& folds) {
  std::uint64_t hash = hash_bytes("tyche split 1");
  for (const Fold& fold : folds) {
    for (const auto part : kLists) {
      const std::vector<std::uint32_t>& list = fold.*part;
      const std::uint64_t size = list.size();
      hash = hash_bytes({reinterpret_cast<const char*>(&size), sizeof(size)}, hash);
      hash = hash_bytes({reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0])}, hash);
    }
  }
  return fmt::format("{:016x}", hash);
}

std::uint64_t left_out(const Fold& fold, std::uint64_t graphs) {
  return graphs - fold.train.size() - fold.validation.size() - fold.test.size();
}

}  // namespace tyche::datasets
