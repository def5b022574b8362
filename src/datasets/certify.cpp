#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "datasets/certificate.hpp"
#include "datasets/folds.hpp"
#include "datasets/tasks.hpp"
#include "datasets/tseitin.hpp"
#include "graph/patterns.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "support/said.hpp"

namespace tyche::datasets {

namespace {

/// The graphs of a file or folder one after another, and what its manifest says of them.
class LabelledGraphs {
 public:
  LabelledGraphs(const std::filesystem::path& path, std::optional<Format> format) {
    const GraphSource source = locate_graphs(path, format);
    const std::filesystem::path beside = source.path.parent_path() / "manifest.json";
    const bool folder = std::filesystem::is_directory(path);
    if (folder && std::filesystem::exists(beside)) manifest_ = read_manifest(beside);
    if (source.format == Format::gin) {
      reader_.emplace(source.path);
      total_ = reader_->count();
    } else {
      set_ = read_graphs(path, format);
      if (set_.labels.empty()) {
        throw InputError::at(path.string(), "", "graphs without labels, so there is nothing to certify them by");
      }
      total_ = set_.graphs.size();
    }
    if (total_ == 0) throw InputError::at(path.string(), "", "no graphs");
    if (manifest_ && manifest_->graphs.size() != total_) {
      throw InputError::at(beside.string(), "", "lists {} graphs, the data holds {}", manifest_->graphs.size(), total_);
    }
  }

  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] const std::optional<Manifest>& manifest() const { return manifest_; }
  [[nodiscard]] const GraphInfo* info(std::uint64_t graph) const {
    return manifest_ ? &manifest_->graphs[graph] : nullptr;
  }

  std::optional<LabelledGraph> next() {
    if (reader_) return reader_->next();
    if (next_ == set_.graphs.size()) return std::nullopt;
    LabelledGraph out{set_.graphs[next_], set_.labels[next_]};
    ++next_;
    return out;
  }

 private:
  std::optional<Manifest> manifest_;
  std::optional<GinReader> reader_;
  GraphSet set_;
  std::size_t next_ = 0;
  std::uint64_t total_ = 0;
};

constexpr std::size_t kChunk = 512;  // graphs in memory at a time

/// The base graphs of a ladder's pairs: how many there are up to isomorphism, and that folds share none.
struct BaseGraphs {
  std::uint32_t folds;  ///< 0: nothing is promised
  std::uint64_t pairs;
  std::map<std::string, std::uint32_t> fold_of_class{};

  void add(std::uint64_t pair, const std::string& name, std::vector<Failure>& failures) {
    const std::uint32_t fold = folds == 0 ? 0 : contiguous_fold(pair, pairs, folds);
    const auto [at, fresh] = fold_of_class.try_emplace(name, fold);
    if (at->second == fold) return;
    failures.push_back(
        {pair, "unseen",
         fmt::format("its base graph {} is in fold {} of {}, and also in fold {}", name, fold, folds, at->second)});
  }
};

/// Examines every `together` graphs on threads, and adds what was found in their order.
template <class Examine, class Add>
void examine_all(LabelledGraphs& graphs, std::size_t together, const char* what, const CertifyOptions& options,
                 const Examine& examine, const Add& add) {
  const std::uint64_t total = graphs.total() / together;
  Progress progress("certify", total, options.progress);
  for (std::uint64_t done = 0;;) {
    if (interrupted()) throw Interrupted("stopped after {} of {} {}", done, total, what);
    std::vector<LabelledGraph> some;
    while (some.size() < kChunk) {
      auto graph = graphs.next();
      if (!graph) break;
      some.push_back(*std::move(graph));
    }
    if (some.empty()) return;
    std::vector<decltype(examine(done, some.data()))> found(some.size() / together);
    parallel_for(found.size(), options.threads, [&](std::size_t i) {
      found[i] = examine(done + i, &some[i * together]);
      progress.add(1);
    });
    for (auto& one : found) add(done++, std::move(one));
  }
}

}  // namespace

CertifyOptions certify_options(const Said& said) {
  CertifyOptions options{
      .threads = said.threads(), .published = said.flag("published"), .higher = said.whole("higher")};
  const std::string format = said.word("format");
  if (!format.empty()) options.format = parse_format(format);
  return options;
}

Expectation expected_of(std::uint64_t pair, const CertifyOptions& options, const GraphInfo* info) {
  Expectation out{.subset = std::nullopt, .core = std::nullopt, .published = options.published};
  if (pair < options.higher.value_or(kHigherPairs)) out.higher = options.higher ? Higher::all : Higher::cheap;
  if (info == nullptr) return out;
  out.subset = info->subset;
  out.core = info->core;
  if (info->subset == Subset::tseitin) out.base_class = info->base_class;
  return out;
}

