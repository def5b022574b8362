#include "graph/set_builder.hpp"

#include <limits>
#include <string_view>

namespace tyche {

namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Whether this graph has it; fails where those before it differ.
bool agree(std::optional<bool>& before, bool has, const char* what, const Where& where) {
  if (!before) before = has;
  if (*before != has) {
    const bool several = std::string_view(what).ends_with('s');
    where.fail("this graph has {}{}, the graphs before it have {}", has ? several ? "" : "a " : "no ", what,
               has       ? "none"
               : several ? "some"
                         : "one");
  }
  return has;
}

/// What graphs have `count` of, all or none; `shown`: what is added to both numbers in the error.
void settle_count(std::optional<std::size_t>& before, std::size_t count, const char* what, const Where& where,
                  std::size_t shown = 0) {
  if (before.value_or(count) != count) {
    where.fail("this graph has {} {}, the graphs before it have {}", count + shown, what, *before + shown);
  }
  before = count;
}

/// Adds the block of one graph with `rows` nodes or edges; a graph without any fits whatever the others have.
void add_block(Ragged<float>& blocks, std::optional<std::size_t>& dim, const Table& block, std::uint64_t rows,
               const char* what, const Where& where) {
  if (rows > 0) settle_count(dim, block.columns, what, where);
  blocks.push_back(block.values);
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
      where.fail("this graph has {} targets, the graphs before it have {}", target.size(), set_.target_dim);
    }
    set_.targets.insert(set_.targets.end(), target.begin(), target.end());
  }
  if (item.graph.num_nodes() > 0) settle_count(categories_, item.categories, "categories per node", where, 1);
  if (item.graph.num_edges() > 0) settle_count(edge_categories_, item.edge_categories, "categories per edge", where, 1);
  add_block(set_.attributes, dim_, item.attributes, item.graph.num_nodes(), "attributes per node", where);
  add_block(set_.edge_attributes, edge_dim_, item.edge_attributes, item.graph.num_edges(), "attributes per edge",
            where);
  add_block(set_.node_targets, node_target_dim_, item.node_targets, item.graph.num_nodes(), "targets per node", where);
  add_block(set_.edge_targets, edge_target_dim_, item.edge_targets, item.graph.num_edges(), "targets per edge", where);
  if (item.graph.num_nodes() > 0) {
    (void)agree(has_node_labels_, item.node_labels.has_value(), "node labels", where);
    (void)agree(has_parts_, !item.node_parts.empty(), "masks", where);
  }
  set_.node_labels.push_back(item.node_labels ? *item.node_labels : std::vector<int>());
  parts_.insert(parts_.end(), item.node_parts.begin(), item.node_parts.end());
  if (item.graph.num_edges() > 0) set_.weighted = agree(weighted_, item.weighted, "weights", where);
  set_.graphs.push_back(item.graph);
}

GraphSet GraphSetBuilder::finish() {
  const auto settle = [](Ragged<float>& blocks, std::size_t& dim, const std::optional<std::size_t>& own) {
    dim = own.value_or(0);
    if (dim == 0) blocks.clear();  // of graphs without any, empty ones
  };
  settle(set_.attributes, set_.attribute_dim, dim_);
  settle(set_.edge_attributes, set_.edge_attribute_dim, edge_dim_);
  set_.categories = categories_.value_or(0);
  set_.edge_categories = edge_categories_.value_or(0);
  settle(set_.node_targets, set_.node_target_dim, node_target_dim_);
  settle(set_.edge_targets, set_.edge_target_dim, edge_target_dim_);
  if (!has_node_labels_.value_or(false)) set_.node_labels.clear();
  if (!parts_.empty()) set_.node_parts = {std::move(parts_)};
  if (has_target_.value_or(false) && set_.target_dim == 0) {
    set_.target_dim = 1;  // all of them missing
    set_.targets.assign(size(), kMissing);
  }
  return std::move(set_);
}

}  // namespace tyche
