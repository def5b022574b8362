#!/usr/bin/env python3
"""Writes the golden files: small cases computed by PyTorch, as oracles that share no code with tyche.

    tests/golden/make.py [OUTDIR] [SEED] [CASE ...]       # all cases, or those named; tests/data/golden was made with 7

Needs PyTorch (Debian: apt-get install python3-torch libopenblas0-pthread, then /usr/bin/python3 tests/golden/make.py).
GraphConv and the pools of gcn*, gcn3 and gcn123* are PyTorch Geometric's where that is installed (pip install
torch_geometric), else the plain ones below; the ppgn cases never need it. The files in tests/data/golden that have no
"_mean", "_sum" or "_rni50" after gcn123 or ppgn, and no gin, sage, marks, colours, edges or optimisers in their names, were
made with PyTorch Geometric.

Each case is one safetensors file. Tensors:
  graph.*     the batch: node_type, batch (graph of each node), edge_index (2 x E, both directions), y; where edges have
              features edge_attr (E x columns, the same in both directions); of real targets also target (graphs x
              outputs, NaN: missing)
  in.*        what the network is fed besides the graphs (random_features where a model has them: pinned, no RNG enters)
  init.NAME   parameters before training, NAME as in the PyTorch state_dict
  out.logits, out.loss            forward pass, dropout off, mean loss over the batch (cross-entropy unless metadata say)
  grad.NAME   gradient of the loss
  adam1.NAME, adam5.NAME          parameters after 1 and 5 Adam steps on this same batch (lr in metadata, torch defaults)
Cases on sets of nodes also carry the structures they pass messages on (set2.*, set3.*). Cases with marks or colours pin
nothing: they name a draw (draw_seed, draw_index, draw_fold, draw_epoch), paths.py draws it from there, and draw.rank and
draw.mark (one number per node) say what it drew.
gcn_optimisers has the parameters after eight steps of AdamW: clip.NAME, adamw.NAME, constants.NAME, cosine.NAME,
all.NAME, the rates of those steps (rates.*), and the rates that ReduceLROnPlateau makes of in.losses (rates.plateau).
Metadata (strings): model, width, layers, random_dims, activation, readout, lr, seed, torch and pyg versions; of a draw
also random, depth and the two words of its key (key_lo, key_hi); of another loss than cross-entropy its name (loss:
squared, absolute, huber, binary), of weighted classes their weights (class_weights: "0.5,2").
"""
import copy, itertools, json, struct, sys

import paths

try:
    import torch, torch.nn.functional as F
except ImportError as error:
    sys.exit(f"make.py: PyTorch is needed to make golden cases ({error}); on Debian: "
             "apt-get install python3-torch libopenblas0-pthread, and run this with /usr/bin/python3")
try:
    import torch_geometric
    from torch_geometric.nn import GraphConv, global_max_pool
    PYG = torch_geometric.__version__
except ImportError:
    PYG = "none: GraphConv in plain torch"

    class GraphConv(torch.nn.Module):
        """lin_rel of the mean over the neighbours (0 where there are none), plus lin_root of the row itself."""
        def __init__(self, i, o, aggr):
            super().__init__()
            assert aggr == "mean"
            self.lin_rel, self.lin_root = torch.nn.Linear(i, o), torch.nn.Linear(i, o, bias=False)

        def forward(self, x, edge_index):  # messages go from edge_index[0] to edge_index[1]
            source, target = edge_index
            total = torch.zeros_like(x).index_add(0, target, x[source])
            degree = torch.zeros(len(x)).index_add(0, target, torch.ones(len(target))).clamp(min=1)
            return self.lin_rel(total / degree[:, None]) + self.lin_root(x)

    def global_max_pool(x, batch, size):
        return torch.stack([F.pad(x[batch == g], (0, 0, 0, int(not (batch == g).any()))).max(0)[0] for g in range(size)])  # of none: 0


def random_batch(count, low, high, p=0.35):
    src, dst, batch, types, off = [], [], [], [], 0
    for g in range(count):
        n = int(torch.randint(low, high + 1, ()))
        for u, v in itertools.combinations(range(n), 2):
            if torch.rand(()) < p: src += [off + u, off + v]; dst += [off + v, off + u]
        types += torch.randint(0, 2, (n,)).tolist(); batch += [g] * n; off += n
    y = torch.randint(0, 2, (count,))
    return dict(node_type=torch.tensor(types), batch=torch.tensor(batch), edge_index=torch.tensor([src, dst]), y=y)


def with_edge_features(g, labels, attributes):
    """The batch with features on its edges: a label one-hot, and numbers behind it; the same in both directions."""
    ends = g["edge_index"].t().tolist()
    rows = {(u, v): torch.cat([F.one_hot(torch.randint(0, labels, ()), labels).float(), torch.randn(attributes)])
            for u, v in ends if u < v}
    return g | dict(edge_attr=torch.stack([rows[min(e), max(e)] for e in map(tuple, ends)]))


def batch_of(graphs):
    """The batch of graphs given as (types, edges). Labels are 1 but for the last: with balanced ones the gradient of the
    last bias nearly cancels, and half precision's rounding of it would look large."""
    src, dst, batch, types, off = [], [], [], [], 0
    for g, (own, edges) in enumerate(graphs):
        for u, v in edges: src += [off + u, off + v]; dst += [off + v, off + u]
        types += own; batch += [g] * len(own); off += len(own)
    y = torch.tensor([1] * (len(graphs) - 1) + [0])
    return dict(node_type=torch.tensor(types), batch=torch.tensor(batch), edge_index=torch.tensor([src, dst]), y=y)


