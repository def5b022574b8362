// Calls of the Weisfeiler-Leman tests, of counts, of paths, and of the columns that networks see.
#include <array>
#include <limits>

#include "capi/capi.hpp"
#include "engine/core/draw_tables.hpp"
#include "engine/core/inputs.hpp"
#include "graph/named.hpp"
#include "graph/patterns.hpp"
#include "graph/sets.hpp"
#include "nn/random_inputs.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "wl/answers.hpp"
#include "wl/colour_refinement.hpp"

using namespace tyche;
using namespace tyche::capi;

namespace {

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
      throw InputError("{} is for individualise", name);
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

/// Numbers that would not fit into memory are refused before they are made.
void check_cells(std::uint64_t rows, std::uint64_t columns, const char* what) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 34;
  if (columns != 0 && rows > kMost / columns) {
    throw InputError("{} × {} {} are too many for one call", rows, columns, what);
  }
}

}  // namespace

tyche_status tyche_wl(tyche_handle a, uint64_t i, tyche_handle b, uint64_t j, const char* options, tyche_handle* out) {
  return answer(out, [&] {
    const auto first = set_of(a), second = set_of(b);
    const wl::AskedTest test(asked_test(options));
    (void)first->graph(i), (void)second->graph(j);  // whether they are there
    GraphSet left = selected(first->set(), std::array{i}), right = selected(second->set(), std::array{j});
    fold_categories(std::array{&left, &right});
    return std::make_shared<Answer>(compared(test, left.graphs[0], right.graphs[0], test.refining.threads));
  });
}

tyche_status tyche_wl_pairs(tyche_handle set, const char* options, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    const wl::AskedTest test(asked_test(options));
    const std::vector<Graph> graphs = refined(object);
    if (graphs.size() % 2 != 0) {
      throw InputError("the set has {} graphs; pairs are graphs 2i and 2i + 1, so expected an even number",
                       graphs.size());
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
  });
}

tyche_status tyche_wl_groups(tyche_handle set, const char* options, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    const wl::AskedTest test(asked_test(options));
    const std::vector<Graph> graphs = refined(object);
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
    return std::make_shared<Answer>(to_json(wl::group(graphs, test.refining)));
  });
}

tyche_status tyche_colours(tyche_handle set, const char* options, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    const Options said(options, {"rounds", "threads"});
    wl::RefineOptions how;
    how.threads = said.threads();
    how.max_rounds = said.small("rounds").value_or(std::numeric_limits<std::uint32_t>::max());
    wl::Colouring found = wl::refine(refined(object), how);
    const auto made =
        std::make_shared<Answer>(Json{{"classes", found.classes}, {"rounds", found.rounds}, {"stable", found.stable}});
    made->add("colours", {std::move(found.colours)});
    return made;
  });
}

tyche_status tyche_count(tyche_handle set, const char* options, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    const Options said(options, {"patterns", "of", "threads"});
    const std::vector<Pattern> patterns = parse_patterns(said.text("patterns").value_or(kUsualPatterns));
    const Unit of = parse_counts_of(said.text("of").value_or("graphs"));
    auto names = Json::array();
    for (const Pattern& pattern : patterns) names.push_back(pattern.name);
    std::vector<std::uint64_t> rows;
    for (const std::vector<PatternCounts>& graph : count_patterns(object.set().graphs, patterns, said.threads())) {
      append_rows(rows, graph, of);
    }
    const auto made = std::make_shared<Answer>(Json{{"patterns", names}});
    made->add("counts", {std::move(rows), patterns.size()});
    return made;
  });
}

