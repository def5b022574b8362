// The arithmetic peak of a core: independent chains of fused multiply-adds that stay in registers.

// Ten chains cover a latency of five cycles on two pipes and fit into 16 registers with their operands.
constexpr std::size_t kChains = 10;

double Burn(std::size_t rounds) {
  const Floats d;
  // The operands are only known at run time, and the result is looked at: the compiler must do the work.
  volatile float half = 0.5f, quarter = 0.25f;
  const Float a = hn::Set(d, half), b = hn::Set(d, quarter);
  Float c[kChains];
  for (std::size_t i = 0; i < kChains; ++i) c[i] = hn::Set(d, static_cast<float>(i));
  for (std::size_t round = 0; round < rounds; ++round) {
    _Pragma("GCC unroll 16") for (std::size_t i = 0; i < kChains; ++i) c[i] = hn::MulAdd(c[i], a, b);
  }
  Float sum = c[0];
  for (std::size_t i = 1; i < kChains; ++i) sum = hn::Add(sum, c[i]);
  volatile float sink = hn::GetLane(sum);
  static_cast<void>(sink);
  return static_cast<double>(rounds) * kChains * kLanes * 2;
}