def alike_graphs():
    """Graphs of 6 to 9 nodes with several nodes of one stable colour. In the cube, K3,3 and the triangles such nodes can be
    mapped to one another, and all draws look the same to a network; in the rings of two lengths and the diamonds joined to a
    ring they cannot, so that another draw is another answer."""
    def ring(n, off=0): return [(off + v, off + (v + 1) % n) for v in range(n)]
    cube = [(u, v) for u, v in itertools.combinations(range(8), 2) if u ^ v in (1, 2, 4)]
    sides = [(u, v) for u in range(0, 6, 2) for v in range(1, 6, 2)]
    diamonds = ring(8) + [(0, 2), (1, 3), (4, 6), (5, 7)]
    return [([0] * 7, ring(3) + ring(4, 3)), ([1] * 9, ring(6) + ring(3, 6)), ([0] * 8, cube), ([1, 0] * 3, sides),
            ([0] * 9, ring(4) + ring(5, 4)), ([1] * 8, diamonds),
            ([0, 1, 0] + [0] * 6, ring(3) + ring(3, 3) + ring(3, 6))]  # needs more than the four choices of one Philox block


def drawn_paths(g, key, depth):
    """Of every node, numbered through: its rank at the end of its graph's path, and its mark (0: none)."""
    near = [[] for _ in g["batch"]]
    for u, v in g["edge_index"].t().tolist(): near[u].append(v)
    rank, mark = [], []
    for k in range(len(g["y"])):
        nodes = (g["batch"] == k).nonzero().flatten().tolist()
        chosen, ranks = paths.path(g["node_type"][nodes].tolist(), [[w - nodes[0] for w in near[v]] for v in nodes], key, k, depth)
        rank += ranks; mark += [chosen.index(v) + 1 if v in chosen else 0 for v in range(len(nodes))]
    return torch.tensor(rank), torch.tensor(mark)


def conv(i, o): return GraphConv(i, o, aggr="mean")


class EdgeConv(torch.nn.Module):
    """GraphConv with edge features: messages lin_rel(x_u) + lin_edge(e_uv), their mean or sum, plus lin_root of the row
    itself. Every message is made and then aggregated, as a MessagePassing of PyTorch Geometric would; the bias of lin_rel
    stands outside of the aggregation, as in GraphConv."""
    def __init__(self, i, o, edge_columns, aggr):
        super().__init__()
        self.lin_rel, self.lin_root = torch.nn.Linear(i, o), torch.nn.Linear(i, o, bias=False)
        self.lin_edge, self.aggr = torch.nn.Linear(edge_columns, o, bias=False), aggr

    def forward(self, x, edge_index, edge_attr):
        source, target = edge_index
        message = F.linear(x[source], self.lin_rel.weight) + self.lin_edge(edge_attr)
        total = torch.zeros(len(x), message.shape[1]).index_add(0, target, message)
        degree = torch.zeros(len(x)).index_add(0, target, torch.ones(len(target))).clamp(min=1)
        return (total / degree[:, None] if self.aggr == "mean" else total) + self.lin_rel.bias + self.lin_root(x)


class Head(torch.nn.Module):  # fc1 (ELU) -> fc2 (ELU) -> fc3, on a pooled graph vector; dropout is off in golden cases
    def __init__(self, width, hidden):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = torch.nn.Linear(width, hidden), torch.nn.Linear(hidden, 32), torch.nn.Linear(32, 2)

    def forward(self, x): return self.fc3(F.elu(self.fc2(F.elu(self.fc1(x)))))


class Gcn(torch.nn.Module):
    def __init__(self, width, layers, random_dims, act, drawn_columns=0):
        super().__init__()
        det = width - random_dims
        self.pre = torch.nn.ModuleList([conv(2 + drawn_columns, 32), conv(32, det)] if det else [])
        self.convs = torch.nn.ModuleList([conv(width, width) for _ in range(layers)])
        self.head, self.act = Head(width, width), act

    def forward(self, g, x_rand, drawn=None):
        parts = []
        if len(self.pre):
            x = F.one_hot(g["node_type"], 2).float()
            if drawn is not None: x = torch.cat([x, drawn], 1)
            for c in self.pre: x = self.act(c(x, g["edge_index"]))
            parts.append(x)
        if x_rand is not None: parts.append(x_rand)
        x = torch.cat(parts, 1)  # deterministic dimensions first, random ones after them
        for c in self.convs: x = self.act(c(x, g["edge_index"]))
        return self.head(global_max_pool(x, g["batch"], len(g["y"])))


