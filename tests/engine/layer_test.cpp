// The fast GraphConv over any messages between nodes (with weights, and not the same there and back) against the plain
// one.
#include "engine/cpu/layer.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "engine/cases.hpp"
#include "nn/activation.hpp"

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

// σ(W_root h + W_rel Σ messages + b) of one graph in double; rows are `width` wide.
struct PlainConv {
  const nn::Layout& layout;
  const MessageGraph& graph;
  const std::vector<double>& p;
  std::size_t width;

  [[nodiscard]] std::size_t at(const char* tensor) const { return layout.at(std::string("convs.1.") + tensor).offset; }
  [[nodiscard]] std::vector<double> gathered(const std::vector<double>& h, std::size_t v) const {
    std::vector<double> sum(width, 0.0);
    for (std::uint64_t e = graph.gather.offsets[v]; e < graph.gather.offsets[v + 1]; ++e) {
      for (std::size_t c = 0; c < width; ++c)
        sum[c] += graph.gather.value(v, e) * h[graph.gather.columns[e] * width + c];
    }
    return sum;
  }
  [[nodiscard]] double forward(const std::vector<double>& h, std::size_t v, std::size_t j) const {
    double z = p[at("lin_rel.bias") + j];
    const std::vector<double> sum = gathered(h, v);
    for (std::size_t k = 0; k < width; ++k) {
      z += p[at("lin_root.weight") + j * width + k] * h[v * width + k] +
           p[at("lin_rel.weight") + j * width + k] * sum[k];
    }
    return z;
  }
  /// From the gradient before the activation: adds that of the parameters, returns that of h.
  std::vector<double> backward(const std::vector<double>& h, const std::vector<double>& d_z,
                               std::vector<double>& gradient) const {
    std::vector<double> d_h(h.size(), 0.0);
    for (std::size_t v = 0; v < graph.rows_out; ++v) {
      const std::vector<double> sum = gathered(h, v);
      for (std::size_t j = 0; j < width; ++j) {
        const double d = d_z[v * width + j];
        gradient[at("lin_rel.bias") + j] += d;
        for (std::size_t k = 0; k < width; ++k) {
          gradient[at("lin_root.weight") + j * width + k] += d * h[v * width + k];
          gradient[at("lin_rel.weight") + j * width + k] += d * sum[k];
          d_h[v * width + k] += d * p[at("lin_root.weight") + j * width + k];
          for (std::uint64_t e = graph.gather.offsets[v]; e < graph.gather.offsets[v + 1]; ++e) {
            d_h[graph.gather.columns[e] * width + k] +=
                d * p[at("lin_rel.weight") + j * width + k] * graph.gather.value(v, e);
          }
        }
      }
    }
    return d_h;
  }
};

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
  std::vector<Member> members;
  std::size_t total = 0;
  for (const MessageGraph& graph : graphs) {
    members.push_back({.messages = &graph, .first = total});
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
  runner.conv_forward(layer, parameters, members, in, out);
  runner.conv_backward(layer, parameters, members, in, d_out, d_in, {gradient.data(), false});
  std::vector<float> flat_gradient(flat.size());
  model.unpack(gradient.data(), flat_gradient);

  const nn::Layout layout = nn::layout(config);
  const std::vector<double> p(flat.begin(), flat.end());
  std::vector<double> expected(flat.size(), 0.0);
  for (const Member& member : members) {
    const PlainConv plain{layout, *member.messages, p, config.width};
    std::vector<double> h, d;
    for (std::size_t r = 0; r < member.nodes(); ++r) {
      h.insert(h.end(), in.row(member.first + r), in.row(member.first + r) + config.width);
      d.insert(d.end(), d_out.row(member.first + r), d_out.row(member.first + r) + config.width);
    }
    const std::vector<double> d_h = plain.backward(h, d, expected);
    for (std::size_t r = 0; r < member.nodes(); ++r) {
      for (std::size_t c = 0; c < config.width; ++c) {
        expect_close(out.row(member.first + r)[c], nn::activate(config.activation, plain.forward(h, r, c)), 1);
        const std::size_t i = r * config.width + c;
        expect_close(d_in.row(member.first + r)[c], d_h[i] * nn::derivative(config.activation, h[i]), 4);
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
