#include <algorithm>

#include "engine/cuda/layerwise/network.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

constexpr uint32_t blocks_of(uint32_t columns) { return (columns + kTile - 1) / kTile; }

uint32_t narrow(std::size_t value) { return static_cast<uint32_t>(value); }

}  // namespace

Network::Network(const nn::ModelConfig& model, const SetData* sets, const blocks::Shape& shape, int multiprocessors)
    : activation(model.activation), readout(model.readout) {
  const nn::Layout layout = nn::layout(model);
  parameters = layout.size;
  // Two blocks of threads per multiprocessor; a number of the device, so that the sums' order is one too.
  const auto most_slices = static_cast<uint32_t>(2 * multiprocessors);

  if (model.body() == nn::Body::gin) add_gin(model, layout, most_slices);
  for (std::size_t i = 0; i < shape.levels.size() && model.body() != nn::Body::gin; ++i) {
    const blocks::LevelShape& level = shape.levels[i];
    std::vector<std::string> names;
    uint32_t inputs = model.width;
    if (sets == nullptr) {
      random_count = model.random_dims();
      random_first = model.deterministic_dims();
      if (random_first > 0) {
        names = {"pre.0", "pre.1"};
        inputs = model.pre_inputs();
        random_matrix = 2;
      }
      for (uint32_t l = 0; l < model.layers; ++l) names.push_back("convs." + std::to_string(l));
    } else {
      names = sets->levels()[i].convs;
      inputs = narrow(sets->levels()[i].inputs);
      if (sets->levels()[i].random > 0) {
        random_count = narrow(sets->levels()[i].random);
        random_first = inputs - random_count;
      }
    }
    std::vector<std::size_t> spaces, links;
    for (std::size_t l = 0; l <= names.size(); ++l) spaces.push_back(level.space(l));
    for (std::size_t l = 0; l < names.size(); ++l) links.push_back(level.link(l));
    add_level(layout, names, spaces, links, inputs, level.below, most_slices);
    if (model.edge_features > 0) add_edge_layers(model, layout, names, most_slices);
  }
  const bool gcn = sets == nullptr && model.body() != nn::Body::gin;
  if (gcn && random_first > 0 && random_count > 0) {
    // The matrix that pre.1 fills in part.
    matrices[2].columns = model.width;
    matrices[2].stride = padded16(model.width);
  }
  // The gradient of the random columns is nobody's.
  if (gcn && random_first > 0) convs[2].gradient_columns = random_first;

  for (std::size_t l = 0; l < 3; ++l) {
    const std::string name = "head.fc" + std::to_string(l + 1);
    const nn::Tensor& weight = layout.at(name + ".weight");
    fc[l] = {narrow(weight.shape[1]), narrow(weight.shape[0]), narrow(weight.offset),
             narrow(layout.at(name + ".bias").offset)};
    factors.in[l] = factors.size;
    factors.d[l] = factors.size + fc[l].in;
    factors.size += fc[l].in + fc[l].out;
    Segment segment{};
    segment.kind = SegmentKind::linear_weight;
    segment.offset = fc[l].weight;
    segment.size = fc[l].in * fc[l].out;
    segment.in = fc[l].in;
    segment.factor_in = factors.in[l];
    segment.factor_d = factors.d[l];
    segments.push_back(segment);
    segment.kind = SegmentKind::linear_bias;
    segment.offset = fc[l].bias;
    segment.size = fc[l].out;
    segments.push_back(segment);
  }
  for (std::size_t s = 0; s < segments.size(); ++s) {
    for (uint32_t first = 0; first < segments[s].size; first += kTile) blocks.push_back({narrow(s), first});
  }
}

void Network::add_level(const nn::Layout& layout, const std::vector<std::string>& names,
                        const std::vector<std::size_t>& spaces, const std::vector<std::size_t>& links, uint32_t inputs,
                        uint32_t below, uint32_t most_slices) {
  LevelSpec level;
  level.first_matrix = matrices.size();
  level.first_conv = convs.size();
  level.convs = names.size();
  level.below = below;
  matrices.push_back({spaces[0], inputs, padded16(inputs), false});
  level.gradient_stride = padded16(inputs);
  for (std::size_t l = 0; l < names.size(); ++l) {
    const nn::Tensor& rel = layout.at(names[l] + ".lin_rel.weight");
    const nn::Tensor& root = layout.at(names[l] + ".lin_root.weight");
    const nn::Tensor& bias = layout.at(names[l] + ".lin_rel.bias");
    const auto in = narrow(rel.shape[1]), out = narrow(rel.shape[0]);
    ConvSpec conv;
    conv.in = matrices.size() - 1;
    conv.out = matrices.size();
    conv.link = links[l];
    conv.bias = narrow(bias.offset);
    place_conv(conv, in, out, most_slices);
    conv.wants_input_gradient = l > 0 || below > 0;
    conv.gradient_columns = l > 0 ? in : narrow(layout.at("head.fc1.weight").shape[0]);
    conv.activated_input = l > 0;
    matrices.push_back({spaces[l + 1], out, padded16(out), l + 1 == names.size()});
    level.gradient_stride = std::max(level.gradient_stride, padded16(out));

    segments.push_back(segment_of(conv, convs.size(), root));
    segments.push_back(segment_of(conv, convs.size(), rel));
    segments.back().matrix = 1;
    segments.push_back(segment_of(conv, convs.size(), bias));
    convs.push_back(conv);
  }
  level.last_matrix = matrices.size() - 1;
  levels.push_back(level);
}