class EdgeGcn(torch.nn.Module):
    def __init__(self, width, layers, random_dims, edge_columns, aggr, readout):
        super().__init__()
        det, conv = width - random_dims, lambda i, o: EdgeConv(i, o, edge_columns, aggr)
        self.pre = torch.nn.ModuleList([conv(2, 32), conv(32, det)] if det else [])
        self.convs = torch.nn.ModuleList([conv(width, width) for _ in range(layers)])
        self.head, self.readout = Head(width, width), readout

    def forward(self, g, x_rand):
        x, ends, e = F.one_hot(g["node_type"], 2).float(), g["edge_index"], g["edge_attr"]
        for c in self.pre: x = F.elu(c(x, ends, e))
        x = torch.cat(([x] if len(self.pre) else []) + ([] if x_rand is None else [x_rand]), 1)
        for c in self.convs: x = F.elu(c(x, ends, e))
        size = len(g["y"])
        if self.readout == "max": return self.head(global_max_pool(x, g["batch"], size))
        return self.head(torch.stack([x[g["batch"] == k].mean(0) for k in range(size)]))


def sets(g, k, connected):
    """All k-node sets (or those inducing a connected subgraph) of every graph, lexicographic within a graph; their
    isomorphism class id; the local neighbourhood: replace one node by one of its graph neighbours, result a k-set of the list."""
    n, e = len(g["batch"]), set(map(tuple, g["edge_index"].t().tolist()))
    nbr = {v: sorted(w for u, w in e if u == v) for v in range(n)}
    out, index = [], {}
    for s in itertools.combinations(range(n), k):
        if len({int(g["batch"][v]) for v in s}) > 1: continue
        inner = [(a, b) for a, b in itertools.combinations(s, 2) if (a, b) in e]
        if connected and len(inner) < k - 1: continue  # k <= 3: connected iff at least k-1 edges
        index[s] = len(out); out.append(s)

    def iso(s):  # canonical: smallest (types, adjacency) over all orders of the set
        return min(tuple(int(g["node_type"][v]) for v in q) + tuple(int((q[i], q[j]) in e) for i, j in itertools.combinations(range(k), 2))
                   for q in itertools.permutations(s))
    keys = [iso(s) for s in out]
    ids = {key: i for i, key in enumerate(sorted(set(keys)))}
    rows, cols = [], []
    for s, i in index.items():
        found = set()
        for u in s:
            for w in nbr[u]:
                t = tuple(sorted(set(s) - {u} | {w}))
                if len(t) == k and t in index and t != s: found.add(index[t])
        for j in sorted(found): rows.append(i); cols.append(j)
    edge_index = torch.tensor([rows, cols])
    # Messages go from edge_index[0] to edge_index[1]; the neighbourhood is symmetric, kept explicit.
    return dict(nodes=torch.tensor(out), iso=torch.tensor([ids[x] for x in keys]), num_iso=len(ids), edge_index=edge_index,
                batch=torch.tensor([int(g["batch"][s[0]]) for s in out]), flow=edge_index.flip(0))


class Gcn3(torch.nn.Module):
    def __init__(self, width, layers, num_iso):
        super().__init__()
        self.num_iso = num_iso
        self.convs = torch.nn.ModuleList([conv(num_iso, width)] + [conv(width, width) for _ in range(layers)])
        self.head = Head(width, width)

    def forward(self, g, s3):
        x = F.one_hot(s3["iso"], self.num_iso).float()
        for c in self.convs: x = F.elu(c(x, s3["flow"]))
        return self.head(global_max_pool(x, s3["batch"], len(g["y"])))


class Gcn123(torch.nn.Module):
    """Morris et al.'s 1-2-3-GNN: nodes, then all 2-sets, then connected 3-sets; node features averaged onto the sets.
    Random features stand behind the nodes' types."""
    def __init__(self, width, l1, l2, l3, n2, n3, random_dims=0):
        super().__init__()
        self.level1 = torch.nn.ModuleList([conv(2 + random_dims, width)] + [conv(width, width) for _ in range(l1 - 1)])
        self.level2 = torch.nn.ModuleList([conv(width + n2, width)] + [conv(width, width) for _ in range(l2 - 1)])
        self.level3 = torch.nn.ModuleList([conv(width + n3, width)] + [conv(width, width) for _ in range(l3 - 1)])
        self.head, self.n2, self.n3 = Head(3 * width, width), n2, n3

    def forward(self, g, s2, s3, x_rand=None):
        x = F.one_hot(g["node_type"], 2).float()
        if x_rand is not None: x = torch.cat([x, x_rand], 1)
        for c in self.level1: x = F.elu(c(x, g["edge_index"]))
        k = len(g["y"]); pooled = [global_max_pool(x, g["batch"], k)]
        for s, level, n in ((s2, self.level2, self.n2), (s3, self.level3, self.n3)):
            h = torch.cat([x[s["nodes"]].mean(1), F.one_hot(s["iso"], n).float()], 1)
            for c in level: h = F.elu(c(h, s["flow"]))
            pooled.append(global_max_pool(h, s["batch"], k))
        return self.head(torch.cat(pooled, 1))


