#include "engine/reference/reference_engine.hpp"

#include <fmt/format.h>

#include "engine/core/outcome.hpp"
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

  void train(const Job& job, std::span<Trial> trials, Observer& observer) override {
    validate(job);
    for (const Trial& trial : trials) validate(job, trial);
    train_batches(job, trials, observer, model_maker(job), threads_);
  }

  [[nodiscard]] Logits predict(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                               const Draw& draw) override {
    validate(job, parameters, which, draw);
    return predict_batches(job, parameters, which, draw, model_maker(job), threads_);
  }

  double gradient(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                  const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) override {
    validate(job, parameters, which, draw);
    return gradient_batches(job, parameters, which, draw, model_maker(job), threads_, gradient_out, logits_out);
  }

 private:
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine(unsigned threads) { return std::make_unique<ReferenceEngine>(threads); }

}  // namespace tyche::engine::reference
