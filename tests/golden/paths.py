"""Random inputs as docs/models.md states them, in plain Python: Philox, paths of individualisation and refinement, codes.

Everything is written from the formulas and shares no code with tyche: colours are tuples that are sorted anew in every
round, and a path starts its refinement from all nodes each time.

    lo_hi = feature_key(seed=5, fold=2, epoch=3, index=1)
    chosen, ranks = path(types, neighbours, lo_hi, graph=0, depth=None)      # None: to the leaf
"""
import math

TAG = 0x696E6469  # keeps a path's choices apart from all other words under the key
FEATURES = 6  # Purpose::random_features
PERIODS = [2 * 32 ** (i / 7) for i in range(8)]


def philox(key, counter):
    """Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3)."""
    k0, k1 = key
    x0, x1, x2, x3 = counter
    for _ in range(10):
        a, b = 0xD2511F53 * x0, 0xCD9E8D57 * x2
        x0, x1, x2, x3 = (b >> 32) ^ x1 ^ k0, b & 0xFFFFFFFF, (a >> 32) ^ x3 ^ k1, a & 0xFFFFFFFF
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return x0, x1, x2, x3


# Two of the known answers that Random123 comes with.
assert philox((0, 0), (0, 0, 0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
assert philox((0xA4093822, 0x299F31D0), (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)) == \
    (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


def feature_key(seed, fold, epoch, index):
    """The key of the index-th test draw: pass 0 is training, so draw i is pass 1 + i."""
    return philox((seed & 0xFFFFFFFF, seed >> 32), (FEATURES, fold, epoch, 1 + index))[:2]


def numbered(colours):
    place = {colour: i for i, colour in enumerate(sorted(set(colours)))}
    return [place[colour] for colour in colours]


def refined(colours, neighbours):
    """Ranks of the stable colours: a round sorts nodes by (colour, sorted colours of the neighbours)."""
    while True:
        finer = numbered([(own, sorted_of(colours, near)) for own, near in zip(colours, neighbours)])
        if len(set(finer)) == len(set(colours)): return finer
        colours = finer


def sorted_of(colours, nodes): return tuple(sorted(colours[w] for w in nodes))


def path(types, neighbours, key, graph, depth=None):
    """The nodes a path chooses, and the ranks of the stable colours at its end."""
    ranks, chosen = refined(numbered(types), neighbours), []
    while len(set(ranks)) < len(ranks) and (depth is None or len(chosen) < depth):
        size, first = max((ranks.count(r), -r) for r in ranks)  # the first of the largest classes
        level = len(chosen)
        word = philox(key, (graph, level // 4, 0, TAG))[level % 4]
        v = [u for u, r in enumerate(ranks) if r == -first][(word * size) >> 32]
        chosen.append(v)
        ranks = refined(numbered([(r, u != v) for u, r in enumerate(ranks)]), neighbours)  # v before the rest of its class
    return chosen, ranks


def colour_code(rank):
    """16 columns: sine and cosine of each period."""
    return [wave(2 * math.pi * rank / period) for period in PERIODS for wave in (math.sin, math.cos)]


def mark_code(mark, depth):
    """One-hot; mark 0: none."""
    return [float(mark == i) for i in range(1, depth + 1)]