class Ppgn(torch.nn.Module):
    """Maron et al.: blocks of two 1x1 MLPs, a matrix product per channel, a skip 1x1 layer; every block's pooled output
    votes. Random features are channels on the diagonal, behind the types."""
    def __init__(self, blocks, width, depth, readout="max", random_dims=0):
        super().__init__()
        lin = torch.nn.Linear
        mlp = lambda i: torch.nn.ModuleList([lin(i if d == 0 else width, width) for d in range(depth)])
        self.mlp1, self.mlp2, self.skip, self.vote = (torch.nn.ModuleList() for _ in range(4))
        c = self.inputs = 3 + random_dims
        for _ in range(blocks):
            self.mlp1.append(mlp(c)); self.mlp2.append(mlp(c)); self.skip.append(lin(c + width, width)); self.vote.append(lin(2 * width, 2))
            c = width
        self.pool = dict(max=lambda x: x.max(0)[0], mean=lambda x: x.mean(0), sum=lambda x: x.sum(0))[readout]

    def forward(self, g, x_rand=None):
        logits = []
        for k in range(len(g["y"])):
            ids = (g["batch"] == k).nonzero().flatten(); n, off = len(ids), int(ids[0])
            x = torch.zeros(n, n, self.inputs)  # channels: edge, type 0 on the diagonal, type 1 on the diagonal, random ones
            for u, v in g["edge_index"].t().tolist():
                if off <= u < off + n: x[u - off, v - off, 0] = 1
            for v in range(n):
                x[v, v, 1 + int(g["node_type"][off + v])] = 1
                if x_rand is not None: x[v, v, 3:] = x_rand[off + v]
            vote = 0
            for m1, m2, skip, out in zip(self.mlp1, self.mlp2, self.skip, self.vote):
                a, b = x, x
                for layer in m1: a = F.relu(layer(a))
                for layer in m2: b = F.relu(layer(b))
                prod = torch.einsum("ikc,kjc->ijc", a, b)
                x = skip(torch.cat([x, prod], 2))
                eye = torch.eye(n, dtype=torch.bool)
                vote = vote + out(torch.cat([self.pool(x[eye]), self.pool(x[~eye]) if n > 1 else torch.zeros(x.shape[2])]))
            logits.append(vote)
        return torch.stack(logits)


class GinConv(torch.nn.Module):  # PyTorch Geometric's GINConv(nn, train_eps=True) in plain torch, with its names
    def __init__(self, width, act):
        super().__init__()
        self.eps = torch.nn.Parameter(torch.zeros(1))
        self.nn = torch.nn.Sequential(torch.nn.Linear(width, width), act, torch.nn.Linear(width, width))

    def forward(self, x, edge_index):
        source, target = edge_index
        return self.nn((1 + self.eps) * x + torch.zeros_like(x).index_add(0, target, x[source]))


class GineConv(GinConv):  # likewise GINEConv(nn, train_eps=True, edge_dim=edge_columns)
    def __init__(self, width, act, edge_columns):
        super().__init__(width, act)
        self.lin = torch.nn.Linear(edge_columns, width)

    def forward(self, x, edge_index, edge_attr):
        source, target = edge_index
        message = F.relu(x[source] + self.lin(edge_attr))
        return self.nn((1 + self.eps) * x + torch.zeros_like(x).index_add(0, target, message))


class Gin(torch.nn.Module):
    def __init__(self, width, layers, random_dims, act, readout, edge_columns=0):
        super().__init__()
        self.pre = torch.nn.Linear(2, width - random_dims) if width > random_dims else None
        self.convs = torch.nn.ModuleList([GineConv(width, act, edge_columns) if edge_columns else GinConv(width, act)
                                          for _ in range(layers)])
        self.head, self.act, self.readout = Head(width, width), act, readout

    def forward(self, g, x_rand):
        x = [self.pre(F.one_hot(g["node_type"], 2).float())] if self.pre else []
        x = torch.cat(x + ([] if x_rand is None else [x_rand]), 1)
        edges = [g["edge_attr"]] if "edge_attr" in g else []
        for c in self.convs: x = self.act(c(x, g["edge_index"], *edges))
        size = len(g["y"])
        if self.readout == "max": return self.head(global_max_pool(x, g["batch"], size))
        return self.head(torch.zeros(size, x.shape[1]).index_add(0, g["batch"], x))


class Sage(torch.nn.Module):
    """GraphSAGE: a Linear of the row and the mean over its neighbours (0 where there are none), side by side."""
    def __init__(self, width, layers, random_dims, act, readout):
        super().__init__()
        self.pre = torch.nn.Linear(2, width - random_dims) if width > random_dims else None
        self.convs = torch.nn.ModuleList([torch.nn.Linear(2 * width, width) for _ in range(layers)])
        self.head, self.act, self.readout = Head(width, width), act, readout

    def forward(self, g, x_rand):
        x = [self.pre(F.one_hot(g["node_type"], 2).float())] if self.pre else []
        x = torch.cat(x + ([] if x_rand is None else [x_rand]), 1)
        source, target = g["edge_index"]
        degree = torch.zeros(len(x)).index_add(0, target, torch.ones(len(target))).clamp(min=1)
        for c in self.convs:
            mean = torch.zeros_like(x).index_add(0, target, x[source]) / degree[:, None]
            x = self.act(c(torch.cat([x, mean], 1)))
        size = len(g["y"])
        if self.readout == "max": return self.head(global_max_pool(x, g["batch"], size))
        return self.head(torch.zeros(size, x.shape[1]).index_add(0, g["batch"], x))


class Mlp(torch.nn.ModuleDict):
    """Linear, norm, ReLU, linear."""
    def __init__(self, width, norm):
        bias = norm != "batch"
        super().__init__({"0": torch.nn.Linear(width, width, bias), "2": torch.nn.Linear(width, width, bias)} |
                         ({"norm": normaliser(width, norm)} if norm != "none" else {}))

    def forward(self, x):
        x = self["0"](x)
        return self["2"](F.relu(self["norm"](x) if "norm" in self else x))


