"""Molecule-like graphs as JSON lines, as many as one likes: for measuring packed data sets.

    python3 bench/make_molecules.py 10000000 | tyche pack /dev/stdin --format jsonl --out ten_million.tyche

Trees of 9 to 37 nodes (23 on average, as ZINC has) with a few rings, 28 node types, 3 edge labels, one real target
that counts types and rings. The graphs of a seed are the same everywhere; SEED (default 1) is the second argument.
"""

import random
import sys


def line(rng):
    nodes = min(37, max(9, round(rng.gauss(23, 4.5))))
    types = [min(27, int(rng.expovariate(0.35))) for _ in range(nodes)]
    edges = [(rng.randrange(max(0, v - 4), v), v) for v in range(1, nodes)]
    rings = rng.randrange(1, 5)
    seen = set(edges)
    for _ in range(rings):
        u = rng.randrange(nodes - 5)
        edge = (u, u + 5)
        if edge not in seen:
            seen.add(edge)
            edges.append(edge)
    labelled = ", ".join(f"[{u}, {v}, {rng.randrange(1, 4)}]" for u, v in edges)
    target = 0.1 * types.count(1) - 0.2 * types.count(2) + 0.5 * (len(edges) - nodes)
    return f'{{"nodes": {types}, "edges": [{labelled}], "target": {target:.3f}}}\n'


def main():
    count = int(sys.argv[1])
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    pool = [line(rng) for _ in range(min(count, 100_000))]  # beyond it, graphs come again in another order
    write = sys.stdout.write
    for text in pool:
        write(text)
    for _ in range(count - len(pool)):
        write(pool[rng.randrange(len(pool))])


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
