#include "train/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/core/randomness.hpp"
#include "graph/patterns.hpp"
#include "nn/program.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/safetensors.hpp"
#include "support/version.hpp"
#include "train/objective.hpp"

namespace tyche::train {

namespace {

// What every model.py has, around the constants and the class that are the network's own.
constexpr const char* kBefore =
    R"py("""A trained network in plain PyTorch: python3 model.py GRAPHS.jsonl prints a JSON line per graph. README.md has more."""
import itertools
import json
import pathlib
import struct
import sys
import warnings

import torch
from torch.nn import functional as F

warnings.filterwarnings("ignore", "scatter_reduce")  # it is no longer beta in later versions

)py";

constexpr const char* kAfter = R"py(

def gather(rows, to, count, reduce):
    """What each of `count` rows reads: the sum, mean or maximum of the rows that go to it, 0 where none do."""
    out = rows.new_zeros(count, rows.shape[1])
    if reduce == "max":
        return out.scatter_reduce(0, to[:, None].expand_as(rows), rows, "amax", include_self=False)
    out = out.index_add(0, to, rows)
    if reduce == "mean":
        out = out / torch.bincount(to, minlength=count).clamp(min=1)[:, None].to(rows.dtype)
    return out


def one_hot(values, known, other):
    """A column per known value, and one more for all others where the network has it."""
    columns = len(known) + (1 if other and known else 0)
    rows = torch.zeros(len(values), columns)
    for row, value in zip(rows, values):
        if value in known:
            row[known.index(value)] = 1
        elif other and known:
            row[-1] = 1
    return rows


def scaled(rows, count, columns, scale):
    rows = torch.tensor(rows, dtype=torch.float32).reshape(count, columns)
    if not scale[0]:
        return rows
    return ((rows.double() - torch.tensor(scale[0], dtype=torch.float64)) / torch.tensor(scale[1], dtype=torch.float64)).float()


def placings(near, edges, size):
    """By node, how many one-to-one maps of a small graph that keep its edges have it in their image."""
    found, joined = [0] * len(near), [[u for u, v in edges if v == p] for p in range(size)]

    def place(at):
        if len(at) == size:
            for v in at:
                found[v] += 1
            return
        before = joined[len(at)]
        for v in near[at[before[0]]] if before else range(len(near)):
            if v not in at and all(v in near[at[u]] for u in before):
                place(at + [v])

    place([])
    return found


def copies(near, size, edges):
    """By node, how many copies of a small graph (edges [u, v], u < v) it is in."""
    own = [[u for e in edges for u in e if v in e and u != v] for v in range(size)]
    symmetries = placings(own, edges, size)[0]
    return [maps // symmetries for maps in placings(near, edges, size)]


class Graph:
    """What the network sees of a graph: a line of GRAPHS.jsonl, parsed."""

    def __init__(self, item):
        nodes = item["nodes"]
        rows = [v if isinstance(v, list) else [v] for v in nodes] if isinstance(nodes, list) else [[0]] * nodes
        self.node_types = [row[0] for row in rows]
        self.n = n = len(rows)
        labels, places, more, self.weights = {}, {}, {}, None
        for place, edge in enumerate(item["edges"]):
            u, v = edge[:2]
            labels[u, v] = labels[v, u] = edge[2] if len(edge) > 2 and EDGES else 0
            more[u, v] = more[v, u] = edge[3:]
            places.setdefault((u, v), place)
            places.setdefault((v, u), place)
        self.labels = labels
        self.near = [sorted(u for u in range(n) if (v, u) in labels) for v in range(n)]
        arcs = [(v, u) for v in range(n) for u in self.near[v]]
        self.arc_from = torch.tensor([v for v, _ in arcs], dtype=torch.long)
        self.arc_to = torch.tensor([u for _, u in arcs], dtype=torch.long)
        self.ends = [arc for arc in arcs if arc[0] < arc[1]]
        if WEIGHTED:
            given = item.get("weight", [1.0] * len(item["edges"]))
            self.weights = torch.tensor([given[places[arc]] for arc in arcs], dtype=torch.float32).reshape(-1, 1)
        self.features = torch.cat([one_hot([row[c] for row in rows], known, OTHER)
                                   for c, known in enumerate([TYPES, *CATEGORIES])], 1)
        if ATTRIBUTES or COUNTS:
            own = torch.tensor(item["attributes"] if ATTRIBUTES else [], dtype=torch.float32).reshape(n, ATTRIBUTES)
            counted = torch.tensor([copies(self.near, *pattern) for pattern in COUNTS], dtype=torch.float32)
            both = torch.cat([own, counted.reshape(len(COUNTS), n).T], 1).tolist()
            self.features = torch.cat([self.features, scaled(both, n, ATTRIBUTES + len(COUNTS), NODE_SCALE)], 1)
        if self.features.shape[1] == 0:
            self.features = torch.ones(n, 1)
        self.edges = torch.cat([one_hot([labels[arc] for arc in arcs], EDGE_LABELS, OTHER)] + [
            one_hot([more[arc][c] for arc in arcs], known, OTHER) for c, known in enumerate(EDGE_CATEGORIES)], 1)
        if EDGE_ATTRIBUTES:
            rows = scaled(item["edge_attributes"], len(item["edges"]), EDGE_ATTRIBUTES, EDGE_SCALE)
            self.edges = torch.cat([self.edges, rows[[places[arc] for arc in arcs]]], 1)
        self.adjacency = torch.zeros(n * n, 1)
        self.adjacency[self.arc_from * n + self.arc_to] = 1
        self.random = None
        if RANDOM:
            if "random" in item:
                self.random = torch.tensor(item["random"], dtype=torch.float32).reshape(n, RANDOM)
            elif DISTRIBUTION is None:
                raise SystemExit("model.py: this network has random marks or colours: every graph needs a key \"random\"")
            elif DISTRIBUTION[0] == "normal":
                self.random = torch.randn(n, RANDOM) * DISTRIBUTION[1]
            else:
                self.random = (2 * torch.rand(n, RANDOM) - 1) * DISTRIBUTION[1]
        self.sets = {}
        self.roots = sorted(torch.randperm(n)[:ROOTS].tolist()) if 0 < ROOTS < n else list(range(n))
        self.place = {u: i for i, u in enumerate(self.roots)}
        self.arc_at = {arc: i for i, arc in enumerate(arcs)}

    def distance(self, columns):
        """Steps from each root to each node, one-hot; the last column: so many or more, or no way."""
        rows = torch.zeros(len(self.roots) * self.n, columns, dtype=self.features.dtype)
        for i, u in enumerate(self.roots):
            steps, reached = {u: 0}, [u]
            for v in reached:
                for w in self.near[v]:
                    if w not in steps:
                        steps[w] = steps[v] + 1
                        reached.append(w)
            for v in range(self.n):
                rows[i * self.n + v, min(steps.get(v, columns), columns - 1)] = 1
        return rows

    def set_list(self, space):
        """The sets of a space in order, and where each stands."""
        if space not in self.sets:
            k, joined = int(space[-1]), lambda u, v: (u, v) in self.labels
            every = itertools.combinations(range(self.n), k)
            if space.startswith("connected"):
                every = (s for s in every if sum(joined(u, v) for u, v in itertools.combinations(s, 2)) >= k - 1)
            every = list(every)
            self.sets[space] = every, {s: i for i, s in enumerate(every)}
        return self.sets[space]

    def set_type(self, s):
        """The isomorphism type of a set: the least code over the orders of its nodes."""
        code = lambda u, v: self.labels[u, v] + 1 if (u, v) in self.labels else 0
        labelled = any(code(u, v) > 1 for u, v in itertools.combinations(s, 2))
        least = None
        for order in itertools.permutations(s):
            of_type, of_edge = (20, 1) if not labelled else (12, 9) if len(s) == 3 else (20, 23)
            own = 0
            for v in order:
                own = own << of_type | self.node_types[v]
            for u, v in itertools.combinations(order, 2):
                own = own << of_edge | (code(u, v) if labelled else min(1, code(u, v)))
            least = own if least is None else min(least, own)
        return least | (1 << 63 if labelled else 0)

    def types(self, space, known):
        return one_hot([self.set_type(s) for s in self.set_list(space)[0]], known, False).to(self.features.dtype)

    def rows(self, space):
        if space in ("graph", "node"):
            return 1 if space == "graph" else self.n
        if space in ("pair", "root"):
            return len(self.roots) * (self.n if space == "pair" else 1)
        if space in ("arc", "edge"):
            return len(self.arc_to if space == "arc" else self.ends)
        return len(self.set_list(space)[0])

    def link(self, link, of, to):
        """Which rows of `to` (first) read which of `of` (second)."""
        n, pairs = self.n, to == "pair"
        if link == "neighbours" and to == "node":
            return self.arc_from, self.arc_to
        if link == "arcs":
            return self.arc_from, torch.arange(len(self.arc_to))
        if link in ("neighbours", "members"):
            every, places = self.set_list(to)
            if link == "members":
                both = [(i, v) for i, s in enumerate(every) for v in s]
            else:
                both = [(i, places[t]) for i, s in enumerate(every) for u in s for w in self.near[u] if w not in s
                        for t in [tuple(sorted({*s, w} - {u}))] if t in places]
        elif link in ("second", "first"):
            both = [(i * n + v, i * n + w if link == "second" else self.place[w] * n + v) for i, v, w, _ in self.paths(link)]
        elif link in ("by-root", "by-node"):
            both = [(i * n + v, i if link == "by-root" else v) for i in range(len(self.roots)) for v in range(n)]
            both = both if pairs else [(b, a) for a, b in both]
        elif link in ("straight", "turned"):
            both = [(a, arc if link == "straight" else arc[::-1]) for arc, a in self.arc_at.items()]
            both = [(a, self.place[u] * n + v) for a, (u, v) in both if u in self.place]
        elif link == "ends":
            at = (lambda u, v: self.place[u] * n + v) if of == "pair" else lambda u, v: u
            both = [(e, at(*one)) for e, (u, v) in enumerate(self.ends) for one in ((u, v), (v, u))]
        elif link == "sized":
            both = [(row, row) for row in range(self.rows(of)) for _ in range(n)]
        elif link == "whole" and of == "graph":
            both = [(row, 0) for row in range(self.rows(to))]
        elif link == "on-diagonal":
            both = [(v * n + v, v) if pairs else (v, v * n + v) for v in range(n)]
        elif link == "diagonal":
            both = [(0, v * n + v) for v in range(n)]
        elif link == "rest":
            both = [(0, pair) for pair in range(n * n) if pair // n != pair % n]
        else:
            both = [(0, row) for row in range(self.rows(of))]
        both = torch.tensor(both, dtype=torch.long).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def paths(self, link):
        """Root, node, neighbour in the second or first place, and the arc to it."""
        for i, u in enumerate(self.roots):
            for v in range(self.n):
                for w in self.near[v if link == "second" else u]:
                    if link == "second" or w in self.place:
                        yield i, v, w, self.arc_at[v if link == "second" else u, w]

    def factor(self, link, of, reduce):
        """Where roots are drawn, a sum over them stands for one over all."""
        n, k = self.n, len(self.roots)
        if reduce != "sum" or k == n:
            return 1
        return (n - 1) / max(k - 1, 1) if link == "first" else n / k if (link, of) == ("by-node", "pair") else 1

    def weighed(self, rows, link, to):
        return rows * self.weights if WEIGHTED and to == "node" and link in ("neighbours", "arcs") else rows

    def read(self, value, link, reduce, of, to):
        at, rows = self.link(link, of, to)
        return gather(self.weighed(value[rows], link, to), at, self.rows(to), reduce) * self.factor(link, of, reduce)

    def messages(self, value, arcs, activation, link, reduce, space):
        at, rows = self.link(link, space, space)
        if link != "neighbours":
            arcs = arcs[torch.tensor([a for *_, a in self.paths(link)], dtype=torch.long)]
        return gather(self.weighed(activation(value[rows] + arcs), link, space), at, self.rows(space), reduce) * self.factor(link, space, reduce)

    def product(self, a, b):
        n = self.n
        return torch.einsum("uwc,wvc->uvc", a.view(n, n, -1), b.view(n, n, -1)).reshape(n * n, -1)

    def to(self, dtype):
        for name in ("features", "edges", "adjacency", "random", "weights"):
            if getattr(self, name) is not None:
                setattr(self, name, getattr(self, name).to(dtype))
        return self


def read_safetensors(path):
    """The tensors of a file by name; the format is 8 bytes of length, a JSON header, and the numbers."""
    content = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + size])
    out = {}
    for name, entry in header.items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            part = bytearray(content[8 + size + first:8 + size + last])
            out[name] = torch.frombuffer(part, dtype=torch.float32).reshape(entry["shape"])
    return out


def load(folder=pathlib.Path(__file__).parent):
    """The trained network."""
    network = Network()
    network.load_state_dict(read_safetensors(pathlib.Path(folder) / "weights.safetensors"))
    return network.eval()


def main(path):
    network = load().double()
    with open(path, encoding="utf-8") as lines, torch.no_grad():
        for line in lines:
            if not line.strip():
                continue
            out = network(Graph(json.loads(line)).to(torch.float64))
            each = lambda rows: rows[0] if UNIT == "graph" else rows
            if BINARY:
                print(json.dumps({"values": each(torch.sigmoid(out).tolist())}))
            elif TARGET_SCALE is not None:
                mean, deviation = (torch.tensor(own, dtype=torch.float64) for own in TARGET_SCALE)
                print(json.dumps({"values": each((out * deviation + mean).tolist())}))
            else:
                labels = [LABELS[int(row)] for row in out.argmax(1)]
                print(json.dumps({"label": each(labels), "logits": each(out.tolist())}))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python3 model.py GRAPHS.jsonl")
    main(sys.argv[1])
)py";

/// The network as a class: a line per step.
class PythonWriter {
 public:
  explicit PythonWriter(const nn::Program& program) : program_(program) {}

  [[nodiscard]] std::string text() const {
    std::string out = fmt::format(
        "\nclass Network(torch.nn.Module):\n"
        "    \"\"\"forward() takes a Graph and gives a row of outputs per {}.\"\"\"\n\n"
        "    SHAPES = {{\n",
        nn::name(program_.steps.back().space));
    std::vector<std::string> running;
    for (const nn::Tensor& tensor : program_.parameters.tensors) {
      out += fmt::format("        {}: {},\n", quoted(tensor.name), nlohmann::json(tensor.shape).dump());
      if (tensor.running) running.push_back(tensor.name);
    }
    out +=
        "    }\n"
        "    RUNNING = " +
        nlohmann::json(running).dump() +
        "  # means and variances of batches, not learned\n\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        for name, shape in self.SHAPES.items():  # modules within modules, so that state_dict() has these "
        "names\n"
        "            at, *path = self, *name.split(\".\")\n"
        "            for part in path[:-1]:\n"
        "                if not hasattr(at, part):\n"
        "                    at.add_module(part, torch.nn.Module())\n"
        "                at = getattr(at, part)\n"
        "            if name in self.RUNNING:\n"
        "                at.register_buffer(path[-1], torch.zeros(shape))\n"
        "            else:\n"
        "                at.register_parameter(path[-1], torch.nn.Parameter(torch.zeros(shape)))\n\n"
        "    def forward(self, graph):\n"
        "        p = {**dict(self.named_parameters()), **dict(self.named_buffers())}.__getitem__\n";
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      out += fmt::format("        v{} = {}  # {}\n", s, value_of(program_.steps[s]), program_.steps[s].name);
    }
    return out + fmt::format("        return v{}\n", program_.steps.size() - 1);
  }

 private:
  static std::string quoted(std::string_view text) { return nlohmann::json(std::string(text)).dump(); }
  [[nodiscard]] std::string tensor(std::size_t index) const {
    return fmt::format("p({})", quoted(program_.parameters.tensors[index].name));
  }
  [[nodiscard]] std::string read(const nn::Term& term, nn::Space to) const {
    if (term.link == nn::Link::own) return fmt::format("v{}", term.value);
    return fmt::format("graph.read(v{}, \"{}\", \"{}\", \"{}\", \"{}\")", term.value, nn::name(term.link),
                       nn::name(term.reduce), nn::name(program_.steps[term.value].space), nn::name(to));
  }
  [[nodiscard]] static std::string function(nn::Activation activation) {
    return fmt::format("{}.{}", activation == nn::Activation::tanh ? "torch" : "F", nn::name(activation));
  }
  [[nodiscard]] static std::string activation(nn::Activation activation, const std::string& of) {
    return fmt::format("{}({})", function(activation), of);
  }
  [[nodiscard]] static std::string values(const nn::Step& step, const char* between) {
    std::vector<std::string> names;
    for (const nn::Term& term : step.terms) names.push_back(fmt::format("v{}", term.value));
    return fmt::format("{}", fmt::join(names, between));
  }
  [[nodiscard]] static std::string input(const nn::Step& step) {
    if (step.source == nn::Source::types) {
      return fmt::format("graph.types(\"{}\", {})", nn::name(step.space), nlohmann::json(step.types).dump());
    }
    if (step.source == nn::Source::distance) return fmt::format("graph.distance({})", step.columns);
    return fmt::format("graph.{}", step.source == nn::Source::drawn ? "random" : nn::name(step.source));
  }
  [[nodiscard]] std::string value_of(const nn::Step& step) const {
    const std::string first = step.terms.empty() ? "" : fmt::format("v{}", step.terms.front().value);
    switch (step.operation) {
      case nn::Operation::input:
        return input(step);
      case nn::Operation::linear: {
        std::vector<std::string> terms;
        for (const nn::Term& term : step.terms) {
          terms.push_back(fmt::format("{} @ {}.T", read(term, step.space), tensor(term.weight)));
        }
        if (step.bias != nn::kNone) terms.push_back(tensor(step.bias));
        return fmt::format("{}", fmt::join(terms, " + "));
      }
      case nn::Operation::aggregate: {
        const nn::Term& term = step.terms.front();
        std::string out = read(term, step.space);
        if (step.arcs != nn::kNone) {
          out =
              fmt::format("graph.messages({}, v{}, {}, \"{}\", \"{}\", \"{}\")", first, step.arcs,
                          function(step.activation), nn::name(term.link), nn::name(term.reduce), nn::name(step.space));
        }
        const std::string own = step.onto == nn::kNone ? first : fmt::format("v{}", step.onto);
        if (step.epsilon != nn::kNone) return fmt::format("{} + (1 + {}) * {}", out, tensor(step.epsilon), own);
        return step.onto == nn::kNone ? out : fmt::format("{} + {}", own, out);
      }
      case nn::Operation::normalise: {  // as in tests: by what batches were like in training
        const std::string ends = fmt::format("{}, {}", tensor(step.terms.front().weight), tensor(step.bias));
        if (step.norm == nn::Norm::layer) {
          return fmt::format("F.layer_norm({}, [{}], {}, {})", first, step.columns, ends, nn::kNormEpsilon);
        }
        return fmt::format("F.batch_norm({}, {}, {}, {}, False, 0.1, {})", first, tensor(step.mean),
                           tensor(step.variance), ends, nn::kNormEpsilon);
      }
      case nn::Operation::product:
        return fmt::format("graph.product({})", values(step, ", "));
      case nn::Operation::concat:
        return fmt::format("torch.cat([{}], 1)", values(step, ", "));
      case nn::Operation::add:
        return values(step, " + ");
      case nn::Operation::activate:
        return activation(step.activation, first);
      case nn::Operation::dropout:
        return fmt::format("F.dropout({}, {}, self.training)", first, step.share);
    }
    return first;
  }

  const nn::Program& program_;
};

/// How one random feature is drawn: its distribution, and what the number is multiplied with.
std::string distribution_of(const nn::ModelConfig& model) {
  if (model.random_dims() == 0) return "None";
  const bool normal =
      model.distribution == nn::Distribution::normal || model.distribution == nn::Distribution::xavier_normal;
  return fmt::format("(\"{}\", {})", normal ? "normal" : "uniform", engine::feature_scale(model));
}

std::string constants(const Checkpoint& checkpoint) {
  const RunConfig& config = checkpoint.config;
  const FeatureSpec& spec = config.data.features;
  const auto list = [](const auto& values) { return nlohmann::json(values).dump(); };
  const auto scale = [&](const engine::Standard& own) {
    return fmt::format("({}, {})", list(own.mean), list(own.deviation));
  };
  std::string out = "# What the network was trained on.\n";
  const auto add = [&](const char* name, const std::string& value, const char* why) {
    out += fmt::format("{} = {}  # {}\n", name, value, why);
  };
  add("TYPES", list(spec.types), "node types, a column each");
  const auto lists = [&](std::vector<std::vector<std::uint32_t>> own) {
    for (auto& values : own) values.resize(values.size() > 1 ? values.size() : 0);  // one value says nothing
    return list(own);
  };
  add("CATEGORIES", lists(spec.categories), "of every column beside the type the values, a column each");
  add("ATTRIBUTES", std::to_string(spec.attributes), "columns of numbers per node, behind those");
  auto counts = nlohmann::json::array();
  for (const Pattern& pattern : spec.counts.empty() ? std::vector<Pattern>{} : parse_patterns(spec.counts)) {
    counts.push_back({pattern.graph.num_nodes(), pattern.graph.edges()});
  }
  add("COUNTS", counts.dump(), "small graphs (nodes, edges): how many copies a node is in, a column each behind those");
  add("NODE_SCALE", scale(checkpoint.scale.nodes), "their means and deviations in training; none: as they are");
  add("EDGES", spec.edges ? "True" : "False", "whether edges' labels and attributes are looked at");
  add("EDGE_LABELS", list(spec.edge_labels), "a column each");
  add("EDGE_CATEGORIES", lists(spec.edge_categories), "as CATEGORIES");
  add("EDGE_ATTRIBUTES", std::to_string(spec.edges ? spec.edge_attributes : 0), "columns of numbers per edge");
  add("EDGE_SCALE", scale(checkpoint.scale.edges), "as NODE_SCALE");
  add("OTHER", spec.other ? "True" : "False", "one more column for types and labels that training did not see");
  add("RANDOM", std::to_string(config.model.random_dims() + config.model.drawn_columns()), "random columns per node");
  add("DISTRIBUTION", distribution_of(config.model), "of random features: how they are drawn, and their scale");
  add("ROOTS", std::to_string(config.model.eval_roots), "nodes u of pairs (u, v), drawn afresh; 0: all");
  add("UNIT", fmt::format("\"{}\"", name(config.model.unit)), "what has a value");
  add("WEIGHTED", spec.weighted ? "True" : "False", "whether messages are multiplied by the edges' weights");
  add("LABELS", list(config.data.labels), "what the outputs are called");
  add("BINARY", learns_bits(config) ? "True" : "False", "whether outputs are logits of a 1, each by itself");
  if (!learns_numbers(config)) {
    add("TARGET_SCALE", "None", "outputs are logits");
  } else if (checkpoint.standard.mean.empty()) {
    const std::vector<double> zeros(config.model.classes, 0.0), ones(config.model.classes, 1.0);
    add("TARGET_SCALE", fmt::format("({}, {})", list(zeros), list(ones)), "outputs are the targets");
  } else {
    add("TARGET_SCALE", scale(checkpoint.standard), "targets are output * deviation + mean");
  }
  return out;
}

std::string readme(const Checkpoint& checkpoint) {
  const nn::ModelConfig& model = checkpoint.config.model;
  std::string random;
  if (model.drawn_columns() > 0) {
    random = fmt::format(
        "\nIts input has {} columns per node that are drawn at random ({}): give them as the key `random`, a list with "
        "a "
        "list\nof {} numbers per node. `tyche.random_columns` (Python) draws them as training did.\n",
        model.drawn_columns(), nn::name(model.random), model.drawn_columns());
  } else if (model.random_dims() > 0) {
    random = fmt::format(
        "\nIts input has {} random features per node ({}). They are drawn afresh for every graph, from PyTorch's\n"
        "generator, unless a graph has the key `random`: a list with a list of {} numbers per node. Answers are meant "
        "to "
        "be\naveraged over several draws.\n",
        model.random_dims(), nn::name(model.distribution), model.random_dims());
  }
  return fmt::format(
      "# A trained network\n"
      "{}, {} parameters, fold {} after {} epochs; written by tyche {}.\n\n"
      "- `model.py`: the network as a class `Network(torch.nn.Module)`; it needs Python and PyTorch (1.13 or later), "
      "and\n"
      "  nothing else\n"
      "- `weights.safetensors`: its parameters by the names of `Network().state_dict()`\n\n"
      "```sh\npython3 model.py GRAPHS.jsonl\n```\n"
      "prints a JSON line per graph: {}{}. A line of GRAPHS.jsonl is a graph:\n\n"
      "    {{\"nodes\": [6, 6, 8], \"edges\": [[0, 1, 0], [1, 2, 1]]}}\n\n"
      "`nodes` is the list of the nodes' types (or of lists of categories), or their number; `edges` are `[u, v]` or\n"
      "`[u, v, label]` (or with more categories behind the label); `attributes` and `edge_attributes` have a list of\n"
      "numbers per node and per edge, `weight` a number per edge, where the network was trained with such. In Python:\n"
      "`model.load()(model.Graph(line))` is a row of outputs per {}.\n{}",
      model.kind, nn::layout(model).learned(), checkpoint.fold, checkpoint.state.epoch, kVersion,
      learns_bits(checkpoint.config)      ? "its `values`, the chance of a 1 in each column"
      : learns_numbers(checkpoint.config) ? "its `values` in the targets' unit"
                                          : "its `label`, and the `logits` of all",
      model.unit == Unit::graph ? "" : fmt::format(", a list with an entry per {}", name(model.unit)), name(model.unit),
      random);
}

}  // namespace

void export_model(const Checkpoint& checkpoint, const std::filesystem::path& folder) {
  const nn::ModelConfig& model = checkpoint.config.model;
  std::error_code unknown;
  if (std::filesystem::exists(folder, unknown) && !std::filesystem::is_empty(folder, unknown)) {
    throw IoError(fmt::format("{}: is there already; a network is written to a new folder", folder.string()));
  }
  std::filesystem::create_directories(folder, unknown);
  if (unknown) throw IoError::from_errno(folder.string(), "make", unknown.value());
  const nn::Program program = nn::program(model);
  TensorFile weights;
  weights.metadata["format"] = "pt";
  for (const nn::Tensor& tensor : program.parameters.tensors) {
    weights.add(tensor.name, tensor.shape,
                std::span<const float>(checkpoint.state.parameters).subspan(tensor.offset, tensor.size));
  }
  weights.write(folder / "weights.safetensors");
  write_file(folder / "model.py", kBefore + constants(checkpoint) + "\n" + PythonWriter(program).text() + kAfter);
  write_file(folder / "README.md", readme(checkpoint));
}

}  // namespace tyche::train
