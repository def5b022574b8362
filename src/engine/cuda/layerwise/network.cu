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
  // Two blocks of threads a multiprocessor; a number of the device, so that the sums' order is one too.
  const auto most_slices = static_cast<uint32_t>(2 * multiprocessors);

  for (std::size_t i = 0; i < shape.levels.size(); ++i) {
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
  }
  if (sets == nullptr && random_first > 0 && random_count > 0) {
    // The matrix that pre.1 fills in part.
    matrices[2].columns = model.width;
    matrices[2].stride = padded16(model.width);
  }
  // The gradient of the random columns is nobody's.
  if (sets == nullptr && random_first > 0) convs[2].gradient_columns = random_first;

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
    conv.in_columns = padded16(in);
    conv.out_columns = out;
    conv.in_blocks = blocks_of(conv.in_columns);
    conv.out_blocks = blocks_of(out);
    conv.bias = narrow(bias.offset);
    conv.weights = weights;
    conv.slots = slots;
    conv.most_slices = std::max(1u, most_slices / conv.units());
    conv.wants_input_gradient = l > 0 || below > 0;
    conv.gradient_columns = l > 0 ? in : narrow(layout.at("head.fc1.weight").shape[0]);
    conv.activated_input = l > 0;
    matrices.push_back({spaces[l + 1], out, padded16(out), l + 1 == names.size()});
    level.gradient_stride = std::max(level.gradient_stride, padded16(out));

    Segment segment{};
    segment.kind = SegmentKind::conv_weight;
    segment.in = in;
    segment.conv = narrow(convs.size());
    segment.out_blocks = conv.out_blocks;
    segment.units = conv.units();
    segment.slots = slots;
    segment.weights = weights;
    segment.offset = narrow(root.offset);
    segment.size = narrow(root.size);
    segment.matrix = 0;
    segments.push_back(segment);
    segment.offset = narrow(rel.offset);
    segment.matrix = 1;
    segments.push_back(segment);
    segment.kind = SegmentKind::conv_bias;
    segment.offset = narrow(bias.offset);
    segment.size = narrow(bias.size);
    segments.push_back(segment);

    weights += uint64_t{conv.units()} * 2 * kBlock;
    slots += uint64_t{conv.units()} * conv.most_slices * kSlot;
    convs.push_back(conv);
  }
  levels.push_back(level);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
