#pragma once
/// An engine for tests that watch what engines are asked: a session asks it again with the job, nothing is prepared.
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/job.hpp"

namespace tyche::engine {

class WholeEngine : public Engine {
 public:
  virtual void train(const Job& job, std::span<Trial> trials, Observer& observer) = 0;
  [[nodiscard]] virtual Logits predict(const Job& job, std::span<const float> parameters,
                                       std::span<const std::uint32_t> which, const Draw& draw) = 0;
  virtual double gradient(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                          const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) = 0;

  [[nodiscard]] std::unique_ptr<Session> open(const Job& job, std::uint64_t) override {
    ++opened;
    return std::make_unique<Whole>(*this, job);
  }
  std::atomic<std::size_t> opened = 0;

 private:
  class Whole final : public Session {
   public:
    Whole(WholeEngine& engine, const Job& job) : engine_(engine), job_(job) {}
    void train(std::span<Trial> trials, Observer& observer, std::uint32_t epochs) override {
      job_.epochs = epochs;
      engine_.train(job_, trials, observer);
    }
    [[nodiscard]] Logits predict(std::span<const float> parameters, std::span<const std::uint32_t> which,
                                 const Draw& draw) override {
      return engine_.predict(job_, parameters, which, draw);
    }
    double gradient(std::span<const float> parameters, std::span<const std::uint32_t> which, const Draw& draw,
                    std::vector<float>& gradient_out, Logits& logits_out) override {
      return engine_.gradient(job_, parameters, which, draw, gradient_out, logits_out);
    }

   private:
    WholeEngine& engine_;
    Job job_;
  };
};

}  // namespace tyche::engine
