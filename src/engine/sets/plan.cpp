#include "engine/sets/plan.hpp"

#include <algorithm>

#include "wl/set_graph.hpp"

namespace tyche::engine {

namespace {

float mean_scale(nn::Aggregation aggregation, std::uint64_t degree) {
  if (aggregation == nn::Aggregation::sum) return 1;
  return degree == 0 ? 0.0f : 1 / static_cast<float>(degree);
}

// Rows for the classes of a graph list, in the order they come.
template <class Map>
std::uint32_t row_of(Map& map, std::uint32_t stamp, std::uint32_t id) {
  if (map.stamp[id] != stamp) {
    map.stamp[id] = stamp;
    map.row[id] = static_cast<std::uint32_t>(map.classes.size());
    map.classes.push_back(id);
  }
  return map.row[id];
}

// Begins anew, in the memory it has.
void restart(SparseRows& rows) {
  rows.offsets.assign(1, 0);
  rows.columns.clear();
  rows.weights.clear();
  rows.scales.clear();
}

// A row whose columns are there: the mean over them.
void end_mean(SparseRows& rows) {
  rows.scales.push_back(1 / static_cast<float>(rows.columns.size() - rows.offsets.back()));
  rows.offsets.push_back(rows.columns.size());
}

}  // namespace

Planner::Planner(const Job& job, const SetData& sets, std::optional<nn::Aggregation> aggregation)
    : job_(job), sets_(sets), aggregation_(aggregation.value_or(job.model.aggregation)) {
  plan_.levels.resize(sets.levels().size());
  if (!sets.compressed()) return;
  for (std::size_t i = 0; i < sets.quotients().size(); ++i) {
    const wl::Quotient& quotient = sets.quotients()[i];
    auto& maps = maps_.emplace_back(quotient.rounds() + 1);
    for (std::size_t l = 0; l < maps.size(); ++l) {
      maps[l].row.resize(quotient.size(l));
      maps[l].stamp.assign(quotient.size(l), 0);
    }
    auto& columns = columns_.emplace_back();
    if (sets.levels()[i].features) continue;
    for (const wl::SetType type : quotient.types) columns.push_back(type_column(sets_.levels()[i], type));
  }
}

const Plan& Planner::plan(std::span<const std::uint32_t> graphs, const Inputs& inputs, const Crew& crew) {
  plan_.graphs.assign(graphs.begin(), graphs.end());
  plan_.rows = 0;
  plan_.full_rows = 0;
  if (++stamp_ == 0) {  // after 2^32 plans
    for (auto& maps : maps_) {
      for (RowMap& map : maps) std::fill(map.stamp.begin(), map.stamp.end(), 0u);
    }
    stamp_ = 1;
  }
  for (std::size_t i = 0; i < plan_.levels.size(); ++i) {
    if (sets_.compressed()) {
      quotient_level(i, crew);
    } else {
      plain_level(i, inputs, crew);
    }
    const LevelPlan& level = plan_.levels[i];
    for (std::size_t l = 1; l <= level.depth; ++l) plan_.rows += level.rows(l);
    plan_.full_rows += level.depth * level.sets;
  }
  return plan_;
}

void Planner::quotient_level(std::size_t i, const Crew& crew) {
  const nn::Level& spec = sets_.levels()[i];
  const wl::Quotient& quotient = sets_.quotients()[i];
  std::vector<RowMap>& maps = maps_[i];
  LevelPlan& out = plan_.levels[i];
  const std::size_t depth = quotient.rounds();
  out.depth = depth;
  out.layers.resize(depth);

  // 1. Rows, from the last round down.
  out.sets = 0;
  for (RowMap& map : maps) map.classes.clear();
  restart(out.readout);
  for (const std::uint32_t g : plan_.graphs) {
    const std::size_t own = job_.data.graphs.of(g);
    for (std::uint64_t c = quotient.first[own]; c < quotient.first[own + 1]; ++c) {
      out.readout.columns.push_back(row_of(maps[depth], stamp_, quotient.classes[c]));
      out.readout.weights.push_back(static_cast<float>(quotient.multiplicity[c]));
      out.sets += quotient.multiplicity[c];
    }
    out.readout.offsets.push_back(out.readout.columns.size());
  }
  for (std::size_t l = depth; l-- > 0;) {
    std::vector<std::uint32_t>& roots = out.layers[l].roots;
    roots.clear();
    for (const std::uint32_t c : maps[l + 1].classes) {
      roots.push_back(row_of(maps[l], stamp_, quotient.steps[l].roots[c]));
    }
  }

  // 2. What round 0 starts from.
  const std::vector<std::uint32_t>& starts = maps[0].classes;
  const std::size_t k = quotient.kind.k;
  out.inputs = starts.size();
  out.features.clear();
  out.type_column.clear();
  restart(out.from_nodes);
  for (const std::uint32_t c : starts) {
    if (spec.features) {
      const auto row = sets_.features(quotient.bases[c]);
      out.features.insert(out.features.end(), row.begin(), row.end());
      continue;
    }
    out.type_column.push_back(columns_[i][c]);
    if (!spec.on_nodes) continue;
    for (std::size_t j = 0; j < k; ++j) {
      out.from_nodes.columns.push_back(maps_[0].back().row[quotient.bases[c * k + j]]);
    }
    end_mean(out.from_nodes);
  }

  // 3. Messages, layer by layer.
  crew(depth, [&](std::size_t l) {
    const wl::QuotientStep& step = quotient.steps[l];
    const RowMap& now = maps[l + 1];
    const std::vector<std::uint32_t>& before = maps[l].row;
    MessageGraph& messages = out.layers[l];
    messages.rows_in = maps[l].classes.size();
    messages.rows_out = now.classes.size();
    SparseRows& gather = messages.gather;
    restart(gather);
    gather.offsets.reserve(now.classes.size() + 1);
    for (const std::uint32_t c : now.classes) {
      std::uint64_t degree = 0;
      for (std::uint64_t e = step.offsets[c]; e < step.offsets[c + 1]; ++e) {
        gather.columns.push_back(before[step.columns[e]]);
        gather.weights.push_back(step.counts[e]);
        degree += step.counts[e];
      }
      gather.offsets.push_back(gather.columns.size());
      gather.scales.push_back(mean_scale(aggregation_, degree));
    }
  });
}

void Planner::plain_level(std::size_t i, const Inputs& inputs, const Crew& crew) {
  const nn::Level& spec = sets_.levels()[i];
  LevelPlan& out = plan_.levels[i];
  out = LevelPlan();
  out.depth = spec.convs.size();
  MessageGraph& messages = out.layers.emplace_back();
  std::vector<wl::SetGraph> graphs(plan_.graphs.size());
  crew(graphs.size(),
       [&](std::size_t g) { graphs[g] = wl::make_set_graph(job_.data.graphs[plan_.graphs[g]], spec.sets); });
  std::uint32_t first = 0, first_node = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const wl::SetGraph& sets = graphs[g];
    const std::uint32_t which = plan_.graphs[g];
    for (std::size_t s = 0; s < sets.size(); ++s) {
      for (const std::uint32_t t : sets.neighbours(s)) messages.gather.columns.push_back(first + t);
      messages.gather.offsets.push_back(messages.gather.columns.size());
      messages.gather.scales.push_back(mean_scale(aggregation_, sets.neighbours(s).size()));
      out.readout.columns.push_back(first + static_cast<std::uint32_t>(s));
      out.readout.weights.push_back(1);
      if (!spec.features) out.type_column.push_back(type_column(sets_.levels()[i], sets.types[s]));
      if (!spec.on_nodes) continue;
      for (const Node v : sets.set(s)) out.from_nodes.columns.push_back(first_node + v);
      end_mean(out.from_nodes);
    }
    if (spec.features && sets.size() > 0) {
      const std::size_t before = out.features.size();
      out.features.resize(before + sets.size() * spec.inputs);
      fixed_columns(job_, which, out.features.data() + before, spec.inputs);
      random_columns(job_.model, inputs, which, sets.size(), first,
                     out.features.data() + before + spec.inputs - spec.random, spec.inputs);
    }
    out.readout.offsets.push_back(out.readout.columns.size());
    first += static_cast<std::uint32_t>(sets.size());
    first_node += job_.data.graphs.num_nodes(which);
  }
  out.inputs = out.sets = messages.rows_in = messages.rows_out = first;
}

}  // namespace tyche::engine
