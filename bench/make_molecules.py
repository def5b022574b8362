"""Molecule-like graphs as JSON lines, as many as one likes: for measuring packed data sets.

    python3 bench/make_molecules.py 10000000 | tyche pack /dev/stdin --format jsonl --out ten_million.tyche

Trees of 9 to 37 nodes (23 on average, as ZINC has) with one to four rings of up to six nodes, 28 node types, 3 edge
labels, one real target that counts types and rings. The graphs of a seed are the same everywhere; SEED (default 1) is
the second argument. Every part of a line stands in a table by a random byte: a second for 100,000 graphs.
"""

import random
import sys

MOST = 37
TYPES = bytes(round(27 * (byte / 255) ** 4) for byte in range(256))  # the first kinds are common, the last ones rare
NAMES = [str(number) for number in range(28)]


def edge(u, v, byte):
    return f"[{u}, {v}, {1 + byte // 4 % 3}]"


#: Of node v to one of the four before it, and to the fifth before it, which closes a ring.
TREE = [[edge(v - 1 - byte % min(4, v), v, byte) if v > 0 else "" for byte in range(256)] for v in range(MOST)]
RING = [[edge(v - 5, v, byte) if v > 4 else "" for byte in range(256)] for v in range(MOST)]


def line(rng):
    nodes = min(MOST, max(9, round(rng.gauss(23, 4.5))))
    rings = {rng.randrange(5, nodes) for _ in range(rng.randrange(1, 5))}
    types = rng.randbytes(nodes).translate(TYPES)
    drawn = rng.randbytes(nodes)
    edges = [TREE[v][drawn[v]] for v in range(1, nodes)] + [RING[v][drawn[-v]] for v in sorted(rings)]
    target = 0.1 * types.count(1) - 0.2 * types.count(2) + 0.5 * len(rings)
    names = ", ".join([NAMES[kind] for kind in types])
    return f'{{"nodes": [{names}], "edges": [{", ".join(edges)}], "target": {target:.3f}}}\n'


def main():
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    for _ in range(int(sys.argv[1])):
        sys.stdout.write(line(rng))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(1)
