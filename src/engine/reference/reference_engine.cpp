#include "engine/reference/reference_engine.hpp"

#include <fmt/format.h>

#include "engine/reference/models.hpp"
#include "support/parallel.hpp"

namespace tyche::engine::reference {

namespace {

class ReferenceEngine final : public Engine {
 public:
  explicit ReferenceEngine(unsigned threads) : threads_(resolve_threads(threads)) {}

  [[nodiscard]] std::string description() const override {
    return fmt::format("reference: plain loops, {} thread{}", threads_, threads_ == 1 ? "" : "s");
  }
  [[nodiscard]] std::unique_ptr<Session> open(const Job& job, std::uint64_t) override {
    refuse_peers(job, "the reference engine has no slices");
    return batch_session(job, model_maker, threads_);
  }

 private:
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine(unsigned threads) { return std::make_unique<ReferenceEngine>(threads); }

}  // namespace tyche::engine::reference
