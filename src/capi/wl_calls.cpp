// Calls of the Weisfeiler-Leman tests, of counts, of paths, and of the columns that networks see.
#include <fmt/format.h>

#include <limits>

#include "capi/call.hpp"
#include "capi/options.hpp"
#include "capi/sets.hpp"
#include "engine/core/draw_tables.hpp"
#include "engine/core/inputs.hpp"
#include "graph/folding.hpp"
#include "graph/named.hpp"
#include "graph/patterns.hpp"
#include "nn/random_inputs.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "wl/answers.hpp"
#include "wl/colour_refinement.hpp"
#include "wl/leaf_compare.hpp"
#include "wl/set_compare.hpp"
#include "wl/wl.hpp"

namespace {

using namespace tyche;
using namespace tyche::capi;
using Json = nlohmann::ordered_json;

constexpr std::uint32_t kMost32 = std::numeric_limits<std::uint32_t>::max();

/// What a call says of a test, which must be one of the four.
Options asked_test(const char* json) {
  Options options(
      json, {"dim", "sets", "two_sets", "space", "distance_cut", "individualise", "draws", "cell", "seed", "threads"});
  int kinds = 0;
  for (const char* name : {"dim", "sets", "space", "individualise"}) kinds += options.says(name) ? 1 : 0;
  if (kinds > 1) throw InputError("dim, sets, space and individualise are four tests: say one of them");
  if (options.says("distance_cut") && !options.says("space")) {
    throw InputError("distance_cut is for space \"rooted\" or \"pairs\"");
  }
  if (options.says("two_sets") && options.value("sets") != "1-2-3") throw InputError("two_sets is for sets \"1-2-3\"");
  for (const char* name : {"draws", "cell", "seed"}) {
    if (options.says(name) && !options.says("individualise")) {
      throw InputError(fmt::format("{} is for individualise", name));
    }
  }
  return options;
}

Json compared(const wl::AskedTest& test, const Graph& a, const Graph& b, unsigned threads, std::uint32_t i = 0,
              std::uint32_t j = 1) {
  return std::visit([](const auto& own) { return to_json(own); }, test.compare(a, b, threads, i, j));
}

/// The set's graphs, with all of their categories in types and labels.
std::vector<Graph> refined(const SetObject& set) {
  GraphSet own = set.set();
  fold_categories(std::array{&own});
  return own.graphs.all();
}

std::shared_ptr<Object> compare_pairs(const SetObject& set, const wl::AskedTest& test) {
  const std::vector<Graph> graphs = refined(set);
  if (graphs.size() % 2 != 0) {
    throw InputError(fmt::format("the set has {} graphs; pairs are graphs 2i and 2i + 1, so expected an even number",
                                 graphs.size()));
  }
  auto list = Json::array();
  if (!test.paths && !test.sets) {
    for (const wl::Comparison& answer : wl::compare_pairs(graphs, test.refining)) list.push_back(to_json(answer));
    return std::make_shared<Answer>(list);
  }
  std::vector<Json> answers(graphs.size() / 2);
  parallel_for(answers.size(), test.refining.threads, [&](std::size_t i) {
    if (interrupted()) throw Interrupted("stopped before all pairs were compared");
    const auto first = static_cast<std::uint32_t>(2 * i);
    answers[i] = compared(test, graphs[2 * i], graphs[2 * i + 1], 1, first, first + 1);
  });
  for (Json& answer : answers) list.push_back(std::move(answer));
  return std::make_shared<Answer>(list);
}

std::shared_ptr<Object> group(const SetObject& set, const wl::AskedTest& test) {
  const std::vector<Graph> graphs = refined(set);
  if (test.sets) throw InputError("sets compares graphs in pairs");
  if (test.paths) {
    std::vector<wl::Survey> surveys(graphs.size());
    parallel_for(graphs.size(), test.refining.threads, [&](std::size_t g) {
      surveys[g] = wl::survey(graphs[g], static_cast<std::uint32_t>(g), *test.paths);
    });
    auto list = Json::array();
    for (std::size_t g = 0; g < graphs.size(); ++g) list.push_back(to_json(surveys[g], graphs[g].num_nodes()));
    return std::make_shared<Answer>(list);
  }
  const wl::Grouping grouping = wl::group(graphs, test.refining);
  return std::make_shared<Answer>(Json{{"graphs", graphs.size()},
                                       {"groups", grouping.groups},
                                       {"group", grouping.group},
                                       {"stable_after", grouping.stable_after},
                                       {"classes", grouping.classes}});
}

std::shared_ptr<Object> colours(const SetObject& set, const char* json) {
  const Options options(json, {"rounds", "threads"});
  wl::RefineOptions how;
  how.threads = options.threads();
  how.max_rounds = options.small("rounds").value_or(kMost32);
  wl::Colouring found = wl::refine(refined(set), how);
  const auto out =
      std::make_shared<Answer>(Json{{"classes", found.classes}, {"rounds", found.rounds}, {"stable", found.stable}});
  out->add("colours", {std::move(found.colours)});
  return out;
}

std::shared_ptr<Object> counts(const SetObject& set, const char* json) {
  const Options options(json, {"patterns", "of", "threads"});
  const std::vector<Pattern> patterns = parse_patterns(options.text("patterns").value_or(kUsualPatterns));
  const CountsOf of = parse_counts_of(options.text("of").value_or("graphs"));
  auto names = Json::array();
  for (const Pattern& pattern : patterns) names.push_back(pattern.name);
  std::vector<std::uint64_t> rows;
  for (const std::vector<PatternCounts>& graph : count_patterns(set.set().graphs, patterns, options.threads())) {
    append_rows(rows, graph, of);
  }
  const auto out = std::make_shared<Answer>(Json{{"patterns", names}});
  out->add("counts", {std::move(rows), patterns.size()});
  return out;
}

/// Numbers that would not fit into memory are refused before they are made.
void check_cells(std::uint64_t rows, std::uint64_t columns, const char* what) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 34;
  if (columns != 0 && rows > kMost / columns) {
    throw InputError(fmt::format("{} × {} {} are too many for one call", rows, columns, what));
  }
}

