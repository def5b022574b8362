#include "engine/cuda/fused/pass.cuh"
#include "engine/cuda/fused/update.cuh"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

namespace {

/// A block per unit: forward and backward of one step. In the first step of an epoch the epoch's number must be waited
/// for; in later ones the graphs and random numbers are made ready while the update of the step before still runs.
template <int W, bool kElu>
__global__ void __launch_bounds__(kThreads, 1) train_kernel(const __grid_constant__ Args a, int step) {
  char* sm = dynamic_shared();
  const int block = static_cast<int>(blockIdx.x), trial = block / a.units_most, index = block % a.units_most;
  if (step == 0) pdl_wait();
  const std::size_t epoch = static_cast<std::size_t>(load_cg(a.epoch)) * a.trials + trial, row = epoch * a.steps + step;
  if (index >= a.plan[row].units) {
    if (step > 0) pdl_wait();
    pdl_trigger();
    return;
  }
  const EpochKeys keys = a.keys[epoch];
  const Unit unit = a.units[row * a.units_stride + index];
  const Names names = {
      {unit.graph[0], unit.graph[1]}, {unit.place[0], unit.place[1]}, {}, trial, index, keys.dropout, row};
  const unsigned* places = a.places == nullptr ? nullptr : a.places + row * a.batch;
  const Members members = prepare<W>(a, sm, unit, keys.features, places, names);
  const Share share = share_of<W>(a, sm, members.rows, members.padded, members.wide);
  if (step > 0) pdl_wait();
  pdl_trigger();
  pass<W, true, kElu>(a, sm, members, share, trial);
}

/// A block per unit of the test graphs: logits of one draw.
template <int W, bool kElu>
__global__ void __launch_bounds__(kThreads, 1) test_kernel(const __grid_constant__ Args a, int draw) {
  char* sm = dynamic_shared();
  const int trial = static_cast<int>(blockIdx.x) / a.test_units_most;
  const int index = static_cast<int>(blockIdx.x) % a.test_units_most;
  const std::size_t epoch = static_cast<std::size_t>(load_cg(a.epoch)) * a.trials + trial, row = epoch * a.draws + draw;
  if (index >= a.test_counts[trial] || a.test_due[epoch] == 0) return;
  const Unit unit = a.test_units[static_cast<std::size_t>(trial) * a.test_units_most + index];
  const Names names = {{unit.graph[0], unit.graph[1]}, {unit.place[0], unit.place[1]}, {}, trial, index, uint2{}, row};
  const unsigned* places = a.test_places == nullptr ? nullptr : a.test_places + row * a.tests_most;
  const Members members = prepare<W>(a, sm, unit, a.test_keys[row], places, names);
  const Share share = share_of<W>(a, sm, members.rows, members.padded, members.wide);
  pass<W, false, kElu>(a, sm, members, share, trial);
}

/// The weights' blocks come first: the small parameters' fill what they leave.
template <int W, bool kMeasure>
__global__ void __launch_bounds__(kUpdateThreads, 1024 / kUpdateThreads)
    update_kernel(const __grid_constant__ Args a, int step) {
  const int block = static_cast<int>(blockIdx.x), weights = weight_blocks(a.model), small = small_blocks(a.model);
  const int rest = block - a.trials * weights;
  if (rest < 0) {
    update_weights<W, kMeasure>(a, dynamic_shared(), step, block / weights, block % weights);
  } else {
    update_small<kMeasure>(a, dynamic_shared(), step, rest / small, rest % small, a.model.layers * W);
  }
}

template <int W>
constexpr Kernels kKernels = {{train_kernel<W, false>, train_kernel<W, true>},
                              {test_kernel<W, false>, test_kernel<W, true>},
                              update_kernel<W, true>,
                              update_kernel<W, false>};

}  // namespace

const Kernels& kernels_of(int width) { return width == 32 ? kKernels<32> : width == 64 ? kKernels<64> : kKernels<128>; }

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
