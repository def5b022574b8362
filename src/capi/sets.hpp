#pragma once
/// A set of graphs behind a handle: a data set, and its arrays as numpy would have them.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "capi/handles.hpp"
#include "datasets/dataset.hpp"
#include "graph/lines.hpp"

namespace tyche::capi {

/// What a file says of pairs.
struct PairNames {
  std::vector<std::string> names;
  std::vector<std::string> categories;
  std::vector<std::uint32_t> groups;
};

class SetObject : public Object {
 public:
  /// `source`: the file it came from, or empty. Hashes the content unless `dataset.hash` is known.
  explicit SetObject(datasets::Dataset dataset, std::string source = {});

  [[nodiscard]] const char* kind() const override { return "a set of graphs"; }
  [[nodiscard]] const std::string& info() override;
  [[nodiscard]] tyche_array array(std::string_view name) override;

  [[nodiscard]] const datasets::Dataset& dataset() const { return dataset_; }
  [[nodiscard]] const GraphSet& set() const { return dataset_.set; }
  /// Throws GraphError where there is none.
  [[nodiscard]] Graph graph(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t nodes() const { return nodes_; }
  [[nodiscard]] std::uint64_t arcs() const { return arcs_; }
  /// The file it came from; else its name.
  [[nodiscard]] const std::string& source() const { return source_.empty() ? dataset_.name : source_; }
  [[nodiscard]] bool from_file() const { return !source_.empty(); }

  /// Set before the object has a handle.
  std::optional<nlohmann::ordered_json> certificate;
  std::optional<PairNames> pairs;
  std::optional<Cleaning> cleaned;  ///< what was mended as it was read

 private:
  [[nodiscard]] std::vector<std::string> array_names() const;
  [[nodiscard]] Array make(std::string_view name) const;
  /// Attributes or categories of nodes or of edges.
  [[nodiscard]] Array columns_of(bool nodes, bool categories) const;

  datasets::Dataset dataset_;
  std::string source_;
  std::uint64_t nodes_ = 0;
  std::uint64_t arcs_ = 0;
  std::mutex mutex_;  ///< of what is made when first asked for
  std::string info_;
  Arrays arrays_;
};

[[nodiscard]] inline std::shared_ptr<SetObject> set_of(tyche_handle handle) {
  return get<SetObject>(handle, "a set of graphs");
}

/// Throws InputError that names the graph, by its number, where an array does not describe graphs.
[[nodiscard]] GraphSet graphs_from(const tyche_graphs& arrays);

}  // namespace tyche::capi
