#pragma once
/// The golden cases: PyTorch's answers on pinned inputs, or on a draw that is named and not pinned. Read from the
/// folder TYCHE_GOLDEN_DIR names, else from tests/data/golden.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "nn/levels.hpp"
#include "support/random.hpp"
#include "support/safetensors.hpp"

namespace tyche::engine {

/// A case made ready for an engine.
class GoldenCase {
 public:
  explicit GoldenCase(const std::string& name) : file_(TensorFile::read(folder() / (name + ".safetensors"))) {
    const auto meta = [&](const char* key) { return file_.metadata.at(key); };
    const auto number = [&](const char* key) { return static_cast<std::uint32_t>(std::stoul(meta(key))); };
    job_.model.kind = meta("model");
    job_.model.width = number("width");
    if (file_.metadata.contains("random_dims")) {
      job_.model.rni = std::stod(meta("random_dims")) / std::stod(meta("width"));
    }
    if (file_.metadata.contains("readout")) job_.model.readout = nn::parse<nn::Readout>(meta("readout"));
    if (job_.model.kind == "gcn" || job_.model.kind == "gin" || job_.model.kind == "sage") {
      job_.model.layers = number("layers");
      job_.model.activation = nn::parse<nn::Activation>(meta("activation"));
    } else if (job_.model.kind == "gcn3") {
      job_.model.layers = number("layers");
    } else if (job_.model.kind == "gcn123") {
      EXPECT_EQ(meta("layers"), "3,2,2");
      job_.model.node_layers = 3;
      job_.model.pair_layers = job_.model.layers = 2;
      job_.model.two_sets = nn::TwoSets::all;
    } else if (file_.metadata.contains("norm")) {
      job_.model.layers = number("layers");
      job_.model.norm = nn::parse<nn::Norm>(meta("norm"));
      job_.model.global = meta("global") == "1";
      if (job_.model.kind != "mp") job_.model.distance_cut = number("distance_cut");
    } else {
      job_.model.layers = number("blocks");
      job_.model.mlp_depth = number("mlp_depth");
    }
    if (file_.metadata.contains("aggregation"))
      job_.model.aggregation = nn::parse<nn::Aggregation>(meta("aggregation"));
    if (file_.metadata.contains("edge_features")) job_.model.edge_features = number("edge_features");
    if (file_.metadata.contains("random")) {
      job_.model.random = nn::parse<nn::Random>(meta("random"));
      job_.model.depth = meta("depth") == "leaf" ? nn::kLeaf : number("depth");
      draw_.seed = std::stoull(meta("draw_seed"));
      draw_.index = number("draw_index");
      draw_.fold = number("draw_fold");
      draw_.epoch = number("draw_epoch");
      draw_key = {number("key_lo"), number("key_hi")};
    }
    learning_rate = std::stod(meta("lr"));

    const auto graph_of = file_.get<std::int64_t>("graph.batch");
    const auto types = file_.get<std::int64_t>("graph.node_type");
    const auto ends = file_.get<std::int64_t>("graph.edge_index");
    const auto labels = file_.get<std::int64_t>("graph.y");
    const std::size_t columns = job_.model.edge_features;
    const auto edge_features = columns > 0 ? file_.get<float>("graph.edge_attr") : std::vector<float>();
    for (std::size_t g = 0, first = 0; g < labels.size(); ++g) {
      std::size_t last = first;
      while (last < graph_of.size() && graph_of[last] == static_cast<std::int64_t>(g)) ++last;
      std::vector<Edge> edges;
      std::map<Edge, const float*> feature_of;
      for (std::size_t e = 0; e < ends.size() / 2; ++e) {
        const auto u = static_cast<std::size_t>(ends[e]), v = static_cast<std::size_t>(ends[e + ends.size() / 2]);
        if (u < first || u >= last || u >= v) continue;
        edges.emplace_back(static_cast<Node>(u - first), static_cast<Node>(v - first));
        feature_of[edges.back()] = edge_features.data() + e * columns;
      }
      std::vector<NodeType> own;
      for (std::size_t v = first; v < last; ++v) own.push_back(static_cast<NodeType>(types[v]));
      graphs_.push_back(Graph::from_edges(static_cast<Node>(last - first), edges, own));
      std::vector<float>& own_edges = edge_features_.emplace_back();
      for (const Edge& edge : graphs_.back().edges()) {
        own_edges.insert(own_edges.end(), feature_of.at(edge), feature_of.at(edge) + columns);
      }
      std::vector<float> one_hot;
      for (std::size_t v = first; v < last; ++v) {
        one_hot.push_back(types[v] == 0 ? 1.0f : 0.0f);
        one_hot.push_back(types[v] == 1 ? 1.0f : 0.0f);
      }
      features_.push_back(one_hot);
      labels_.push_back(static_cast<std::uint32_t>(labels[g]));
      which.push_back(static_cast<std::uint32_t>(g));
      first = last;
    }
    nn::set_types_from(graphs_, job_.model, 1);
    if (file_.metadata.contains("loss")) {
      job_.loss = meta("loss") == "squared"    ? Loss::squared
                  : meta("loss") == "absolute" ? Loss::absolute
                  : meta("loss") == "binary"   ? Loss::binary
                                               : Loss::huber;
      EXPECT_TRUE(job_.loss != Loss::huber || meta("loss") == "huber") << meta("loss");
      targets_ = file_.get<float>("graph.target");
    }
    if (file_.metadata.contains("class_weights")) {
      std::istringstream list(meta("class_weights"));
      for (std::string weight; std::getline(list, weight, ',');) weights_.push_back(std::stof(weight));
    }
    if (file_.has("in.random_features")) pinned_ = file_.get<float>("in.random_features");
  }

  /// Views into this object.
  [[nodiscard]] Job job() const {
    Job job = job_;
    job.data = {graphs_, Targets(labels_).weighted(weights_), features_, edge_features_};
    if (!targets_.empty()) job.data.targets = Targets::real(targets_, job.model.classes);
    return job;
  }
  [[nodiscard]] Draw draw() const {
    Draw draw = draw_;
    draw.pinned = pinned_;
    return draw;
  }
  /// All tensors PREFIX.NAME in layout order, with shapes checked.
  [[nodiscard]] std::vector<float> flat(const std::string& prefix) const {
    std::vector<float> out;
    for (const nn::Tensor& tensor : nn::layout(job_.model).tensors) {
      const std::string name = prefix + "." + tensor.name;
      // Means and variances of batches have no gradient.
      const auto values =
          tensor.running && !file_.has(name) ? std::vector<float>(tensor.size) : file_.get<float>(name, tensor.shape);
      out.insert(out.end(), values.begin(), values.end());
    }
    return out;
  }
  [[nodiscard]] std::vector<float> values(const std::string& name) const { return file_.get<float>(name); }
  [[nodiscard]] std::vector<std::int64_t> integers(const std::string& name) const {
    return file_.get<std::int64_t>(name);
  }

  double learning_rate = 0;
  Key draw_key;  ///< where the draw is not pinned: the one its choices were made under
  std::vector<std::uint32_t> which;

  static std::filesystem::path folder() {
    const char* given = std::getenv("TYCHE_GOLDEN_DIR");
    return given != nullptr ? std::filesystem::path(given) : std::filesystem::path(TYCHE_TEST_DATA) / "golden";
  }

 private:
  TensorFile file_;
  Job job_;
  Draw draw_;
  std::vector<Graph> graphs_;
  std::vector<std::vector<float>> features_, edge_features_;
  std::vector<std::uint32_t> labels_;
  std::vector<float> pinned_, targets_, weights_;
};

}  // namespace tyche::engine