Certificate certify(const std::filesystem::path& path, const CertifyOptions& options) {
  LabelledGraphs graphs(path, options.format);
  const std::uint64_t total = graphs.total();
  if (total % 2 != 0) throw InputError::at(path.string(), "", "{} graphs do not make pairs", total);
  Certificate certificate;
  BaseGraphs bases{.folds = graphs.manifest() ? graphs.manifest()->unseen : 0, .pairs = total / 2};
  const auto examine = [&](std::uint64_t pair, const LabelledGraph* both) {
    return certify_pair(pair, both[0], both[1], expected_of(pair, options, graphs.info(2 * pair)));
  };
  examine_all(graphs, 2, "pairs", options, examine, [&](std::uint64_t pair, PairCertificate found) {
    const std::string base = found.tseitin ? found.tseitin->base_class : "";
    certificate.add(std::move(found));
    if (!base.empty()) bases.add(pair, base, certificate.failures);
  });
  if (certificate.tseitin.pairs > 0) certificate.base_classes = bases.fold_of_class.size();
  return certificate;
}

namespace {

/// Certifies graphs of circular skip links, one after another.
CslCertificate certify_csl(const std::filesystem::path& path, const CertifyOptions& options) {
  const auto reference = LabelledGraphs(path, options.format).next();
  LabelledGraphs graphs(path, options.format);
  CslCertificate certificate;
  const auto examine = [&](std::uint64_t g, const LabelledGraph* graph) {
    CslFacts facts = examine_csl(*graph, reference->graph);
    if (const GraphInfo* info = graphs.info(g)) facts.said_skip = info->skip;
    return facts;
  };
  examine_all(graphs, 1, "graphs", options, examine,
              [&](std::uint64_t, const CslFacts& facts) { certificate.add(facts); });
  return certificate;
}

/// examine(g) of all graphs, added to a certificate in their order.
template <class Examine>
TaskCertificate certify_each(const GraphSet& set, const CertifyOptions& options, std::optional<NodeTask> task,
                             const Examine& examine) {
  TaskCertificate certificate{.task = task};
  std::vector<std::string> details(set.graphs.size());
  Progress progress("certify", details.size(), options.progress);
  parallel_for(details.size(), options.threads, [&](std::size_t g) {
    if (interrupted()) throw Interrupted("stopped before all graphs were looked at");
    details[g] = examine(g);
    progress.add(1);
  });
  for (const std::string& detail : details) certificate.add(detail);
  return certificate;
}

}  // namespace

TaskCertificate certify_counting(const GraphSet& set, const CertifyOptions& options) {
  if (set.target_dim == 0) throw InputError::at(set.name, "", "expected targets to compare counts with");
  return certify_each(set, options, std::nullopt, [&](std::size_t g) {
    return examine_counting(set.graphs[g], std::span(set.targets).subspan(g * set.target_dim, set.target_dim));
  });
}

TaskCertificate certify_node_task(NodeTask task, const GraphSet& set, const CertifyOptions& options) {
  if (set.node_labels.empty()) throw InputError::at(set.name, "", "expected labels of nodes");
  return certify_each(set, options, task, [&](std::size_t g) {
    const auto labels = set.node_labels[g];
    return examine_node_task(task, set.graphs[g], {labels.begin(), labels.end()});
  });
}

AnyCertificate certify_any(const std::filesystem::path& path, const CertifyOptions& options) {
  const std::filesystem::path manifest = path / "manifest.json";
  if (std::filesystem::exists(manifest)) {
    const Manifest read = read_manifest(manifest);
    if (!read.graphs.empty() && read.graphs[0].subset >= Subset::counting) {
      const GraphSet set = load_dataset(path, options.format).set;
      if (read.graphs[0].subset == Subset::counting) return certify_counting(set, options);
      return certify_node_task(node_task_of(read.graphs[0].subset), set, options);
    }
  }
  bool csl = false;
  {
    LabelledGraphs graphs(path, options.format);
    const GraphInfo* info = graphs.info(0);
    const auto first = graphs.next();
    csl = info != nullptr ? info->subset == Subset::csl : first && looks_like_csl(first->graph);
  }
  if (csl) return certify_csl(path, options);
  return certify(path, options);
}

// ---- sums, and what they say

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExpTotals, labels_ok, unsat_exhaustive, planar_pairs, wl1_equal, wl2_distinct,
                                   non_isomorphic, corrupt_pairs, corrupt_minimal, width_violations, bridge_violations)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TseitinTotals, pairs, labels_parity, labels_solver, solver_tried, wl1_equal,
                                   wl2_equal, non_isomorphic, sets3_distinct, sets3_tried, wl3_distinct, wl3_tried)

