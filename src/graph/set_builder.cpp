#include "graph/set_builder.hpp"

#include <fmt/format.h>

#include <limits>

namespace tyche {

namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Whether this graph has it; fails where those before it differ.
bool agree(std::optional<bool>& before, bool has, const char* what, const Where& where) {
  if (!before) before = has;
  if (*before != has) {
    where.fail(fmt::format("this graph has {} {}, the graphs before it have {}", has ? "a" : "no", what,
                           has ? "none" : "one"));
  }
  return has;
}

/// Adds the block of one graph with `rows` nodes or edges; a graph without any fits whatever the others have.
void add_block(std::vector<std::vector<float>>& blocks, std::optional<std::size_t>& dim, AttributeBlock block,
               std::uint64_t rows, const char* what, const Where& where) {
  if (rows > 0) {
    if (!dim) dim = block.dim;
    if (*dim != block.dim) {
      where.fail(
          fmt::format("this graph has {} attributes per {}, the graphs before it have {}", block.dim, what, *dim));
    }
  }
  blocks.push_back(std::move(block.values));
}

}  // namespace

void GraphSetBuilder::add(GraphItem item, const Where& where) {
  if (agree(has_label_, item.label.has_value(), "label", where)) set_.labels.push_back(*item.label);
  if (agree(has_target_, item.target.has_value(), "target", where)) {
    std::vector<float>& target = *item.target;
    if (set_.target_dim == 0 && !target.empty()) {
      set_.target_dim = target.size();
      set_.targets.assign(size() * set_.target_dim, kMissing);  // of the graphs before, which lack all of them
    }
    if (target.empty()) target.assign(set_.target_dim, kMissing);
    if (target.size() != set_.target_dim) {
      where.fail(
          fmt::format("this graph has {} targets, the graphs before it have {}", target.size(), set_.target_dim));
    }
    set_.targets.insert(set_.targets.end(), target.begin(), target.end());
  }
  add_block(set_.attributes, dim_, std::move(item.attributes), item.graph.num_nodes(), "node", where);
  add_block(set_.edge_attributes, edge_dim_, std::move(item.edge_attributes), item.graph.num_edges(), "edge", where);
  set_.graphs.push_back(std::move(item.graph));
}

GraphSet GraphSetBuilder::finish() {
  set_.attribute_dim = dim_.value_or(0);
  if (set_.attribute_dim == 0) set_.attributes.clear();
  set_.edge_attribute_dim = edge_dim_.value_or(0);
  if (set_.edge_attribute_dim == 0) set_.edge_attributes.clear();
  if (has_target_.value_or(false) && set_.target_dim == 0) {
    set_.target_dim = 1;  // all of them missing
    set_.targets.assign(size(), kMissing);
  }
  return std::move(set_);
}

}  // namespace tyche
