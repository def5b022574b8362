// The C interface beside the library it is over: the same graphs, the same bits, from several threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "datasets/generate.hpp"
#include "engine/core/inputs.hpp"
#include "support/file.hpp"
#include "support/run_program.hpp"
#include "train/checkpoint.hpp"
#include "tyche.h"
#include "wl/colour_refinement.hpp"

namespace tyche {
namespace {

class Handle {
 public:
  Handle() = default;
  Handle(Handle&& other) noexcept : value(std::exchange(other.value, 0)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (value != 0) (void)tyche_free(value);
  }
  tyche_handle value = 0;

  [[nodiscard]] nlohmann::json info() const {
    const char* text = nullptr;
    EXPECT_EQ(tyche_info(value, &text, nullptr), TYCHE_OK) << tyche_error_message();
    return nlohmann::json::parse(text);
  }
  template <class T>
  [[nodiscard]] std::vector<T> array(const char* name) const {
    tyche_array out{};
    EXPECT_EQ(tyche_array_of(value, name, &out), TYCHE_OK) << tyche_error_message();
    const std::size_t count = out.shape[0] * (out.dimensions == 2 ? out.shape[1] : 1);
    const T* data = static_cast<const T*>(out.data);
    return {data, data + count};
  }
};

Handle generated(const char* kind, const char* options) {
  Handle out;
  EXPECT_EQ(tyche_generate(kind, options, nullptr, &out.value), TYCHE_OK) << tyche_error_message();
  return out;
}

TEST(CInterface, GeneratesWhatTheProgramWrites) {
  const TemporaryFolder folder;
  const std::string path = (folder / "exp").string();
  ASSERT_EQ(run_program({"generate", "cexp", "--pairs", "12", "--seed", "5", "--out", path}).exit_code, 0);
  const Handle made = generated("cexp", R"({"pairs": 12, "seed": 5})");
  Handle read;
  ASSERT_EQ(tyche_set_read(path.c_str(), nullptr, &read.value), TYCHE_OK) << tyche_error_message();
  for (const char* name : {"hash", "subsets", "pair", "nodes", "edges"})
    EXPECT_EQ(made.info()[name], read.info()[name]);
  EXPECT_EQ(made.array<std::uint32_t>("neighbours"), read.array<std::uint32_t>("neighbours"));
  EXPECT_EQ(made.array<std::int32_t>("labels"), read.array<std::int32_t>("labels"));
}

TEST(CInterface, ArraysAreTheGraphsRowByRow) {
  const datasets::Dataset data = datasets::load_dataset(std::filesystem::path(TYCHE_TEST_DATA) / "v0.1.0/exp");
  Handle set;
  ASSERT_EQ(tyche_set_read((std::filesystem::path(TYCHE_TEST_DATA) / "v0.1.0/exp").c_str(), nullptr, &set.value), 0);
  const auto ptr = set.array<std::uint64_t>("ptr"), offsets = set.array<std::uint64_t>("offsets");
  const auto neighbours = set.array<std::uint32_t>("neighbours"), types = set.array<std::uint32_t>("types");
  const auto edge_index = set.array<std::int64_t>("edge_index");
  for (std::size_t g = 0; g < data.set.graphs.size(); ++g) {
    const Graph& graph = data.set.graphs[g];
    ASSERT_EQ(ptr[g + 1] - ptr[g], graph.num_nodes());
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      const std::uint64_t first = offsets[ptr[g] + v];
      EXPECT_EQ(types[ptr[g] + v], graph.type(v));
      ASSERT_EQ(offsets[ptr[g] + v + 1] - first, graph.degree(v));
      for (Node i = 0; i < graph.degree(v); ++i) {
        EXPECT_EQ(neighbours[first + i], graph.neighbours(v)[i]);
        EXPECT_EQ(edge_index[first + i], v);
        EXPECT_EQ(edge_index[neighbours.size() + first + i], graph.neighbours(v)[i]);
      }
    }
  }
}

TEST(CInterface, AnArrayIsMadeOnceAndStays) {
  const Handle set = generated("exp", R"({"pairs": 2})");
  tyche_array first{}, again{};
  ASSERT_EQ(tyche_array_of(set.value, "edge_index", &first), TYCHE_OK);
  ASSERT_EQ(tyche_array_of(set.value, "edge_index", &again), TYCHE_OK);
  EXPECT_EQ(first.data, again.data);
}

TEST(CInterface, AFreedHandleStaysFreedWhateverIsMadeNext) {
  const std::uint64_t live = tyche_live_handles();
  tyche_handle old = 0;
  ASSERT_EQ(tyche_generate("exp", R"({"pairs": 2})", nullptr, &old), TYCHE_OK) << tyche_error_message();
  ASSERT_EQ(tyche_free(old), TYCHE_OK);
  for (int again = 0; again < 3; ++again) {
    const Handle fresh = generated("exp", R"({"pairs": 1})");
    ASSERT_NE(fresh.value, old);
    const char* text = nullptr;
    tyche_array array{};
    tyche_handle copy = 0;
    const auto freed = [](int code) {
      EXPECT_THAT(tyche_error_message(), testing::HasSubstr("was freed"));
      return code == TYCHE_BAD_HANDLE;
    };
    EXPECT_TRUE(freed(tyche_info(old, &text, nullptr)));
    EXPECT_TRUE(freed(tyche_array_of(old, "ptr", &array)));
    EXPECT_TRUE(freed(tyche_train(old, "{}", nullptr, nullptr, nullptr, &copy)));
    EXPECT_TRUE(freed(tyche_free(old)));
    EXPECT_EQ(fresh.array<std::uint64_t>("ptr").size(), 3u) << "the next set is not touched";
    EXPECT_EQ(tyche_live_handles(), live + 1);
    // One that is still to come is no handle either.
    for (const tyche_handle later : {fresh.value + 1, fresh.value + (tyche_handle{1} << 32)}) {
      EXPECT_EQ(tyche_info(later, &text, nullptr), TYCHE_BAD_HANDLE);
      EXPECT_THAT(tyche_error_message(), testing::HasSubstr("is no handle"));
    }
  }
}

/// A network that training here and in the program gives, to the last bit.
TEST(CInterface, TrainsToTheProgramsBits) {
  const TemporaryFolder folder;
  const std::string data = (folder / "exp").string(), run = (folder / "run").string();
  ASSERT_EQ(run_program({"generate", "exp", "--pairs", "10", "--seed", "3", "--out", data}).exit_code, 0);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--rni", "0.5"}, std::vector<std::string>{"--random", "colours", "--depth", "2"}}) {
    std::vector<std::string> args = {"train",   "--recipe", "paper",    "--data",   data,      "--out", run,
                                     "--folds", "1",        "--epochs", "3",        "--width", "8",     "--layers",
                                     "2",       "--seed",   "4",        "--device", "cpu"};
    args.insert(args.end(), more.begin(), more.end());
    const RunResult trained = run_program(args);
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    nlohmann::json options = {{"folds", 1}, {"epochs", 3}, {"width", 8}, {"layers", 2}, {"seed", 4}, {"device", "cpu"}};
    if (more[0] == "--rni") options["rni"] = 0.5;
    if (more[0] == "--random") options.update({{"random", "colours"}, {"depth", 2}});
    Handle set, here, model;
    ASSERT_EQ(tyche_set_read(data.c_str(), nullptr, &set.value), TYCHE_OK);
    ASSERT_EQ(tyche_train(set.value, options.dump().c_str(), nullptr, nullptr, nullptr, &here.value), TYCHE_OK)
        << tyche_error_message();
    ASSERT_EQ(tyche_trained_model(here.value, 0, &model.value), TYCHE_OK);
    const std::string own = (folder / "own.safetensors").string(), theirs = run + "/fold-0/last.safetensors";
    ASSERT_EQ(tyche_model_write(model.value, own.c_str()), TYCHE_OK) << tyche_error_message();
    EXPECT_EQ(read_file(own), read_file(theirs));  // configuration, moments and all

    Handle answer;
    ASSERT_EQ(tyche_predict(model.value, set.value, R"({"draws": 3, "device": "cpu"})", &answer.value), TYCHE_OK);
    const RunResult said = run_program(
        {"predict", "--checkpoint", theirs, "--data", data, "--draws", "3", "--json", "--logits", "--device", "cpu"});
    const auto predictions = nlohmann::json::parse(said.out)["predictions"];
    const auto labels = answer.array<std::int32_t>("labels");
    const auto logits = answer.array<float>("logits");
    ASSERT_EQ(labels.size(), predictions.size());
    for (std::size_t g = 0; g < labels.size(); ++g) {
      EXPECT_EQ(labels[g], predictions[g]["label"].get<int>());
      for (std::size_t c = 0; c < 2; ++c) EXPECT_EQ(logits[2 * g + c], predictions[g]["logits"][c].get<float>());
    }
    std::filesystem::remove_all(run);
  }
}

