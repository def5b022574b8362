#!/usr/bin/env python3
"""How much slower the Python module is than the program: importing, training, handing arrays over.

    TYCHE_LIBRARY=build/libtyche_c.so PYTHONPATH=python python3 bench/python_speed.py --program build/tyche

The two train in turns, and what is said is the ratio of the medians: times of one machine at one time.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def importing():
    times = [float(subprocess.run(
        [sys.executable, "-c", "import time; start = time.perf_counter(); import tyche; print(time.perf_counter() - start)"],
        capture_output=True, text=True, check=True).stdout) for _ in range(5)]
    print(f"import tyche       {min(times):.3f} s, NumPy included (best of 5)")


def training(program, folder, epochs, device, rounds):
    import tyche

    data = folder / "exp"
    exp = tyche.datasets.exp(pairs=600, seed=1, folder=data)
    exp = tyche.datasets.read(data)
    ours, theirs = [], []
    for i in range(rounds):
        run = folder / f"run-{i}"
        subprocess.run([program, "train", "--data", data, "--folds", "1", "--rni", "0.5", "--epochs", str(epochs), "--device",
                        device, "--out", run, "--quiet"], check=True, capture_output=True)
        lines = (run / "fold-0/metrics.jsonl").read_text().splitlines()
        theirs.append(sum(json.loads(line)["seconds"] + json.loads(line)["eval_seconds"] for line in lines))
        clf = tyche.GraphClassifier(rni=0.5, epochs=epochs, device=device, progress=False)
        wall = seconds(lambda: clf.fit(exp))
        ours.append(sum(e["seconds"] + e["eval_seconds"] for e in clf.result_.history))
        whole = wall / ours[-1]
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"training on EXP    {statistics.median(ours):.2f} s for {epochs} epochs here, {statistics.median(theirs):.2f} s in "
          f"the program: ratio {ratio:.3f}; fit() as a whole takes {whole:.3f} times its epochs")


def handing_over(folder, graphs):
    import tyche

    part = tyche.datasets.exp(pairs=500, seed=1, certify=False)
    many = part[[i % len(part) for i in range(graphs)]]
    many.write(folder / "many.txt")
    read = seconds(lambda: tyche.datasets.read(folder / "many.txt"))
    again = tyche.datasets.read(folder / "many.txt")
    arrays = seconds(lambda: [getattr(again, name) for name in ("ptr", "offsets", "neighbours", "types", "edge_index", "labels")])
    print(f"{graphs} graphs      read in {read:.2f} s, their arrays handed over in {arrays:.2f} s: {(read + arrays) / read:.2f} "
          "times the reading")


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--program", default=os.environ.get("TYCHE_PROGRAM", "build/tyche"))
    words.add_argument("--device", default="cpu")
    words.add_argument("--epochs", type=int, default=20)
    words.add_argument("--rounds", type=int, default=3)
    words.add_argument("--graphs", type=int, default=100_000)
    call = words.parse_args()
    importing()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        training(call.program, folder, call.epochs, call.device, call.rounds)
        handing_over(folder, call.graphs)


if __name__ == "__main__":
    main()