namespace {

Node least_skip(const std::string& form, Node nodes) {
  for (Node skip = 2; 2 * skip < nodes; ++skip) {
    if (class_of(csl_graph(nodes, skip)) == form) return skip;
  }
  return 0;
}

nlohmann::json sums_of(const Certificate& c) {
  nlohmann::json out = nlohmann::json::object();
  if (c.tseitin.pairs == 0 || c.tseitin.pairs < c.pairs) out = static_cast<const ExpTotals&>(c);
  out["pairs"] = c.pairs;
  if (c.tseitin.pairs > 0) out["tseitin"] = c.tseitin;
  if (c.tseitin.pairs > 0 && c.base_classes) out["tseitin"]["base_classes"] = *c.base_classes;
  return out;
}

nlohmann::json sums_of(const CslCertificate& c) {
  nlohmann::json classes = nlohmann::json::array();
  for (const auto& [label, own] : c.classes) {
    classes.push_back({{"label", label}, {"skip", own.skip}, {"copies", own.copies}});
  }
  return {{"graphs", c.graphs},
          {"regular", c.regular},
          {"wl1_equal", c.wl1_equal},
          {"copies_ok", c.copies_ok},
          {"classes", classes}};
}

nlohmann::json sums_of(const TaskCertificate& c) {
  nlohmann::json out = {{"graphs", c.graphs}, {"right", c.right}};
  if (c.task) {
    out["task"] = name(*c.task);
  } else {
    for (const Pattern& pattern : parse_patterns(kUsualPatterns)) out["patterns"].push_back(pattern.name);
  }
  return out;
}

}  // namespace

void Certificate::add(PairCertificate pair) {
  ++pairs;
  std::ranges::move(pair.failures, std::back_inserter(failures));
  if (const auto& ladder = pair.tseitin) {
    ++tseitin.pairs;
    tseitin.labels_parity += ladder->parity_ok;
    tseitin.labels_solver += ladder->solver.value_or(false);
    tseitin.solver_tried += ladder->solver.has_value();
    tseitin.wl1_equal += pair.wl1_equal;
    tseitin.wl2_equal += !pair.wl2_distinct;
    tseitin.non_isomorphic += pair.non_isomorphic;
    tseitin.sets3_distinct += ladder->sets3.value_or(false);
    tseitin.sets3_tried += ladder->sets3.has_value();
    tseitin.wl3_distinct += ladder->wl3.value_or(false);
    tseitin.wl3_tried += ladder->wl3.has_value();
    return;
  }
  const bool corrupt = pair.subset == Subset::corrupt;
  labels_ok += pair.labels_ok;
  unsat_exhaustive += pair.exhaustive;
  planar_pairs += pair.planar && !corrupt;
  wl1_equal += pair.wl1_equal;
  wl2_distinct += pair.wl2_distinct;
  non_isomorphic += pair.non_isomorphic;
  corrupt_pairs += corrupt;
  corrupt_minimal += pair.corrupt_minimal;
  width_violations += pair.wide;
  bridge_violations += pair.labels_ok && !pair.bridgeless;
}

void CslCertificate::add(const CslFacts& facts) {
  const std::uint64_t graph = graphs++;
  const auto fail = [&](const char* property, std::string detail) {
    failures.push_back({graph, property, std::move(detail)});
  };
  regular += facts.regular ? 1 : 0;
  wl1_equal += facts.wl1_equal ? 1 : 0;
  if (!facts.wl1_equal) fail("1-wl", "1-WL tells this graph from the first");
  if (!facts.regular) {
    fail("regular", fmt::format("expected one piece of at most {} nodes, one node type and four neighbours per node",
                                kMaxCslNodes));
    return;
  }
  const auto [at, fresh] = classes.try_emplace(facts.label);
  Class& own = at->second;
  ++own.copies;
  if (fresh) own.form = facts.form;
  copies_ok += facts.form == own.form ? 1 : 0;
  if (facts.form != own.form) fail("copy", fmt::format("not isomorphic to the first graph with label {}", facts.label));
  if (fresh) {
    own.skip = least_skip(facts.form, facts.nodes);
    for (const auto& [label, other] : classes) {
      if (label != facts.label && other.form == own.form) {
        fail("class", fmt::format("isomorphic to the graphs with label {}, but has label {}", label, facts.label));
      }
    }
    if (own.skip == 0) fail("skip", "no cycle with chords of one length is isomorphic to this graph");
  }
  if (facts.said_skip && own.skip != 0 && *facts.said_skip != own.skip) {
    fail("skip", fmt::format("the manifest says skip {}, but this graph has skip {}", *facts.said_skip, own.skip));
  }
}

void TaskCertificate::add(const std::string& detail) {
  right += detail.empty() ? 1 : 0;
  if (!detail.empty()) failures.push_back({graphs, task ? "labels" : "counts", detail});
  ++graphs;
}

nlohmann::json to_json(const AnyCertificate& certificate) {
  const auto with_failures = [](const auto& kind) {
    nlohmann::json out = sums_of(kind);
    auto& list = out["failures"] = nlohmann::json::array();
    for (const Failure& f : kind.failures) {
      list.push_back({{kind.kOf, f.of}, {"property", f.property}, {"detail", f.detail}});
    }
    return out;
  };
  return std::visit(with_failures, certificate);
}

}  // namespace tyche::datasets