std::shared_ptr<Object> individualise(const SetObject& set, const char* json) {
  const Options options(json, {"depth", "draws", "seed", "cell", "threads"});
  const std::vector<Graph> graphs = refined(set);
  wl::PathOptions paths;
  paths.depth = wl::depth_of(options, "depth", 0);
  paths.draws = options.small("draws", 1, 1000000000).value_or(1);
  paths.seed = options.whole("seed").value_or(1);
  if (const auto cell = options.text("cell")) paths.cell = wl::parse_cell(*cell);
  check_cells(paths.draws, set.nodes() + graphs.size(), "numbers");
  std::vector<std::size_t> first{0};
  for (const Graph& graph : graphs) first.push_back(first.back() + graph.num_nodes());
  std::vector<std::uint32_t> ranks(paths.draws * set.nodes()), steps(paths.draws * graphs.size()), classes = steps;
  parallel_for(graphs.size(), options.threads(), [&](std::size_t g) {
    wl::Individualiser walk(graphs[g], paths.cell);
    wl::Path path;
    for (std::uint32_t r = 0; r < paths.draws; ++r) {
      if (interrupted()) throw Interrupted("stopped before all paths were drawn");
      walk.draw(wl::choices_of(paths, r, static_cast<std::uint32_t>(g)), paths.depth, path);
      std::copy(path.ranks.begin(), path.ranks.end(),
                ranks.begin() + static_cast<std::ptrdiff_t>(r * set.nodes() + first[g]));
      steps[r * graphs.size() + g] = static_cast<std::uint32_t>(path.chosen.size());
      classes[r * graphs.size() + g] = path.classes;
    }
  });
  const auto out =
      std::make_shared<Answer>(Json{{"draws", paths.draws}, {"nodes", set.nodes()}, {"graphs", graphs.size()}});
  out->add("ranks", {.values = std::move(ranks), .rows = paths.draws});
  out->add("steps", {.values = std::move(steps), .rows = paths.draws});
  out->add("classes", {.values = std::move(classes), .rows = paths.draws});
  return out;
}

