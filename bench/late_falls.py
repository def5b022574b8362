"""Counts the folds of an experiment that fall late, variant by variant. Reads what `tyche reproduce` wrote.

  tyche reproduce late-falls --profile paper --device cuda --out falls
  python3 bench/late_falls.py falls [--experiment late-falls] [--window 100] [--points 5] [--json]

A fold has fallen where its last test accuracy is more than --points percentage points below the best of its last
--window epochs. Rows that differ in their seed alone are one variant. `begins` is the first epoch of the last run of
epochs that all stay so far below. One line per fallen fold with --folds.
"""
import argparse
import json
import os
import statistics
import sys


def records(out, trial):
    """The lines of every fold of a trial's folder, by fold."""
    folder = os.path.join(out, "trials", trial)
    if not os.path.isdir(folder):  # the run was stopped before it
        return
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name, "metrics.jsonl")
        if name.startswith("fold-") and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                yield [json.loads(line) for line in file]


def curve(lines):
    """Epochs and test accuracies in percent, of epochs that were tested."""
    return [(line["epoch"], 100 * line["test_accuracy"]) for line in lines if line.get("test_accuracy") is not None]


def fall(points, window, depth):
    """How far the last accuracy is below the best of the window, and the epoch it begins in; None: it has not fallen."""
    end = points[-1][0]
    best = max(value for epoch, value in points if epoch > end - window)
    if best - points[-1][1] <= depth:
        return None
    begins = end
    for epoch, value in reversed(points):
        if best - value <= depth:
            break
        begins = epoch
    return best - points[-1][1], begins


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--experiment", default="late-falls")
    parser.add_argument("--window", type=int, default=100)
    parser.add_argument("--points", type=float, default=5)
    parser.add_argument("--folds", action="store_true", help="one line per fallen fold too")
    parser.add_argument("--json", action="store_true")
    call = parser.parse_args()
    with open(os.path.join(call.out, "experiments", call.experiment + ".json"), encoding="utf-8") as file:
        rows = json.load(file)["rows"]
    variants = {}
    for row in rows:
        name = row["name"].split(", seed ")[0]
        mine = variants.setdefault(name, {"folds": 0, "fallen": [], "last": [], "best": []})
        for trial in row["trials"]:
            for lines in records(call.out, trial):
                points = curve(lines)
                if not points:
                    continue
                mine["folds"] += 1
                mine["last"].append(points[-1][1])
                mine["best"].append(max(value for epoch, value in points if epoch > points[-1][0] - call.window))
                found = fall(points, call.window, call.points)
                if found:
                    mine["fallen"].append({"trial": trial, "points": found[0], "begins": found[1]})
    if call.json:
        json.dump(variants, sys.stdout, indent=1)
        return
    print(f"{'variant':<24} {'folds':>5} {'fallen':>6} {'begins':>11} {'last %':>14} {'best of last ' + str(call.window):>20}")
    for name, mine in variants.items():
        begins = [fold["begins"] for fold in mine["fallen"]]
        span = f"{min(begins)}-{max(begins)}" if begins else "-"
        last = f"{statistics.mean(mine['last']):.2f} ± {statistics.pstdev(mine['last']):.2f}" if mine["last"] else "-"
        best = f"{statistics.mean(mine['best']):.2f}" if mine["best"] else "-"
        print(f"{name:<24} {mine['folds']:>5} {len(mine['fallen']):>6} {span:>11} {last:>14} {best:>20}")
        if call.folds:
            for fold in mine["fallen"]:
                print(f"    {fold['trial']}: {fold['points']:.1f} points, from epoch {fold['begins']} on")


if __name__ == "__main__":
    main()
