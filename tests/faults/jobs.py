"""The jobs that faults are injected into: tiny ones, each a command that makes a folder and can be taken up again."""
import json
import os
import shutil
import subprocess

SMALL = ["--width", "8", "--layers", "2", "--rni", "0.5", "--batch", "4"]
TABLE = """title = "Faults"
show = ["table"]
[data]
generate = "cexp"
pairs = 6
[defaults]
model.width = 8
model.layers = 2
training.batch = 4
folds.count = 3
folds.run = 2
training.epochs = 5
[[models]]
name = "GCN"
[[models]]
name = "RNI"
model.rni = 0.5
"""
NESTED = """selection = "nested"
repeats = 2
[data]
path = "graphs.jsonl"
split = "split.json"
[defaults]
model.width = 8
model.layers = 2
model.rni = 0.5
training.batch = 4
training.epochs = 4
[[models]]
name = "GCN"
[grid]
training.learning_rate = [1e-2, 1e-3]
"""


class Job:
    """A command that makes a folder: begun, and taken up again, in the same words. Everything is done in WORK/run, so
    that files that hold paths are equal, too."""

    def __init__(self, work, name, words, good=(0,), shorter=None):
        self.name = name
        self.work = work
        self.run = os.path.join(work, "run")
        self.words = words
        self.good = good
        self.shorter = shorter  # makes a folder that is half done out of a whole one
        self.whole = os.path.join(work, "whole-" + name)

    def command(self):
        return [w.replace("RUN", self.run) for w in self.words]


def call(program, words, env=None, timeout=300):
    return subprocess.run([program] + words, env=dict(os.environ, **(env or {})), timeout=timeout,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in ("seconds", "eval_seconds", "check")}
    if isinstance(value, list):
        return [without_times(v) for v in value]
    return value


def contents(folder, apart=()):
    """Every file of a folder, byte for byte; where times are recorded, all but those. Logs have dates and stay out."""
    files = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            key = os.path.relpath(path, folder)
            if name == "log.jsonl" or key in apart:
                continue
            with open(path, "rb") as file:
                data = file.read()
            if name == "metrics.jsonl":
                data = [without_times(json.loads(line)) for line in data.decode().splitlines()]
            elif name in ("summary.json", "test.json"):
                data = without_times(json.loads(data))
            files[key] = data
    return files


def difference(a, b):
    return sorted(k for k in a.keys() | b.keys() if a.get(k) != b.get(k))


def make_data(work, must):
    """What the jobs read: WORK/data (EXP), WORK/graphs.jsonl (the same), WORK/split.json, WORK/ladder (for sets)."""
    path = lambda name: os.path.join(work, name)
    must(["generate", "exp", "--pairs", "6", "--planar-nodes", "12:1", "--seed", "1", "--format", "jsonl,tu", "--out",
          path("made"), "--threads", "1"])
    os.rename(os.path.join(path("made"), "graphs.jsonl"), path("graphs.jsonl"))
    os.rename(os.path.join(path("made"), "tu"), path("tu"))
    os.rename(path("made"), path("data"))
    must(["generate", "tseitin", "--base-nodes", "16", "--pairs", "3", "--no-certify", "--seed", "1", "--out",
          path("ladder"), "--threads", "1"])
    fold = lambda test: {"train": [g for g in range(8) if g not in test], "validation": [8, 9, 10, 11], "test": test}
    for name, text in (("table.toml", TABLE), ("nested.toml", NESTED),
                       ("split.json", json.dumps([fold([0, 1]), fold([2, 3])]))):
        with open(path(name), "w") as file:
            file.write(text)


def make_jobs(work, must):
    data, jsonl = os.path.join(work, "data"), os.path.join(work, "graphs.jsonl")
    jobs = []

    def fewer_epochs(run):
        shutil.rmtree(run)
        words = next(job for job in jobs if job.name == "train").command()
        words[words.index("--epochs") + 1] = "5"
        must(words)

    def cut_fold(run):
        shutil.rmtree(os.path.join(run, "fold-1"))
        os.remove(os.path.join(run, "summary.json"))

    def cut_results(run):
        path = os.path.join(run, "results.jsonl")
        with open(path) as file:
            lines = file.readlines()
        with open(path, "w") as file:
            file.writelines(lines[:len(lines) // 2])

    def cut_trials(run):
        trials = os.path.join(run, "trials")
        shutil.rmtree(os.path.join(trials, sorted(os.listdir(trials))[0]))

    out = ["--out", "RUN", "--threads", "1", "--quiet"]
    draws = ["--draws", "16", "--train-draws", "2", "--resume"]
    chosen = ["--split", os.path.join(work, "split.json"), "--select-by", "loss", "--test", "end"]
    jobs += [
        Job(work, "generate", ["generate", "exp", "--pairs", "40", "--planar-nodes", "12:1", "--seed", "1"] + out),
        Job(work, "train", ["train", "--data", data, "--resume", "--epochs", "8", "--folds", "2"] + SMALL + out,
            shorter=fewer_epochs),
        # With a split, the best epoch by validation, and the test part once, at the end.
        Job(work, "selected", ["train", "--data", jsonl, "--resume", "--epochs", "8"] + chosen + SMALL + out,
            shorter=cut_fold),
        Job(work, "distinguish", ["distinguish", data, "--epochs", "8", "--seeds", "3"] + draws + SMALL + out,
            (0, 1), cut_results),
        Job(work, "together", ["distinguish", data, "--together", "--epochs", "20", "--seeds", "2"] + draws + SMALL +
            out, (0, 1), cut_results),
        Job(work, "reproduce", ["reproduce", os.path.join(work, "table.toml"), "--resume"] + out, shorter=cut_trials),
        Job(work, "nested", ["reproduce", os.path.join(work, "nested.toml"), "--resume"] + out, shorter=cut_trials),
    ]
    return jobs