std::shared_ptr<Object> random_columns(const SetObject& set, const char* json, std::span<const std::uint32_t> ids) {
  const Options options(json, {"random", "depth", "columns", "rni_dist", "seed", "epoch", "fold", "threads"});
  nn::ModelConfig model;
  model.random = nn::parse_random(options.text("random").value_or("colours"));
  const bool features = model.random == nn::Random::features;
  model.depth = nn::default_depth(model.random);
  if (!options.value("depth").is_null()) model.depth = wl::depth_of(options, "depth", 1);
  nn::validate_depth(model.random, model.depth);
  for (const char* name : {"columns", "rni_dist"}) {
    if (!features && !options.value(name).is_null()) {
      throw InputError(fmt::format("{} is for random features, and {} were asked for", name, nn::name(model.random)));
    }
  }
  if (features) {
    model.width = options.small("columns", 1, 65536).value_or(32);
    model.rni = 1;
    model.distribution = nn::parse_distribution(options.text("rni_dist").value_or("normal"));
    if (model.distribution != nn::Distribution::normal && model.distribution != nn::Distribution::uniform) {
      throw InputError("rni_dist: expected normal or uniform (the others need a network's fan)");
    }
  }
  const std::size_t columns = features ? model.random_dims() : model.drawn_columns();
  check_cells(set.nodes(), columns, "numbers");
  const Graphs& graphs = set.set().graphs;
  const Key key = engine::feature_key(options.whole("seed").value_or(1), options.small("fold").value_or(0),
                                      options.small("epoch").value_or(1), engine::kTrainingPass);
  std::vector<std::size_t> first{0};
  for (const Graph& graph : graphs) first.push_back(first.back() + graph.num_nodes());
  std::vector<float> out(set.nodes() * columns);
  parallel_for(graphs.size(), options.threads(), [&](std::size_t g) {
    if (interrupted()) throw Interrupted("stopped before all columns were drawn");
    const std::uint32_t id = ids.empty() ? static_cast<std::uint32_t>(g) : ids[g];
    float* rows = out.data() + first[g] * columns;
    const Node nodes = graphs[g].num_nodes();
    if (features) return engine::random_features(model, key, id, nodes, rows, columns);
    std::vector<std::uint32_t> numbers(nodes);
    engine::draw_numbers(model, graphs[g], key, id, numbers);
    for (Node v = 0; v < nodes; ++v) nn::code_of(model.random, numbers[v], {rows + v * columns, columns});
  });
  const auto answer_out = std::make_shared<Answer>(Json{{"columns", columns}});
  answer_out->add("columns", {std::move(out), columns});
  return answer_out;
}

}  // namespace

tyche_status tyche_wl(tyche_handle a, uint64_t i, tyche_handle b, uint64_t j, const char* options, tyche_handle* out) {
  return answer(out, [&]() -> std::shared_ptr<Object> {
    const auto first = set_of(a), second = set_of(b);
    const wl::AskedTest test(asked_test(options));
    (void)first->graph(i), (void)second->graph(j);  // whether they are there
    GraphSet left = selected(first->set(), std::array{i}), right = selected(second->set(), std::array{j});
    fold_categories(std::array{&left, &right});
    return std::make_shared<Answer>(compared(test, left.graphs[0], right.graphs[0], test.refining.threads));
  });
}

tyche_status tyche_wl_pairs(tyche_handle set, const char* options, tyche_handle* out) {
  return answer(out, [&] { return compare_pairs(*set_of(set), wl::AskedTest(asked_test(options))); });
}

tyche_status tyche_wl_groups(tyche_handle set, const char* options, tyche_handle* out) {
  return answer(out, [&] { return group(*set_of(set), wl::AskedTest(asked_test(options))); });
}

tyche_status tyche_colours(tyche_handle set, const char* options, tyche_handle* out) {
  return answer(out, [&] { return colours(*set_of(set), options); });
}

tyche_status tyche_count(tyche_handle set, const char* options, tyche_handle* out) {
  return answer(out, [&] { return counts(*set_of(set), options); });
}

tyche_status tyche_individualise(tyche_handle set, const char* options, tyche_handle* out) {
  return answer(out, [&] { return individualise(*set_of(set), options); });
}

tyche_status tyche_random_columns(tyche_handle set, const char* options, const uint32_t* ids, uint64_t count,
                                  tyche_handle* out) {
  return answer(out, [&] {
    const auto object = set_of(set);
    if (count > 0) require(ids, "ids");
    if (count != 0 && count != object->set().graphs.size()) {
      throw InputError(fmt::format("{} ids for {} graphs; expected one for each", count, object->set().graphs.size()));
    }
    return random_columns(*object, options, {ids, count});
  });
}