// Sizes, and room for the weights and their gradient.
void Network::place_conv(ConvSpec& conv, uint32_t in, uint32_t out, uint32_t most_slices) {
  conv.in_columns = padded16(in);
  conv.out_columns = out;
  conv.in_blocks = blocks_of(conv.in_columns);
  conv.out_blocks = blocks_of(out);
  conv.most_slices = std::max(1u, most_slices / conv.units());
  conv.weights = weights;
  conv.slots = slots;
  weights += uint64_t{conv.units()} * 2 * kBlock;
  slots += uint64_t{conv.units()} * conv.most_slices * kSlot;
}

// The segment of a weight (in the roots' matrix) or of a bias.
Segment Network::segment_of(const ConvSpec& conv, std::size_t index, const nn::Tensor& tensor) const {
  Segment segment{};
  segment.kind = tensor.shape.size() == 2 ? SegmentKind::conv_weight : SegmentKind::conv_bias;
  segment.in = tensor.shape.size() == 2 ? narrow(tensor.shape[1]) : 0;
  segment.conv = narrow(index);
  segment.out_blocks = conv.out_blocks;
  segment.units = conv.units();
  segment.slots = conv.slots;
  segment.weights = conv.weights;
  segment.offset = narrow(tensor.offset);
  segment.size = narrow(tensor.size);
  return segment;
}

// A linear layer from matrix to matrix; returns its number.
std::size_t Network::add_linear(const nn::Layout& layout, const std::string& name, std::size_t in, std::size_t out,
                                uint32_t most_slices) {
  const nn::Tensor& weight = layout.at(name + ".weight");
  const nn::Tensor& bias = layout.at(name + ".bias");
  ConvSpec conv;
  conv.in = in;
  conv.out = out;
  conv.linear = true;
  conv.bias = narrow(bias.offset);
  place_conv(conv, narrow(weight.shape[1]), narrow(weight.shape[0]), most_slices);
  conv.gradient_columns = narrow(weight.shape[1]);
  segments.push_back(segment_of(conv, convs.size(), weight));
  segments.push_back(segment_of(conv, convs.size(), bias));
  convs.push_back(conv);
  return convs.size() - 1;
}

// gcn: a linear layer of the edges' sums beside every convolution; they have no bias of their own.
void Network::add_edge_layers(const nn::ModelConfig& model, const nn::Layout& layout,
                              const std::vector<std::string>& names, uint32_t most_slices) {
  const uint32_t columns = model.edge_features;
  edge_matrix = matrices.size();
  matrices.push_back({0, columns, padded16(columns), false});
  for (std::size_t l = 0; l < names.size(); ++l) {
    const nn::Tensor& weight = layout.at(names[l] + ".lin_edge.weight");
    ConvSpec conv;
    conv.in = *edge_matrix;
    conv.out = convs[l].out;
    conv.linear = true;
    place_conv(conv, columns, narrow(weight.shape[0]), most_slices);
    segments.push_back(segment_of(conv, convs.size(), weight));
    convs[l].edges = convs.size();
    convs.push_back(conv);
  }
}

void Network::add_gin(const nn::ModelConfig& model, const nn::Layout& layout, uint32_t most_slices) {
  const uint32_t fixed = model.deterministic_dims(), width = model.width;
  const auto matrix = [&](std::size_t space, uint32_t columns) {
    matrices.push_back({space, columns, padded16(columns), false});
    return matrices.size() - 1;
  };
  random_count = model.random_dims();
  random_first = fixed;
  LevelSpec level;
  level.gradient_stride = padded16(width);
  std::size_t h = 0;
  if (fixed > 0) {
    matrix(0, model.pre_inputs());
    h = random_matrix = matrix(0, width);
    convs[add_linear(layout, "pre", 0, h, most_slices)].activates = false;
  } else {
    matrix(0, width);
  }
  const auto name = [](uint32_t l, const char* part) { return "convs." + std::to_string(l) + part; };
  for (uint32_t l = 0; l < model.layers; ++l) {
    SumSpec sum;
    sum.in = h;
    sum.out = matrix(0, width);
    const std::size_t hidden = matrix(0, width);
    h = matrix(0, width);
    sum.eps = narrow(layout.at(name(l, ".eps")).offset);
    sum.slots = slots;
    sum.most_slices = most_slices;
    slots += most_slices;
    sum.wants_input_gradient = l > 0 || fixed > 0;
    sum.gradient_columns = l > 0 ? width : fixed;
    sum.activated_input = l > 0;
    const std::size_t first = add_linear(layout, name(l, ".nn.0"), sum.out, hidden, most_slices);
    convs[first].sum = sums.size();
    convs[first].wants_input_gradient = true;
    const std::size_t second = add_linear(layout, name(l, ".nn.2"), hidden, h, most_slices);
    convs[second].wants_input_gradient = convs[second].activated_input = true;
    sums.push_back(sum);
  }
  matrices[h].last = true;
  level.convs = convs.size();
  level.last_matrix = h;
  levels.push_back(level);
  if (model.edge_features > 0) {
    edge_matrix = matrix(1, model.edge_features);
    for (uint32_t l = 0; l < model.layers; ++l) {
      sums[l].lin = add_linear(layout, name(l, ".lin"), *edge_matrix, matrix(1, width), most_slices);
      convs[*sums[l].lin].activates = false;
    }
  }
  // Slices of sums are counted behind those of all convolutions.
  for (uint32_t l = 0; l < model.layers; ++l) {
    Segment segment{};
    segment.kind = SegmentKind::scalar;
    segment.offset = sums[l].eps;
    segment.size = 1;
    segment.slots = sums[l].slots;
    segment.conv = narrow(convs.size() + l);
    segments.push_back(segment);
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
