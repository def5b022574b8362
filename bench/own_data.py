"""Data sets of known difficulty, as people bring them: JSON lines, made from a seed with Python's own library.

  python3 bench/own_data.py OUT [SEED] [NAME ...] [--graphs N]

Six have one difficulty each (docs/lab/own-data.md):

  sorted      labels in order, as TUDataset's files have them; the class is a motif. 10 % of the labels are wrong
  bare        no features at all, dense ego networks as in IMDB-BINARY; the class is how they overlap. 10 % wrong
  scales      attributes from 1e-3 to 1e3; the class is in those of 1e-3 and 1e-2, the large ones are noise. 5 % wrong
  bonds       the class is in the labels of the edges alone. 5 % wrong
  grows       a real target that is a sum over the nodes, in thousands
  rare        three classes of 80, 15 and 5 %, and a node type that few graphs have

others look like benchmarks: `proteins`, `enzymes`, `imdb`, `nci1`; `web` (scale-free, no features), `screen`
(molecules, one in 25 is active), `count` (at least two of some bonds, as in docs/yours.md), and real targets: `mean`
(does not grow), `tally` (a count that correlates 0.37 with the size), `cycles` (triangles, no features).
"""
import argparse
import json
import os
import random


def tree(r, n, reach=None):
    """Edges of a random tree; `reach`: a node joins one of the last so many."""
    return {(r.randrange(max(0, v - reach) if reach else 0, v), v) for v in range(1, n)}


def add_edges(r, edges, n, count):
    while count > 0:
        u, v = sorted(r.sample(range(n), 2))
        if (u, v) not in edges:
            edges.add((u, v))
            count -= 1
    return edges


def degrees(n, edges):
    out = [0] * n
    for u, v in edges:
        out[u] += 1
        out[v] += 1
    return out


def wrong(r, label, share, classes=2):
    return r.choice([c for c in range(classes) if c != label]) if r.random() < share else label


def sorted_labels(r, count=600):
    graphs = []
    for i in range(count):
        label = i % 2
        n = r.randint(12, 30)
        edges = add_edges(r, tree(r, n), n, r.randint(2, 5))
        types = [r.randrange(3) for _ in range(n)]
        # The motif: a path 0-1-2 of types in class 1, 0-2-1 in class 0, eight times.
        for _ in range(8):
            a, b, c = r.sample(range(n), 3)
            types[a], types[b], types[c] = (0, 1, 2) if label else (0, 2, 1)
            edges |= {tuple(sorted((a, b))), tuple(sorted((b, c)))}
        graphs.append({"nodes": types, "edges": sorted(edges), "label": wrong(r, label, 0.1)})
    return sorted(graphs, key=lambda g: g["label"])


def bare(r, count=500):
    graphs = []
    for i in range(count):
        label = i % 2
        edges, n = set(), 1  # node 0 is in every clique, as the actor of an ego network
        for _ in range(r.randint(2, 4)):
            size = r.randint(4, 7) if label else r.randint(3, 9)
            old = r.sample(range(1, n), min(n - 1, r.randint(1, 2))) if n > 1 and label else []
            clique = [0, *old, *range(n, n + size - len(old))]
            n += size - len(old)
            edges |= {tuple(sorted((u, v))) for u in clique for v in clique if u < v}
        graphs.append({"nodes": n, "edges": sorted(edges), "label": wrong(r, label, 0.1)})
    r.shuffle(graphs)
    return graphs


def scales(r, count=400):
    graphs = []
    for _ in range(count):
        n = r.randint(10, 25)
        edges = add_edges(r, tree(r, n), n, r.randint(3, 8))
        shift, tilt = r.gauss(0, 1), r.gauss(0, 1)
        rows = [[1e-3 * (r.gauss(0, 1) + shift), 1e-2 * (r.gauss(0, 1) + tilt) + 0.5, r.gauss(0, 1), 30 * r.gauss(0, 1),
                 1e3 * r.gauss(0, 1) + 2e3] for _ in range(n)]
        mean = [sum(row[k] for row in rows) / n for k in (0, 1)]
        label = int((mean[0] / 1e-3) * ((mean[1] - 0.5) / 1e-2) > 0)
        graphs.append({"nodes": n, "edges": sorted(edges), "attributes": rows, "label": wrong(r, label, 0.05)})
    return graphs


