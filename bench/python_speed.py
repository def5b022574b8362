#!/usr/bin/env python3
"""How much slower the Python module is than the program: importing, training, reading and handing arrays over.

    TYCHE_LIBRARY=build/libtyche_c.so PYTHONPATH=python /usr/bin/python3 bench/python_speed.py --program build/tyche

Program and module run in turns, each in a process of its own; what counts is the ratio of the medians, of times and of
CPU times, which hold where other work goes on beside it. Both train to the same bytes, or this fails.
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

TRAIN = """
import json, sys, time
import tyche
exp = tyche.datasets.read(sys.argv[1])
clf = tyche.GraphClassifier(rni=0.5, epochs=int(sys.argv[2]), device=sys.argv[3], progress=False)
start, cpu = time.perf_counter(), time.process_time()
clf.fit(exp)
fit, fit_cpu = time.perf_counter() - start, time.process_time() - cpu
clf.save(sys.argv[4])
print(json.dumps([fit, fit_cpu, sum(e["seconds"] + e["eval_seconds"] for e in clf.result_.history)]))
"""
READ = """
import json, sys, time
import tyche
start, cpu = time.perf_counter(), time.process_time()
graphs = tyche.datasets.read(sys.argv[1])
read, read_cpu = time.perf_counter() - start, time.process_time() - cpu
arrays = [getattr(graphs, name) for name in ("ptr", "offsets", "neighbours", "types", "edge_index", "labels")]
print(json.dumps([time.perf_counter() - start, time.process_time() - cpu, read, read_cpu]))
"""
IMPORT = "import time; a, b = time.perf_counter(), time.process_time(); import {}; print([time.perf_counter() - a, time.process_time() - b])"


def run(*command):
    """What a process prints, its seconds and its CPU seconds."""
    start = time.perf_counter()
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    said = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):  # 1: the answer is no
        raise SystemExit(f"python_speed: {command[0]} failed")
    return said, time.perf_counter() - start, used.ru_utime + used.ru_stime


def row(what, ours, theirs):
    """A line of the table: medians over the rounds, of pairs (seconds, CPU seconds)."""
    a, b = (tuple(statistics.median(column) for column in zip(*times)) for times in (ours, theirs))
    print(f"{what:44}{a[0]:9.3f} s{b[0]:9.3f} s{a[0] / b[0]:8.3f}{a[1]:12.3f} s{b[1]:9.3f} s{a[1] / b[1]:8.3f}", flush=True)


def importing(rounds):
    for name in ("numpy", "tyche"):
        times = [json.loads(run(sys.executable, "-c", IMPORT.format(name))[0]) for _ in range(rounds)]
        wall, cpu = (min(column) for column in zip(*times))
        print(f"import {name:10} {wall:.3f} s, CPU {cpu:.3f} s (best of {rounds})")


def training(program, folder, epochs, device, rounds):
    data, own = folder / "exp", folder / "own.safetensors"
    run(program, "generate", "exp", "--pairs", "600", "--seed", "1", "--out", data)
    ours, theirs, fits, our_epochs, their_epochs = [], [], [], [], []
    for i in range(rounds):
        out = folder / f"run-{i}"
        theirs.append(run(program, "train", "--data", data, "--folds", "1", "--rni", "0.5", "--epochs", epochs, "--device", device,
                          "--out", out, "--quiet")[1:])
        lines = [json.loads(line) for line in (out / "fold-0/metrics.jsonl").read_text().splitlines()]
        their_epochs.append(sum(line["seconds"] + line["eval_seconds"] for line in lines))
        said, *whole = run(sys.executable, "-c", TRAIN, data, epochs, device, own)
        fit, fit_cpu, of_epochs = json.loads(said.splitlines()[-1])
        ours.append(whole)
        fits.append((fit, fit_cpu))
        our_epochs.append(of_epochs)
        if own.read_bytes() != (out / "fold-0/last.safetensors").read_bytes():
            raise SystemExit("python_speed: the two do not train to the same bytes")
    print(f"\n{'EXP, ' + str(epochs) + ' epochs, ' + device:44}{'module':>11}{'program':>11}{'ratio':>8}{'CPU module':>14}{'program':>11}{'ratio':>8}")
    row("fit() beside the whole program", fits, theirs)
    row("whole process beside the whole program", ours, theirs)
    row("epochs alone", [(t, t) for t in our_epochs], [(t, t) for t in their_epochs])


def handing_over(program, folder, graphs, rounds):
    part, many = folder / "part", folder / "many.txt"
    run(program, "generate", "exp", "--pairs", "500", "--seed", "1", "--out", part)
    count, body = (part / "graphs.txt").read_text().split("\n", 1)
    many.write_text(f"{graphs}\n" + body * (graphs // int(count)))
    ours, theirs, reads = [], [], []
    for _ in range(rounds):
        # The program reads them all to compare the first two.
        theirs.append(run(program, "wl", many, "--index", "0,1", "--quiet")[1:])
        both = json.loads(run(sys.executable, "-c", READ, many)[0])
        ours.append(both[:2])
        reads.append(both[2:])
    print()
    row(f"{graphs} graphs: read, arrays handed over", ours, theirs)
    row("  read alone", reads, theirs)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--program", default=os.environ.get("TYCHE_PROGRAM", "build/tyche"))
    words.add_argument("--device", default="cpu")
    words.add_argument("--epochs", type=int, default=20)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--graphs", type=int, default=100_000, help="a multiple of 1000")
    call = words.parse_args()
    importing(call.rounds)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        training(call.program, folder, call.epochs, call.device, call.rounds)
        handing_over(call.program, folder, call.graphs, call.rounds)


if __name__ == "__main__":
    main()