/// The columns a PyTorch user is given are those that a network of ours is trained on.
TEST(CInterface, RandomColumnsAreThoseOfTraining) {
  const Handle set = generated("exp", R"({"pairs": 3})");
  datasets::GenerateOptions make;
  make.recipe = datasets::recipe_of("exp");
  datasets::set_parameter(make.recipe, "pairs", "3");
  const datasets::Dataset data = datasets::make(make).dataset;
  engine::Job job;
  job.data.graphs = data.set.graphs;
  job.model.random = nn::Random::colours;
  engine::Trial trial;
  trial.seed = 9;
  const std::size_t columns = job.model.drawn_columns();
  Handle answer;
  ASSERT_EQ(
      tyche_random_columns(set.value, R"({"random": "colours", "seed": 9, "epoch": 4})", nullptr, 0, &answer.value),
      TYCHE_OK)
      << tyche_error_message();
  const auto ours = answer.array<float>("columns");
  std::size_t at = 0;
  for (std::uint32_t g = 0; g < data.set.graphs.size(); ++g) {
    std::vector<float> rows(data.set.graphs[g].num_nodes() * columns);
    engine::drawn_columns(job, engine::training_inputs(trial, 4), g, rows.data(), columns);
    for (const float value : rows) ASSERT_EQ(ours[at++], value);
  }
  EXPECT_EQ(at, ours.size());
}

