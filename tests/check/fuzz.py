#!/usr/bin/env python3
"""So many inputs for every fuzz target, counted over stops.

  tests/check/fuzz.py --inputs N --state FILE --key KEY [--jobs N]

Targets are fuzzed in slices of a tenth, each under a fresh seed and from the corpus that the ones before have grown
(build-gate-clang/found-NAME). After each slice its inputs are added up in FILE, which belongs to the tree named by KEY: a run that is
stopped loses a slice. Exit code 1 where something was found.
"""
import argparse
import concurrent.futures
import json
import os
import re
import secrets
import subprocess
import sys
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COUNT = re.compile(r"^gate: fuzz: (\w+): (\d+) inputs$", re.MULTILINE)


class Count:
    """Inputs per target, kept in a file. Another key begins at nothing."""

    def __init__(self, path, key):
        self.path, self.lock = path, threading.Lock()
        self.state = {"key": key, "inputs": {}}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                before = json.load(file)
            if before["key"] == key:
                self.state = before

    def of(self, target):
        return self.state["inputs"].get(target, 0)

    def add(self, target, inputs):
        with self.lock:
            self.state["inputs"][target] = self.of(target) + inputs
            with open(self.path + ".new", "w", encoding="utf-8") as file:
                json.dump(self.state, file)
            os.replace(self.path + ".new", self.path)


def slice_of(target, runs):
    """Inputs that were tried, and whether all went well; run by script/gate."""
    seed = secrets.randbelow(2**31 - 1) + 1
    done = subprocess.run(["script/gate", "fuzz-one", target], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", env=dict(os.environ, TYCHE_FUZZ_RUNS=str(runs), TYCHE_FUZZ_SEED=str(seed)), check=False)
    found = COUNT.search(done.stdout)
    if done.returncode != 0 or not found:
        print(f"{done.stdout.rstrip()}\nfuzz: {target}: seed {seed}, exit code {done.returncode}", flush=True)
        return 0, False
    print(f"fuzz: {target}: {found[2]} inputs, seed {seed}", flush=True)
    return int(found[2]), True


def fuzz(target, count, inputs, run=slice_of):
    while count.of(target) < inputs:
        tried, well = run(target, min(max(inputs // 10, 1000), inputs - count.of(target)))
        if not well or tried == 0:
            return False
        count.add(target, tried)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, required=True)
    parser.add_argument("--state", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    targets = subprocess.run(["script/gate", "fuzz-targets"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    # What the gate says of its build comes first; a target's line is its name alone.
    targets = [line for line in targets if re.fullmatch(r"\w+_fuzz", line)]
    if not targets:
        print("gate: fuzz left out: there are no targets")
        return 1
    count = Count(arguments.state, arguments.key)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        well = list(pool.map(lambda target: fuzz(target, count, arguments.inputs), targets))
    for target in targets:
        print(f"gate: fuzz: {target}: {count.of(target)} inputs")
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