def normaliser(width, norm): return torch.nn.BatchNorm1d(width) if norm == "batch" else torch.nn.LayerNorm(width)


class Messages(torch.nn.Module):
    """MLP((1 + eps) h + sum of ReLU(lin h_from + edges(e) + across h_between)); links: (to, from, arc, between) lists."""
    def __init__(self, width, edge_columns, folklore, norm):
        super().__init__()
        self.eps, self.lin = torch.nn.Parameter(torch.rand(1) - 0.5), torch.nn.Linear(width, width)
        if folklore: self.across = torch.nn.Linear(width, width, bias=False)
        if edge_columns: self.edges = torch.nn.Linear(edge_columns, width, bias=False)
        self.mlp = Mlp(width, norm)

    def forward(self, h, links, edge_attr):
        to, of, arc, between = links
        m = self.lin(h)[of]
        if hasattr(self, "across"): m = m + self.across(h[between])
        if hasattr(self, "edges"): m = m + self.edges(edge_attr[arc])
        return self.mlp((1 + self.eps) * h + torch.zeros_like(h).index_add(0, to, F.relu(m)))


class Global(torch.nn.Module):
    def __init__(self, width, norm):
        super().__init__()
        self.eps, self.mlp = torch.nn.Parameter(torch.rand(1) - 0.5), Mlp(width, norm)

    def forward(self, h, group):
        sums = torch.zeros(int(group.max()) + 1, h.shape[1]).index_add(0, group, h)
        return self.mlp((1 + self.eps) * h + sums[group])


class Pairs(torch.nn.Module):
    """mp, subgraph, local2 and folklore2, rows and links written out as lists."""
    def __init__(self, kind, width, layers, edge_columns, norm, everywhere):
        super().__init__()
        self.kind, folklore = kind, kind == "folklore2"
        part = lambda: Messages(width, edge_columns, folklore, norm)
        self.layers = torch.nn.ModuleList()
        for _ in range(layers):
            layer = part() if kind == "mp" else torch.nn.Module()
            if kind != "mp":
                layer.second = part()
                if kind != "subgraph": layer.first = part()
                if everywhere: setattr(layer, "global", Global(width, norm))
            if norm != "none": layer.norm = normaliser(width, norm)
            self.layers.append(layer)
        self.pre = torch.nn.Linear(2, width) if kind == "mp" else torch.nn.ModuleDict(
            dict(node=torch.nn.Linear(2, width, bias=False), distance=torch.nn.Linear(4, width, bias=False)))
        self.pool = torch.nn.ModuleDict({"mlp": Mlp(width, norm)} | ({"norm": normaliser(width, norm)} if norm != "none" else {}))
        self.head = torch.nn.ModuleDict(dict(fc1=torch.nn.Linear(width, 2 * width), fc2=torch.nn.Linear(2 * width, 2)))

    def forward(self, g):
        n, count = len(g["batch"]), len(g["y"])
        arcs = {tuple(e): i for i, e in enumerate(g["edge_index"].t().tolist())}
        near = [[w for u, w in arcs if u == v] for v in range(n)]
        sizes = torch.bincount(g["batch"], minlength=count)
        types, attr = F.one_hot(g["node_type"], 2).float(), g.get("edge_attr")
        out = lambda module, z: F.relu(module.norm(z) if hasattr(module, "norm") else z)
        lists = lambda rows: tuple(torch.tensor(own, dtype=torch.long) for own in zip(*rows))
        if self.kind == "mp":
            h, links = self.pre(types), lists((v, w, arcs[v, w], 0) for v in range(n) for w in near[v])
            for layer in self.layers: h = out(layer, layer(h, links, attr))
            h, of_root = h * sizes[g["batch"]][:, None], g["batch"]
        else:
            pairs = [(u, v) for u in range(n) for v in range(n) if g["batch"][u] == g["batch"][v]]
            at = {pair: i for i, pair in enumerate(pairs)}
            steps = {}
            for u in range(n):
                steps[u, u], reached = 0, [u]
                for v in reached:
                    for w in near[v]:
                        if (u, w) not in steps: steps[u, w] = steps[u, v] + 1; reached.append(w)
            far = torch.tensor([min(3, steps.get(pair, 3)) for pair in pairs])
            second = lists((at[u, v], at[u, w], arcs[v, w], at[w, v]) for u, v in pairs for w in near[v])
            first = lists((at[u, v], at[w, v], arcs[u, w], at[u, w]) for u, v in pairs for w in near[u])
            roots, nodes = (torch.tensor([pair[i] for pair in pairs]) for i in (0, 1))
            h = self.pre["node"](types[nodes]) + self.pre["distance"](F.one_hot(far, 4).float())
            for layer in self.layers:
                z = layer.second(h, second, attr)
                if self.kind != "subgraph": z = z + layer.first(h, first, attr)
                if hasattr(layer, "global"): z = z + getattr(layer, "global")(h, roots if self.kind == "subgraph" else nodes)
                h = out(layer, z)
            h, of_root = torch.zeros(n, h.shape[1]).index_add(0, roots, h), g["batch"]
        h = self.pool["mlp"](h)
        h = F.relu(self.pool["norm"](h) if "norm" in self.pool else h)
        h = torch.zeros(count, h.shape[1]).index_add(0, of_root, h) / sizes[:, None]
        return self.head["fc2"](F.relu(self.head["fc1"](h)))