tyche_status tyche_individualise(tyche_handle set, const char* options, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    const Options said(options, {"depth", "draws", "seed", "cell", "threads"});
    const std::vector<Graph> graphs = refined(object);
    wl::PathOptions paths;
    paths.depth = wl::depth_of(said, "depth", 0);
    paths.draws = said.small("draws", 1, 1000000000).value_or(1);
    paths.seed = said.whole("seed").value_or(1);
    if (const auto cell = said.text("cell")) paths.cell = wl::parse_cell(*cell);
    check_cells(paths.draws, object.nodes() + graphs.size(), "numbers");
    std::vector<std::size_t> first{0};
    for (const Graph& graph : graphs) first.push_back(first.back() + graph.num_nodes());
    std::vector<std::uint32_t> ranks(paths.draws * object.nodes()), steps(paths.draws * graphs.size()), classes = steps;
    parallel_for(graphs.size(), said.threads(), [&](std::size_t g) {
      wl::Individualiser walk(graphs[g], paths.cell);
      wl::Path path;
      for (std::uint32_t r = 0; r < paths.draws; ++r) {
        if (interrupted()) throw Interrupted("stopped before all paths were drawn");
        walk.draw(wl::choices_of(paths, r, static_cast<std::uint32_t>(g)), paths.depth, path);
        std::copy(path.ranks.begin(), path.ranks.end(),
                  ranks.begin() + static_cast<std::ptrdiff_t>(r * object.nodes() + first[g]));
        steps[r * graphs.size() + g] = static_cast<std::uint32_t>(path.chosen.size());
        classes[r * graphs.size() + g] = path.classes;
      }
    });
    const auto made =
        std::make_shared<Answer>(Json{{"draws", paths.draws}, {"nodes", object.nodes()}, {"graphs", graphs.size()}});
    made->add("ranks", {.values = std::move(ranks), .rows = paths.draws});
    made->add("steps", {.values = std::move(steps), .rows = paths.draws});
    made->add("classes", {.values = std::move(classes), .rows = paths.draws});
    return made;
  });
}

tyche_status tyche_random_columns(tyche_handle set, const char* options, const uint32_t* ids, uint64_t count,
                                  tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    if (count > 0) require(ids, "ids");
    if (count != 0 && count != object.set().graphs.size()) {
      throw InputError("{} ids for {} graphs; expected one for each", count, object.set().graphs.size());
    }
    const Options said(options, {"random", "depth", "columns", "rni_dist", "seed", "epoch", "fold", "threads"});
    nn::ModelConfig model;
    model.random = nn::parse<nn::Random>(said.text("random").value_or("colours"));
    const bool features = model.random == nn::Random::features;
    model.depth = nn::default_depth(model.random);
    if (!said.value("depth").is_null()) model.depth = wl::depth_of(said, "depth", 1);
    nn::validate_depth(model.random, model.depth);
    for (const char* name : {"columns", "rni_dist"}) {
      if (!features && !said.value(name).is_null()) {
        throw InputError("{} is for random features, and {} were asked for", name, nn::name(model.random));
      }
    }
    if (features) {
      model.width = said.small("columns", 1, 65536).value_or(32);
      model.rni = 1;
      model.distribution = nn::parse<nn::Distribution>(said.text("rni_dist").value_or("normal"));
      if (model.distribution != nn::Distribution::normal && model.distribution != nn::Distribution::uniform) {
        throw InputError("rni_dist: expected normal or uniform (the others need a network's fan)");
      }
    }
    const std::size_t columns = features ? model.random_dims() : model.drawn_columns();
    check_cells(object.nodes(), columns, "numbers");
    const Graphs& graphs = object.set().graphs;
    const Key key = engine::feature_key(said.whole("seed").value_or(1), said.small("fold").value_or(0),
                                        said.small("epoch").value_or(1), engine::kTrainingPass);
    std::vector<std::size_t> first{0};
    for (const Graph& graph : graphs) first.push_back(first.back() + graph.num_nodes());
    std::vector<float> numbers(object.nodes() * columns);
    parallel_for(graphs.size(), said.threads(), [&](std::size_t g) {
      if (interrupted()) throw Interrupted("stopped before all columns were drawn");
      const std::uint32_t id = count == 0 ? static_cast<std::uint32_t>(g) : ids[g];
      float* rows = numbers.data() + first[g] * columns;
      const Node nodes = graphs[g].num_nodes();
      if (features) return engine::random_features(model, key, id, nodes, rows, columns);
      std::vector<std::uint32_t> drawn(nodes);
      engine::draw_numbers(model, graphs[g], key, id, drawn);
      for (Node v = 0; v < nodes; ++v) nn::code_of(model.random, drawn[v], {rows + v * columns, columns});
    });
    const auto made = std::make_shared<Answer>(Json{{"columns", columns}});
    made->add("columns", {std::move(numbers), columns});
    return made;
  });
}
