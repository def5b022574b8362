"""A trained network in plain PyTorch: python3 model.py GRAPHS.jsonl prints a JSON line per graph. README.md has more."""
import itertools
import json
import pathlib
import struct
import sys
import warnings

import torch
from torch.nn import functional as F

warnings.filterwarnings("ignore", "scatter_reduce")  # it is no longer beta in later versions

# @CONSTANTS@


class Network(torch.nn.Module):
    """forward() takes a Graph and gives a row of outputs per @ROWS@."""

    SHAPES = {
        # @SHAPES@
    }
    RUNNING = ["@RUNNING@"]  # means and variances of batches, not learned

    def __init__(self):
        super().__init__()
        for name, shape in self.SHAPES.items():  # modules within modules, so that state_dict() has these names
            at, *path = self, *name.split(".")
            for part in path[:-1]:
                if not hasattr(at, part):
                    at.add_module(part, torch.nn.Module())
                at = getattr(at, part)
            if name in self.RUNNING:
                at.register_buffer(path[-1], torch.zeros(shape))
            else:
                at.register_parameter(path[-1], torch.nn.Parameter(torch.zeros(shape)))

    def forward(self, graph):
        p = {**dict(self.named_parameters()), **dict(self.named_buffers())}.__getitem__
        # @STEPS@


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
