// The fast GraphConv over any messages between nodes (with weights, and not the same there and back) against the plain
// one.
#include "engine/cpu/layer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "engine/cases.hpp"
#include "engine/reference/network.hpp"

namespace tyche::engine::cpu {
namespace {

MessageGraph random_messages(std::size_t nodes, Stream& stream) {
  SparseRows gather;
  for (std::size_t v = 0; v < nodes; ++v) {
    const std::size_t entries = stream.below(5);
    for (std::size_t e = 0; e < entries; ++e) {
      gather.columns.push_back(static_cast<std::uint32_t>(stream.below(nodes)));
      gather.weights.push_back(static_cast<float>(stream.uniform()) + 0.5f);
    }
    gather.offsets.push_back(gather.columns.size());
    gather.scales.push_back(entries == 0 ? 0.0f : 1.0f / static_cast<float>(entries));
  }
  MessageGraph out;
  out.rows_in = out.rows_out = nodes;
  out.gather = gather;
  out.scatter = transpose(gather, nodes);
  return out;
}

void expect_close(double actual, double expected, double scale) {
  RC_ASSERT(std::fabs(actual - expected) <= 1e-5 * scale + 1e-6);
}

RC_GTEST_PROP(Layer, AgreesWithThePlainOneOnAnyMessages, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Stream stream(derive_key(seed, Purpose::test));
  const auto names = kernel_names();
  const Kernels& kernels = kernels_for(names[stream.below(names.size())]);
  nn::ModelConfig config;
  config.width = static_cast<std::uint32_t>(*rc::gen::inRange(1, 70));
  config.layers = 2;  // the second one is wanted: it has a gradient for its whole input
  config.rni = 1;
  config.readout = nn::Readout::sum;
  config.activation = static_cast<nn::Activation>(stream.below(3));
  const PackedModel model(config, kernels);
  LayerRunner runner(model);
  const PackedLayer& layer = model.convs()[1];

  // Several graphs side by side.
  std::vector<MessageGraph> graphs;
  for (std::size_t g = 0; g < 1 + stream.below(4); ++g) {
    graphs.push_back(random_messages(1 + stream.below(120), stream));
  }
  std::vector<Piece> pieces;
  std::size_t total = 0;
  for (const MessageGraph& graph : graphs) {
    pieces.push_back({&graph, total});
    total += graph.rows_in;
  }

  const auto flat = nn::initial_parameters(config, seed, 0);
  AlignedFloats packed(model.packed_size()), derived(model.derived_size()), gradient(model.packed_size());
  model.pack(flat, packed.data());
  for (const PackedLayer& l : model.layers()) model.make_copies(l, packed.data(), derived.data());
  const Parameters parameters{packed.data(), derived.data()};

  const std::size_t stride = model.stride(config.width);
  AlignedFloats memory(4 * total * stride);
  const auto view = [&](std::size_t i) { return View{memory.data() + i * total * stride, stride}; };
  const View in = view(0), out = view(1), d_out = view(2), d_in = view(3);
  for (std::size_t r = 0; r < total; ++r) {
    for (std::size_t c = 0; c < config.width; ++c) {
      in.row(r)[c] = static_cast<float>(2 * stream.uniform() - 1);
      d_out.row(r)[c] = static_cast<float>(2 * stream.uniform() - 1);
    }
  }
  runner.conv_forward(layer, parameters, pieces, in, out);
  runner.conv_backward(layer, parameters, pieces, in, d_out, d_in, {gradient.data(), false});
  std::vector<float> flat_gradient(flat.size());
  model.unpack(gradient.data(), flat_gradient);

  // The plain layer takes the gradient after the activation; dividing by its derivative would lose digits, so it is
  // asked with an activation that has none: ReLU on outputs that are all positive.
  const nn::Layout layout = nn::layout(config);
  reference::ConvPlace place{config.width, config.width, layout.at("convs.1.lin_rel.weight").offset,
                             layout.at("convs.1.lin_rel.bias").offset, layout.at("convs.1.lin_root.weight").offset};
  const std::vector<double> p(flat.begin(), flat.end());
  std::vector<double> expected(flat.size(), 0.0);
  for (const Piece& piece : pieces) {
    reference::Matrix<double> h(piece.nodes(), config.width), d(piece.nodes(), config.width);
    reference::Matrix<double> positive(piece.nodes(), config.width);
    for (std::size_t r = 0; r < h.rows; ++r) {
      for (std::size_t c = 0; c < config.width; ++c) h(r, c) = in.row(piece.first + r)[c];
    }
    for (std::size_t r = 0; r < d.rows; ++r) {
      for (std::size_t c = 0; c < config.width; ++c) {
        d(r, c) = d_out.row(piece.first + r)[c];
        positive(r, c) = 1;
      }
    }
    const auto z = reference::conv_forward<double>(place, config.activation, p, *piece.messages, h);
    for (std::size_t r = 0; r < d.rows; ++r) {
      for (std::size_t c = 0; c < config.width; ++c) expect_close(out.row(piece.first + r)[c], z(r, c), 1);
    }
    const auto d_h =
        reference::conv_backward<double>(place, nn::Activation::relu, p, *piece.messages, h, positive, d, expected);
    for (std::size_t r = 0; r < h.rows; ++r) {
      for (std::size_t c = 0; c < config.width; ++c) {
        expect_close(d_in.row(piece.first + r)[c], d_h(r, c) * nn::derivative(config.activation, h(r, c)), 4);
      }
    }
  }
  const auto rows = static_cast<double>(total);
  for (std::size_t i = layout.at("convs.1.lin_rel.weight").offset; i < layout.at("head.fc1.weight").offset; ++i) {
    expect_close(flat_gradient[i], expected[i], rows);
  }
}

}  // namespace
}  // namespace tyche::engine::cpu