def tested(net, g):
    """What a network that has been trained gives in a test, where it normalises by what it has seen: after answers()."""
    net.eval(); net.zero_grad()
    logits = net(g); F.cross_entropy(logits, g["y"]).backward()
    return {"test.logits": logits.detach().clone()} | {f"test.{k}": v.grad.clone() for k, v in net.named_parameters()}


def save(path, tensors, metadata):
    """The safetensors format: length of the header, header as JSON, values."""
    names = {torch.float32: "F32", torch.int64: "I64"}
    header, blobs, at = {"__metadata__": metadata}, [], 0
    for name, tensor in sorted(tensors.items()):
        kind = "f" if tensor.dtype == torch.float32 else "q"
        values = tensor.contiguous().flatten().tolist()
        blobs.append(struct.pack(f"<{len(values)}{kind}", *values))
        header[name] = dict(dtype=names[tensor.dtype], shape=list(tensor.shape), data_offsets=[at, at + len(blobs[-1])])
        at += len(blobs[-1])
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file: file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def real_loss(name):
    """The mean over the targets that are there."""
    function = dict(squared=F.mse_loss, absolute=F.l1_loss, huber=F.huber_loss,
                    binary=F.binary_cross_entropy_with_logits)[name]

    def loss(outputs, g):
        there = ~g["target"].isnan()
        return function(outputs[there], g["target"][there])
    return loss


def answers(net, g, args, lr, loss_of):
    """What a network gives on a batch: init, out, grad, adam1, adam5."""
    t = {f"init.{k}": v.detach().clone() for k, v in net.state_dict().items()}
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for step in range(1, 6):
        opt.zero_grad(); logits = net(g, *args); loss = loss_of(logits, g); loss.backward()
        if step == 1:
            t["out.logits"], t["out.loss"] = logits.detach().clone(), loss.detach().clone().reshape(1)
            t |= {f"grad.{k}": v.grad.clone() for k, v in net.named_parameters()}
        opt.step()
        if step in (1, 5): t |= {f"adam{step}.{k}": v.detach().clone() for k, v in net.state_dict().items()}
    return t


def optimised(net, g, args, lr, clip=None, schedule=None, **adam):
    """Parameters after eight steps of AdamW, gradients clipped and the rate scheduled as asked; and the eight rates."""
    net = copy.deepcopy(net)
    opt = torch.optim.AdamW(net.parameters(), lr=lr, **({"weight_decay": 0} | adam))
    schedule = schedule(opt) if schedule else None
    rates = []
    for _ in range(8):
        rates.append(opt.param_groups[0]["lr"])
        opt.zero_grad(); F.cross_entropy(net(g, *args), g["y"]).backward()
        if clip: torch.nn.utils.clip_grad_norm_(net.parameters(), clip)
        opt.step()
        if schedule: schedule.step()
    return {k: v.detach().clone() for k, v in net.state_dict().items()}, torch.tensor(rates)


def warm_cosine(warm_up, epochs):
    lr = torch.optim.lr_scheduler
    return lambda opt: lr.SequentialLR(opt, [lr.LinearLR(opt, 1 / warm_up, total_iters=warm_up - 1),
                                             lr.CosineAnnealingLR(opt, epochs - warm_up)], [warm_up])


def plateau_rates(losses, lr, factor, patience):
    opt = torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], lr=lr)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=factor, patience=patience)
    rates = []
    for loss in losses:
        rates.append(opt.param_groups[0]["lr"])
        schedule.step(loss)
    return torch.tensor(rates)


