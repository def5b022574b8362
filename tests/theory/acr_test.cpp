#include "theory/acr.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>

#include "support/error.hpp"
#include "support/random.hpp"
#include "support/safetensors.hpp"
#include "support/temporary_folder.hpp"
#include "theory/acr_io.hpp"
#include "theory/run_plain.hpp"

namespace tyche::theory {
namespace {

const std::vector<Edge> kPath = {{0, 1}, {1, 2}};

/// One unit: σ(2 · own - 1 · neighbours + ½ · all - ½); the output doubles it and adds 3.
AcrNetwork by_hand() {
  AcrNetwork net;
  net.inputs = 1;
  AcrLayer layer;
  layer.self.push(0, 2);
  layer.neighbour.push(0, -1);
  layer.readout.push(0, 0.5);
  layer.self.end_row();
  layer.neighbour.end_row();
  layer.readout.end_row();
  layer.bias = {-0.5};
  net.layers.push_back(layer);
  net.head.push(0, 2);
  net.head.end_row();
  net.head_bias = {3};
  return net;
}

std::vector<double> run(const AcrNetwork& net, const Graph& g, const std::vector<double>& input) {
  const AcrRunner runner(net);
  std::vector<double> out(g.num_nodes() * net.outputs());
  runner.run(g, input, out);
  runner.run(g, input, out);  // used scratch memory is as good as new
  return out;
}

TEST(Acr, APathWorkedByHand) {
  // Inputs 1, 0, 0.5; all: 1.5. Node 0: 2 - 0 + 0.75 - 0.5 = 2.25, σ = 1. Node 1: 0 - 1.5 + 0.25 < 0. Node 2: 1 - 0 +
  // 0.25, σ = 1.
  const Graph path = Graph::from_edges(3, kPath);
  EXPECT_EQ(run(by_hand(), path, {1, 0, 0.5}), (std::vector<double>{5, 3, 5}));
  EXPECT_EQ(run_plain(by_hand(), path, {std::vector<double>{1, 0, 0.5}}), (std::vector<double>{5, 3, 5}));
  // Inputs 0.25, 0, 0: node 0: 0.5 + 0.125 - 0.5 = 0.125; the others are below 0.
  EXPECT_EQ(run(by_hand(), path, {0.25, 0, 0}), (std::vector<double>{3.25, 3, 3}));
}

TEST(Acr, CountsOnlyWeightsThatAreNotZero) {
  AcrNetwork net = by_hand();
  EXPECT_EQ(net.parameters(), 6u);
  net.layers[0].neighbour.values[0] = 0;
  EXPECT_EQ(net.parameters(), 5u);
  EXPECT_EQ(net.width(), 1u);
}

AcrNetwork random_network(Stream& stream) {
  AcrNetwork net;
  net.inputs = 1 + static_cast<std::uint32_t>(stream.below(4));
  std::size_t before = net.inputs;
  const auto matrix = [&](AcrMatrix& m) {
    for (std::uint32_t column = 0; column < before; ++column) {
      if (stream.below(3) == 0) m.push(column, static_cast<double>(stream.below(7)) - 3);
    }
    m.end_row();
  };
  const auto layers = stream.below(5);
  for (std::uint64_t l = 0; l < layers; ++l) {
    AcrLayer layer;
    const auto width = 1 + stream.below(6);
    for (std::uint64_t i = 0; i < width; ++i) {
      matrix(layer.self);
      matrix(layer.neighbour);
      matrix(layer.readout);
      layer.bias.push_back(static_cast<double>(stream.below(7)) - 3);
    }
    net.layers.push_back(std::move(layer));
    before = width;
  }
  const auto outputs = 1 + stream.below(3);
  for (std::uint64_t o = 0; o < outputs; ++o) {
    matrix(net.head);
    net.head_bias.push_back(static_cast<double>(stream.below(5)) - 2);
  }
  return net;
}

RC_GTEST_PROP(Acr, TheSparseWayEqualsPlainLoops, (std::uint32_t seed)) {
  Stream stream(derive_key(seed, Purpose::test));
  const AcrNetwork net = random_network(stream);
  const Node n = 1 + static_cast<Node>(stream.below(7));
  std::vector<Edge> edges;
  for (Node v = 0; v < n; ++v) {
    for (Node u = 0; u < v; ++u) {
      if (stream.coin()) edges.emplace_back(u, v);
    }
  }
  const Graph g = Graph::from_edges(n, edges);
  std::vector<double> input(n * net.inputs);
  for (double& x : input) x = static_cast<double>(stream.below(3)) / 2;  // halves: all sums are exact
  RC_ASSERT(run(net, g, input) == run_plain(net, g, input));
}

TEST(Acr, NetworksWhoseShapesDoNotFitAreRefused) {
  AcrNetwork net = by_hand();
  net.layers[0].self.columns[0] = 1;
  EXPECT_THROW(net.check(), InputError);
  net = by_hand();
  net.head.offsets.push_back(1);
  EXPECT_THROW(net.check(), InputError);
  net = by_hand();
  net.layers[0].readout.offsets = {0, 5};
  EXPECT_THROW(net.check(), InputError);
}

class AcrFile : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(AcrFile, WhatIsSavedIsLoaded) {
  for (std::uint32_t i = 0; i < 20; ++i) {
    Stream stream(derive_key(4, Purpose::test, i));
    const AcrNetwork net = random_network(stream);
    save_acr(folder_ / "n.safetensors", net, {{"formula", "true"}});
    EXPECT_EQ(load_acr(folder_ / "n.safetensors"), net);
    EXPECT_EQ(TensorFile::read(folder_ / "n.safetensors").metadata.at("formula"), "true");
  }
}

TEST_F(AcrFile, OtherFilesAreRefused) {
  TensorFile other;
  other.add<double>("head.bias", {1}, std::vector<double>{1});
  other.write(folder_ / "o.safetensors");
  EXPECT_THROW((void)load_acr(folder_ / "o.safetensors"), InputError);
  AcrNetwork net = by_hand();
  save_acr(folder_ / "n.safetensors", net);
  TensorFile file = TensorFile::read(folder_ / "n.safetensors");
  file.metadata["layers"] = "2";
  file.write(folder_ / "n.safetensors");
  EXPECT_THROW((void)load_acr(folder_ / "n.safetensors"), InputError);
  net.head.columns[0] = 7;
  save_acr(folder_ / "n.safetensors", net);
  EXPECT_THROW((void)load_acr(folder_ / "n.safetensors"), InputError);
}

}  // namespace
}  // namespace tyche::theory
