"""Trains rows of options on sets of bench/own_data.py and writes what came out: how docs/lab/own-data.md was measured.

  python3 bench/own_data.py own 1 --graphs 4000
  python3 bench/own_grid.py own grid.csv --rows grid --epochs 100       # 144 rows on each of the six sets
  python3 bench/own_grid.py own last.csv --rows default --repeats 3     # what nobody gave an option for

Of each set 900 graphs train, 100 validate, and the others test once, with the epoch that validation chose. A row's score
is the test accuracy (of real targets R², of `screen` ROC AUC) in %. Rows that a call of before has written are kept.
"""
import argparse
import csv
import itertools
import json
import os
import random
import shutil
import subprocess
import tempfile
import threading
import time

SIX = ["sorted", "bare", "scales", "bonds", "grows", "rare"]
GRID = {
    "network": ["--model gcn --aggregation mean", "--model gcn --aggregation sum", "--model gin"],
    "readout": ["--readout max", "--readout mean", "--readout sum"],
    "layers": ["--layers 4", "--layers 2"],
    "width": ["--width 64", "--width 32"],
    "dropout": ["--dropout 0", "--dropout 0.5"],
    "rate": ["--lr 1e-3", "--lr 3e-3"],
}
SHORT = {**GRID, "layers": ["--layers 4"], "width": ["--width 64"], "rate": ["--lr 1e-3"]}


def rows_of(kind):
    if kind == "default":
        return [""]
    if kind in ("grid", "short"):
        return [" ".join(row) for row in itertools.product(*(GRID if kind == "grid" else SHORT).values())]
    with open(kind, encoding="utf-8") as file:  # a row per line
        return [line.strip() for line in file if line.strip() or line == "\n"]


def split_of(folder, name, train):
    """A file that says the parts, drawn once from the name."""
    path = os.path.join(folder, f"{name}.{train}.split.json")
    if os.path.exists(path):
        return path
    with open(os.path.join(folder, name + ".jsonl"), encoding="utf-8") as file:
        graphs = list(range(sum(1 for _ in file)))
    random.Random(name).shuffle(graphs)
    validate = train + train // 9
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"train": graphs[:train], "validation": graphs[train:validate], "test": graphs[validate:]}, file)
    return path


def score(name, summary):
    for key in ["test_roc_auc_mean"] if name == "screen" else ["test_accuracy_mean", "test_r2_mean"]:
        if key in summary:
            return round(100 * summary[key], 3)
    return None


def run(call, name, row, repeat, split, device):
    folder = tempfile.mkdtemp(prefix="own-grid-")
    command = [call.program, "train", "--data", os.path.join(call.data, name + ".jsonl"), "--split", split, "--test", "end",
               "--device", device, "--threads", "1", "--json", "--quiet", "--repeat", str(repeat), "--out", folder + "/run"]
    command += ["--epochs", str(call.epochs)] if call.epochs else []
    begin = time.time()
    try:
        done = subprocess.run(command + row.split(), capture_output=True, text=True, timeout=call.limit, check=False)
        if done.returncode != 0:
            return {"error": done.stderr.strip().splitlines()[-1][:150] if done.stderr.strip() else "failed"}
        summary = json.loads(done.stdout)
        return {"score": score(name, summary), "validation": summary["folds"][0].get("validation_loss"),
                "mae": summary.get("test_mae_mean"), "balanced": summary.get("test_balanced_accuracy_mean"),
                "seconds": round(time.time() - begin, 1)}
    except subprocess.TimeoutExpired:
        return {"error": "too long"}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--rows", default="grid", help="grid, short (layers, width and rate fixed), default, or a file (NAME-{}.txt: one per set)")
    parser.add_argument("--sets", default=",".join(SIX))
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--train", type=int, default=900)
    parser.add_argument("--epochs", type=int, help="default: as the program chooses")
    parser.add_argument("--program", default="tyche")
    parser.add_argument("--workers", type=int, default=2, help="runs at a time on the CPU")
    parser.add_argument("--gpu-workers", type=int, default=0, help="runs at a time on the GPU, beside them")
    parser.add_argument("--limit", type=float, help="seconds that one run may take")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no run after so long")
    call = parser.parse_args()
    fields = ["set", "repeat", "row", "score", "validation", "mae", "balanced", "seconds", "error"]
    known = set()
    if os.path.exists(call.out):
        with open(call.out, encoding="utf-8") as file:
            known = {(r["set"], int(r["repeat"]), r["row"]) for r in csv.DictReader(file) if not r["error"]}
    fresh = not os.path.exists(call.out)
    names = call.sets.split(",")
    work = [(name, repeat, row) for repeat in range(call.repeats) for name in names
            for row in rows_of(call.rows.replace("{}", name))]
    work = [item for item in work if item not in known]
    random.Random(1).shuffle(work)  # so that what is done of it when time runs out says something of all
    splits = {name: split_of(call.data, name, call.train) for name in names}
    begin, lock = time.time(), threading.Lock()
    with open(call.out, "a", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, fields)
        if fresh:
            table.writeheader()

        def worker(device):
            while time.time() - begin < call.seconds:
                with lock:
                    if not work:
                        return
                    name, repeat, row = work.pop(0)
                result = run(call, name, row, repeat, splits[name], device)
                with lock:
                    table.writerow({"set": name, "repeat": repeat, "row": row, **result})
                    file.flush()

        devices = ["cpu"] * call.workers + ["cuda"] * call.gpu_workers
        threads = [threading.Thread(target=worker, args=(device,)) for device in devices]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if work:
        print(f"{len(work)} rows are left")


if __name__ == "__main__":
    main()