def main(out=".", seed="7", *wanted):
    known = []

    def write(name, net, g, args, lr, meta, extra={}, loss_of=lambda logits, g: F.cross_entropy(logits, g["y"])):
        known.append(name)
        if wanted and name not in wanted: return
        t = {f"graph.{k}": v for k, v in g.items()} | extra | answers(net, g, args, lr, loss_of)
        if isinstance(net, Pairs): t |= tested(net, g)
        t = {k: v for k, v in t.items() if not k.endswith("num_batches_tracked")}
        meta = {k: str(v) for k, v in meta.items()} | dict(lr=str(lr), torch=torch.__version__, pyg=PYG, seed=seed)
        save(f"{out}/{name}.safetensors", t, meta)
        print(name, "loss", float(t["out.loss"]), "tensors", len(t))

    def pack(prefix, s): return {f"{prefix}.{k}": v for k, v in s.items() if torch.is_tensor(v) and k != "flow"}

    torch.manual_seed(int(seed))
    for name, width, layers, rand, act, lr in [("gcn_rni100_elu", 16, 3, 16, "elu", 5e-4), ("gcn_rni50_elu", 16, 3, 8, "elu", 2e-4),
                                               ("gcn_deterministic_elu", 16, 3, 0, "elu", 1e-4), ("gcn_rni100_tanh", 16, 3, 16, "tanh", 1e-3),
                                               ("gcn_rni12_paper_size", 64, 8, 8, "elu", 2e-4)]:
        g = random_batch(6, 5, 12); xr = torch.randn(len(g["batch"]), rand) if rand else None
        write(name, Gcn(width, layers, rand, F.elu if act == "elu" else torch.tanh), g, (xr,), lr,
              dict(model="gcn", width=width, layers=layers, random_dims=rand, activation=act), {"in.random_features": xr} if rand else {})
    g = random_batch(4, 5, 7, 0.45); s3 = sets(g, 3, False)
    write("gcn3", Gcn3(8, 2, s3["num_iso"]), g, (s3,), 5e-4, dict(model="gcn3", width=8, layers=2, num_iso=s3["num_iso"]), pack("set3", s3))
    g = random_batch(4, 5, 7, 0.45); s2, s3 = sets(g, 2, False), sets(g, 3, True)
    write("gcn123", Gcn123(8, 3, 2, 2, s2["num_iso"], s3["num_iso"]), g, (s2, s3), 5e-4,
          dict(model="gcn123", width=8, layers="3,2,2", num_iso2=s2["num_iso"], num_iso3=s3["num_iso"]), pack("set2", s2) | pack("set3", s3))
    g = random_batch(4, 4, 6)
    write("ppgn", Ppgn(2, 6, 2), g, (), 1e-3, dict(model="ppgn", width=6, blocks=2, mlp_depth=2))

    # Cases added later have a stream of their own each, so that they can be made alone.
    for number, readout in enumerate(["mean", "sum"], 1):
        torch.manual_seed(int(seed) + number)
        g = random_batch(6, 1, 5)
        write("ppgn_" + readout, Ppgn(2, 6, 2, readout), g, (), 1e-3,
              dict(model="ppgn", width=6, blocks=2, mlp_depth=2, readout=readout))
    torch.manual_seed(int(seed) + 3)
    g = random_batch(4, 5, 7, 0.45); s2, s3 = sets(g, 2, False), sets(g, 3, True); xr = torch.randn(len(g["batch"]), 4)
    write("gcn123_rni50", Gcn123(8, 3, 2, 2, s2["num_iso"], s3["num_iso"], 4), g, (s2, s3, xr), 5e-4,
          dict(model="gcn123", width=8, layers="3,2,2", num_iso2=s2["num_iso"], num_iso3=s3["num_iso"], random_dims=4),
          pack("set2", s2) | pack("set3", s3) | {"in.random_features": xr})
    torch.manual_seed(int(seed) + 4)
    g = random_batch(4, 4, 6); xr = torch.randn(len(g["batch"]), 3)
    write("ppgn_rni50", Ppgn(2, 6, 2, random_dims=3), g, (xr,), 1e-3,
          dict(model="ppgn", width=6, blocks=2, mlp_depth=2, random_dims=3), {"in.random_features": xr})

    for number, (name, rand, act, readout) in enumerate([("gin", 0, "elu", "max"), ("gin_rni50_sum", 8, "relu", "sum")], 5):
        torch.manual_seed(int(seed) + number)
        g = random_batch(6, 4, 10); xr = torch.randn(len(g["batch"]), rand) if rand else None
        net = Gin(16, 3, rand, torch.nn.ELU() if act == "elu" else torch.nn.ReLU(), readout)
        with torch.no_grad():
            for c in net.convs: c.eps.uniform_(-0.5, 0.5)  # at its own start, 0, it would not show
        write(name, net, g, (xr,), 1e-3, dict(model="gin", width=16, layers=3, random_dims=rand, activation=act, readout=readout),
              {"in.random_features": xr} if rand else {})

    for number, (kind, depth) in enumerate([("colours", None), ("marks", 2)], 7):
        torch.manual_seed(int(seed) + number)
        where = dict(seed=(5 << 32) + 1, index=1, fold=2, epoch=3)  # the draws next to it give other logits, which is tested
        g, key = batch_of(alike_graphs()), paths.feature_key(**where)
        rank, mark = drawn_paths(g, key, depth)
        columns = torch.tensor([paths.colour_code(r) for r in rank.tolist()] if kind == "colours" else
                               [paths.mark_code(m, depth) for m in mark.tolist()])
        net = Gcn(16, 3, 0, F.elu, columns.shape[1])
        with torch.no_grad():  # at their usual size the logits hardly tell one draw from another
            for p in net.parameters(): p *= 1.8 if p.dim() > 1 else 1
        write("gcn_" + kind, net, g, (None, columns), 5e-4,
              dict(model="gcn", width=16, layers=3, random_dims=0, activation="elu", random=kind, depth=depth or "leaf",
                   key_lo=key[0], key_hi=key[1]) | {f"draw_{k}": v for k, v in where.items()},
              {"draw.rank": rank, "draw.mark": mark})

    for number, (name, rand, aggr, readout) in enumerate([("gcn_edges_mean", 0, "mean", "max"),
                                                          ("gcn_edges_sum_rni50", 8, "sum", "mean")], 9):
        torch.manual_seed(int(seed) + number)
        g = with_edge_features(random_batch(6, 4, 10), 3, 1); xr = torch.randn(len(g["batch"]), rand) if rand else None
        write(name, EdgeGcn(16, 3, rand, 4, aggr, readout), g, (xr,), 5e-4,
              dict(model="gcn", width=16, layers=3, random_dims=rand, activation="elu", aggregation=aggr, readout=readout,
                   edge_features=4), {"in.random_features": xr} if rand else {})
    for number, (name, rand, act, readout) in enumerate([("gine", 0, "elu", "max"), ("gine_rni50_sum", 8, "relu", "sum")], 11):
        torch.manual_seed(int(seed) + number)
        g = with_edge_features(random_batch(6, 4, 10), 3, 1); xr = torch.randn(len(g["batch"]), rand) if rand else None
        net = Gin(16, 3, rand, torch.nn.ELU() if act == "elu" else torch.nn.ReLU(), readout, 4)
        with torch.no_grad():
            for c in net.convs: c.eps.uniform_(-0.5, 0.5)
        write(name, net, g, (xr,), 1e-3, dict(model="gin", width=16, layers=3, random_dims=rand, activation=act,
              readout=readout, edge_features=4), {"in.random_features": xr} if rand else {})
    for number, (loss, missing) in enumerate([("squared", 0), ("absolute", 0), ("huber", 0), ("squared", 0.3), ("huber", 0.3)], 9):
        torch.manual_seed(int(seed) + number)
        g = random_batch(8, 5, 10)
        g["target"] = torch.randn(8, 2) * 1.5
        g["target"][torch.rand(8, 2) < missing] = float("nan")
        write("gcn_" + loss + ("_missing" if missing else ""), Gcn(16, 3, 0, F.elu), g, (None,), 1e-3,
              dict(model="gcn", width=16, layers=3, random_dims=0, activation="elu", loss=loss), loss_of=real_loss(loss))
    for number, missing in enumerate([0, 0.3], 80):
        torch.manual_seed(int(seed) + number)
        g = random_batch(8, 5, 10)
        g["target"] = (torch.rand(8, 2) < 0.5).float()
        g["target"][torch.rand(8, 2) < missing] = float("nan")
        write("gcn_binary" + ("_missing" if missing else ""), Gcn(16, 3, 0, F.elu), g, (None,), 1e-3,
              dict(model="gcn", width=16, layers=3, random_dims=0, activation="elu", loss="binary"), loss_of=real_loss("binary"))
    torch.manual_seed(int(seed) + 14)
    g, weights = random_batch(8, 5, 10), [0.5, 2.25]
    write("gcn_class_weights", Gcn(16, 3, 0, F.elu), g, (None,), 1e-3,
          dict(model="gcn", width=16, layers=3, random_dims=0, activation="elu", class_weights=",".join(map(str, weights))),
          loss_of=lambda logits, g: F.cross_entropy(logits, g["y"], weight=torch.tensor(weights)))

    torch.manual_seed(int(seed) + 20)
    g = random_batch(6, 5, 10)
    net, lr, extra = Gcn(8, 2, 0, F.elu), 1e-2, {}
    for name, how in dict(clip=dict(clip=0.05), adamw=dict(weight_decay=0.5), constants=dict(betas=(0.9, 0.95), eps=1e-3),
                          cosine=dict(schedule=warm_cosine(3, 8)), all=dict(clip=0.1, weight_decay=0.1, schedule=warm_cosine(2, 8))).items():
        after, extra[f"rates.{name}"] = optimised(net, g, (None,), lr, **how)
        extra |= {f"{name}.{k}": v for k, v in after.items()}
    losses = [1.0, 0.9, 0.9, 0.89999, 0.95, 0.8, 0.81, 0.82, 0.83, 0.7999, 0.9, 1, 1, 1, float("nan"), 1, 0.5, 0.6, 0.6, 0.6]
    extra["in.losses"], extra["rates.plateau"] = torch.tensor(losses), plateau_rates(losses, lr, 0.5, 2)
    write("gcn_optimisers", net, g, (None,), lr, dict(model="gcn", width=8, layers=2, random_dims=0, activation="elu"), extra)

    for number, (name, rand, act, readout) in enumerate([("sage", 0, "elu", "max"), ("sage_rni50_sum", 8, "tanh", "sum")], 21):
        torch.manual_seed(int(seed) + number)
        g = random_batch(6, 4, 10); xr = torch.randn(len(g["batch"]), rand) if rand else None
        write(name, Sage(16, 3, rand, F.elu if act == "elu" else torch.tanh, readout), g, (xr,), 1e-3,
              dict(model="sage", width=16, layers=3, random_dims=rand, activation=act, readout=readout),
              {"in.random_features": xr} if rand else {})

    for number, (kind, norm, everywhere, columns) in enumerate([
            ("mp", "batch", 0, 4), ("subgraph", "batch", 1, 4), ("local2", "batch", 1, 4), ("folklore2", "batch", 1, 4),
            ("subgraph", "layer", 0, 0), ("folklore2", "none", 0, 0)], 30):
        torch.manual_seed(int(seed) + number)
        g = random_batch(6, 3, 7)
        if columns: g = with_edge_features(g, 3, 1)
        name = kind + ("" if norm == "batch" else f"_{norm}")
        write(name, Pairs(kind, 12, 2, columns, norm, everywhere), g, (), 1e-3,
              dict(model=kind, width=12, layers=2, norm=norm, edge_features=columns, distance_cut=3) | ({"global": everywhere}))

    unknown = [name for name in wanted if name not in known]
    if unknown: sys.exit(f"make.py: no case {', '.join(unknown)}; there are {', '.join(known)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