def bonds(r, count=400):
    graphs = []
    for i in range(count):
        label = i % 2
        n = r.randint(10, 25)
        edges = sorted(add_edges(r, tree(r, n), n, r.randint(2, 6)))
        types = [r.randrange(3) for _ in range(n)]
        # As many edges of every label in both classes; in class 1 label 2 is at nodes of type 0, in class 0 elsewhere.
        def first(edge):
            return (0 in (types[edge[0]], types[edge[1]])) == bool(label)
        places = sorted(range(len(edges)), key=lambda e: (not first(edges[e]), r.random()))
        twos = max(2, len(edges) // 5)
        labels = [0] * len(edges)
        for e in places[:twos]:
            labels[e] = 2
        for e in r.sample(places[twos:], len(edges) // 3):
            labels[e] = 1
        graphs.append({"nodes": types, "edges": [[u, v, labels[k]] for k, (u, v) in enumerate(edges)],
                       "label": wrong(r, label, 0.05)})
    r.shuffle(graphs)
    return graphs


def grows(r, count=500):
    graphs = []
    for _ in range(count):
        n = r.randint(6, 60)
        edges = add_edges(r, tree(r, n), n, r.randint(1, 1 + n // 4))
        types = [r.choices(range(4), [6, 2, 1, 1])[0] for _ in range(n)]
        weight = [120.0, -300.0, 450.0, 800.0]
        total = sum(weight[t] + 60 * (d > 2) for t, d in zip(types, degrees(n, edges)))
        total += sum(250 for u, v in edges if types[u] != types[v])
        graphs.append({"nodes": types, "edges": sorted(edges), "target": round(total + r.gauss(0, 100), 3)})
    return graphs


def mean_target(r, count=500):
    graphs = []
    for _ in range(count):
        n = r.randint(6, 60)
        types = [r.choices(range(4), [6, 2, 1, 1])[0] for _ in range(n)]
        edges = add_edges(r, tree(r, n), n, r.randint(1, 1 + n // 4))
        value = sum(types[u] != types[v] for u, v in edges) / len(edges) + 0.3 * types.count(2) / n
        graphs.append({"nodes": types, "edges": sorted(edges), "target": round(1e-4 * (value + r.gauss(0, 0.02)), 9)})
    return graphs


def rare(r, count=500):
    graphs = []
    for i in range(count):
        label = 0 if i % 20 < 16 else 1 if i % 20 < 19 else 2
        n = r.randint(10, 25)
        edges = add_edges(r, tree(r, n, 4), n, r.randint(1, 3))
        types = [r.randrange(4) for _ in range(n)]
        for _ in range(4 if label else 0):
            v = r.randrange(n)
            types[v] = 3
            near = [b if a == v else a for a, b in edges if v in (a, b)]
            for u in near:
                types[u] = label  # nodes of type 3 among those of type 1 or 2
        if i % 100 == 7:
            types[r.randrange(n)] = 16
        graphs.append({"nodes": types, "edges": sorted(edges), "label": label})
    r.shuffle(graphs)
    return graphs


def proteins(r, count=600):
    """Three node types, one attribute, sizes of a long tail that tell of the class; sorted by label."""
    graphs = []
    for i in range(count):
        label = int(i >= 0.6 * count)
        n = max(6, min(150, int(r.lognormvariate(3.4 - 0.45 * label, 0.55))))
        edges = add_edges(r, tree(r, n, 5), n, int(0.8 * n) + (0 if label else n // 5))
        share = [4, 4, 1] if label else [3, 5, 1]
        types = [r.choices(range(3), share)[0] for _ in range(n)]
        rows = [[round(abs(r.gauss(12 + 4 * t, 8)), 1)] for t in types]
        graphs.append({"nodes": types, "edges": sorted(edges), "attributes": rows, "label": wrong(r, label, 0.12)})
    return sorted(graphs, key=lambda g: g["label"])


def enzymes(r, count=600):
    """Six classes in order, three node types, 18 attributes of very different scale."""
    scale = [10 ** r.uniform(-2, 3) for _ in range(18)]
    offset = [s * r.uniform(0, 5) for s in scale]
    centre = [[r.gauss(0, 0.55) for _ in range(18)] for _ in range(6)]
    graphs = []
    for i in range(count):
        label = 6 * i // count
        n = r.randint(15, 50)
        edges = add_edges(r, tree(r, n, 4), n, n // 2 + (label % 3) * n // 5)
        types = [r.choices(range(3), [5 + label, 5, 1])[0] for _ in range(n)]
        own = [r.gauss(0, 0.5) for _ in range(18)]
        rows = [[offset[k] + scale[k] * (centre[label][k] * (t == k % 2) + own[k] + r.gauss(0, 1)) for k in range(18)]
                for t in types]
        graphs.append({"nodes": types, "edges": sorted(edges),
                       "attributes": [[float(f"{x:.5g}") for x in row] for row in rows],
                       "label": wrong(r, label, 0.15, 6) + 1})
    return sorted(graphs, key=lambda g: g["label"])


def imdb(r, count=600):
    """Ego networks, unions of casts that all hold the ego; the classes differ in size and number of the casts."""
    graphs = []
    for i in range(count):
        label = i % 2
        edges, n = set(), 1
        casts = 1 + min(8, int(r.expovariate(1 / (1.6 - 0.6 * label))))
        for _ in range(casts):
            size = max(3, min(40, int(r.lognormvariate(2.0 + 0.25 * label, 0.45))))
            old = r.sample(range(1, n), min(n - 1, int(size * r.uniform(0, 0.5)))) if n > 1 else []
            cast = [0, *old, *range(n, n + size - len(old))]
            n += size - len(old)
            edges |= {tuple(sorted((u, v))) for u in cast for v in cast if u < v}
        graphs.append({"nodes": n, "edges": sorted(edges), "label": label})
    return sorted(graphs, key=lambda g: g["label"])


def nci1(r, count=1000):
    """Molecules of many types, few of them common; the class is whether some groups are there."""
    common = [50, 10, 10, 4, 2] + [0.15] * 20
    graphs = []
    for i in range(count):
        label = i % 2
        n = r.randint(12, 50)
        edges = add_edges(r, tree(r, n, 3), n, r.randint(1, 4))
        types = r.choices(range(len(common)), common, k=n)
        for _ in range(2 if label else 0):
            u, v = r.choice(sorted(edges))
            types[u], types[v] = r.choice([(1, 2), (2, 3), (3, 3)])
        graphs.append({"nodes": types, "edges": sorted(edges), "label": wrong(r, label, 0.1)})
    return sorted(graphs, key=lambda g: g["label"])


def web(r, count=600):
    """Scale-free graphs without features; in class 1 every third newcomer also joins a neighbour of its friend."""
    graphs = []
    for i in range(count):
        label = i % 2
        n = r.randint(20, 60)
        edges, ends = {(0, 1), (1, 2)}, [0, 1, 1, 2]
        near = {0: [1], 1: [0, 2], 2: [1]}
        for v in range(3, n):
            near[v] = []
            first = r.choice(ends)
            friends = {first}
            while len(friends) < 2:
                friends.add(r.choice(near[first]) if label and r.random() < 0.33 else r.choice(ends))
            for u in sorted(friends):
                edges.add((u, v))
                ends += [u, v]
                near[u].append(v)
                near[v].append(u)
        graphs.append({"nodes": n, "edges": sorted(edges), "label": wrong(r, label, 0.05)})
    r.shuffle(graphs)
    return graphs


def molecule(r, least, most):
    """Types of atoms, and bonds of order 1, 2 or 4: a tree of small reach and some rings."""
    n = r.randint(least, most)
    edges = sorted(add_edges(r, tree(r, n, 3), n, r.randint(0, 3)))
    return r.choices([6, 7, 8, 9, 16, 17], [70, 12, 12, 2, 2, 2], k=n), [[u, v, r.choice([1, 1, 1, 2, 4])] for u, v in edges]


def screen(r, count=3000):
    """One molecule in 25 is active: those that score highest by what is bound to what. A score of ROC AUC."""
    graphs = []
    for _ in range(count):
        atoms, bonds = molecule(r, 10, 40)
        score = sum((order == 2) * ({atoms[u], atoms[v]} == {6, 8}) - 0.7 * (order == 4) * (7 in (atoms[u], atoms[v]))
                    + 0.8 * ({atoms[u], atoms[v]} == {6, 16}) for u, v, order in bonds)
        graphs.append({"nodes": atoms, "edges": bonds, "label": score + r.gauss(0, 0.5)})
    bar = sorted((g["label"] for g in graphs), reverse=True)[count // 25]
    return [{**g, "label": int(g["label"] > bar)} for g in graphs]


def bonded(r):
    """docs/yours.md's graphs, and how many double bonds touch an oxygen."""
    atoms = [r.choice([6, 6, 6, 7, 8]) for _ in range(r.randint(8, 18))]
    bonds = [[r.randrange(i), i, r.choice([1, 1, 2])] for i in range(1, len(atoms))]
    return {"nodes": atoms, "edges": bonds}, sum(o == 2 and 8 in (atoms[a], atoms[b]) for a, b, o in bonds)


def count_label(r, count=400):
    return [{**graph, "label": int(value >= 2)} for graph, value in (bonded(r) for _ in range(count))]


def tally(r, count=400):
    return [{**graph, "target": value} for graph, value in (bonded(r) for _ in range(count))]


def cycles(r, count=500):
    graphs = []
    for _ in range(count):
        n = r.randint(12, 30)
        edges = add_edges(r, tree(r, n), n, r.randint(n // 2, n))
        near = [set() for _ in range(n)]
        for u, v in edges:
            near[u].add(v)
            near[v].add(u)
        graphs.append({"nodes": n, "edges": sorted(edges), "target": sum(len(near[u] & near[v]) for u, v in edges) // 3})
    return graphs


SETS = {"sorted": sorted_labels, "bare": bare, "scales": scales, "bonds": bonds, "grows": grows, "rare": rare,
        "proteins": proteins, "enzymes": enzymes, "imdb": imdb, "nci1": nci1, "web": web, "screen": screen,
        "count": count_label, "mean": mean_target, "tally": tally, "cycles": cycles}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("names", nargs="*", choices=[[], *SETS])
    parser.add_argument("--graphs", type=int, help="in each set (default: 400 to 3000)")
    call = parser.parse_args()
    os.makedirs(call.out, exist_ok=True)
    for name in call.names or SETS:
        more = {"count": call.graphs} if call.graphs else {}
        graphs = SETS[name](random.Random(f"{name} {call.seed}"), **more)
        with open(os.path.join(call.out, name + ".jsonl"), "w", encoding="utf-8") as file:
            for graph in graphs:
                file.write(json.dumps(graph, separators=(",", ":")) + "\n")
        print(f"{name}: {len(graphs)} graphs")


if __name__ == "__main__":
    main()
