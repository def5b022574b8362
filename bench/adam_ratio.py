"""How large Adam's next steps are, from a checkpoint: |m| / (sqrt(v) + epsilon), which is 1 or less for gradients as they
were lately, and far above it where the second moment has decayed while gradients were tiny and one large one came.

  python3 bench/adam_ratio.py RUN/fold-0/last.safetensors [...]

Prints per checkpoint: epoch, the largest and the 99.9th percentile of the ratio (with the bias corrections), the norm
of m, and the median and largest sqrt(v).
"""
import json
import math
import struct
import sys


def tensors(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        blob = file.read()
    meta = header.pop("__metadata__")
    values = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values[name] = struct.unpack(f"<{(end - begin) // 4}f", blob[begin:end])
    return meta, values


def main():
    print(f"{'epoch':>6} {'max ratio':>10} {'99.9 %':>8} {'|m|':>10} {'median sqrt v':>14} {'max sqrt v':>11}")
    for path in sys.argv[1:]:
        meta, values = tensors(path)
        config = json.loads(meta["tyche.config"]).get("training", {})
        beta2, epsilon, step = config.get("beta2", 0.999), config.get("adam_epsilon", 1e-8), int(meta["tyche.step"])
        m = [x for name, part in values.items() if name.startswith("adam.m.") for x in part]
        v = [x for name, part in values.items() if name.startswith("adam.v.") for x in part]
        first, second = 1 - 0.9**step, 1 - beta2**step
        ratios = sorted(abs(a) / first / (math.sqrt(b / second) + epsilon) for a, b in zip(m, v))
        roots = sorted(math.sqrt(b / second) for b in v)
        print(f"{meta['tyche.epoch']:>6} {ratios[-1]:>10.3f} {ratios[int(0.999 * len(ratios))]:>8.3f} "
              f"{math.sqrt(sum(a * a for a in m)) / first:>10.3g} {roots[len(roots) // 2]:>14.3g} {roots[-1]:>11.3g}")


if __name__ == "__main__":
    main()