TEST(CInterface, ThreadsWithTheirOwnHandlesDoNotMeet) {
  std::vector<std::string> hashes(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < hashes.size(); ++t) {
    threads.emplace_back([t, &hashes] {
      for (int round = 0; round < 5; ++round) {
        Handle set = generated("exp", t % 2 == 0 ? R"({"pairs": 2, "threads": 1})" : R"({"pairs": 3, "threads": 1})");
        Handle wrong, colours;
        EXPECT_EQ(tyche_set_read(t % 2 == 0 ? "/even" : "/odd", nullptr, &wrong.value), TYCHE_IO_ERROR);
        EXPECT_THAT(tyche_error_message(), testing::HasSubstr(t % 2 == 0 ? "/even" : "/odd"));
        EXPECT_EQ(tyche_colours(set.value, nullptr, &colours.value), TYCHE_OK);
        hashes[t] = set.info()["hash"];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 2; t < hashes.size(); ++t) EXPECT_EQ(hashes[t], hashes[t % 2]);
  EXPECT_NE(hashes[0], hashes[1]);
}

std::atomic<int> epochs_seen = 0;

TEST(CInterface, AnInterruptEndsCallsUnderWayAndNoLaterOnes) {
  const Handle set = generated("exp", R"({"pairs": 10})");
  const char* options = R"({"folds": 1, "epochs": 100000, "width": 4, "layers": 1, "device": "cpu", "threads": 1})";
  const auto interrupt = [](void*, const char*) -> std::int32_t {
    if (++epochs_seen == 2) tyche_interrupt();
    return 0;
  };
  Handle stopped, next;
  EXPECT_EQ(tyche_train(set.value, options, nullptr, interrupt, nullptr, &stopped.value), TYCHE_STOPPED);
  EXPECT_THAT(tyche_error_message(), testing::HasSubstr("epochs to go"));
  EXPECT_EQ(tyche_colours(set.value, nullptr, &next.value), TYCHE_OK);
}

TEST(CInterface, AForkedProcessHasNoLocksAndNoCallsOfThreadsThatAreNotThere) {
  const Handle set = generated("exp", R"({"pairs": 2})");
  const std::jthread busy([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      tyche_handle code = 0;
      (void)tyche_graph6(set.value, 0, &code);
      (void)tyche_free(code);
    }
  });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(30);
      tyche_interrupt();  // no call is under way here, so none is stopped
      tyche_handle colours = 0;
      const bool fine = tyche_colours(set.value, R"({"threads": 1})", &colours) == TYCHE_OK;
      ::_exit(fine && tyche_free(colours) == TYCHE_OK ? 7 : 8);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << "fork " << i << " ended with status " << status;
  }
}

}  // namespace
}  // namespace tyche
