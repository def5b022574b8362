#!/usr/bin/env python3
"""Faults, counted: kills, full disks, failing calls, flipped bytes, two processes at once (docs/reliability.md).

  tests/faults/harness.py PROGRAM [--runs N] [--seed S] [--only PART ...]

N faults of each kind per job; N = 0: as many as there are calls, and 100 kills and flips. Exit code 1 where something
was lost, or something wrong was read without a word. Needs gcc (the shim) and Python's standard library alone.
"""
import argparse
import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PARTS = ["kills", "disk", "errors", "flips", "two"]
NAMED = re.compile(r"/[^\s:;']+")


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
            elif name == "summary.json":
                data = without_times(json.loads(data))
            files[key] = data
    return files


def difference(a, b):
    return sorted(k for k in a.keys() | b.keys() if a.get(k) != b.get(k))


class Harness:
    def __init__(self, program, runs, seed):
        self.program = os.path.abspath(program)
        self.runs = runs
        self.random = random.Random(seed)
        # In memory where there is room: waiting for a disk, thousands of times, shows nothing more.
        where = "/dev/shm" if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 2**28 else None
        self.work = os.path.realpath(tempfile.mkdtemp(prefix="tyche-faults-", dir=where))
        self.counts = {}
        self.refused = self.harmless = 0  # flips
        self.failures = []
        self.shim = os.path.join(self.work, "shim.so")
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", self.shim, os.path.join(here, "shim.c"), "-ldl"],
                       check=True)
        self.jobs = self.make_jobs()

    # ---- the jobs

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def make_jobs(self):
        data = self.path("data")
        self.must(["generate", "exp", "--pairs", "6", "--planar-nodes", "12:1", "--seed", "1", "--out", data,
                   "--threads", "1"])
        self.must(["generate", "tseitin", "--base-nodes", "16", "--pairs", "3", "--no-certify", "--seed", "1", "--out",
                   self.path("ladder"), "--threads", "1"])
        with open(self.path("mine.toml"), "w") as file:
            file.write('title = "Faults"\nshow = ["table"]\n[data]\ngenerate = "cexp"\npairs = 6\n'
                       '[defaults]\nmodel.width = 8\nmodel.layers = 2\ntraining.batch = 4\nfolds.count = 3\n'
                       'folds.run = 2\ntraining.epochs = 5\n[[models]]\nname = "GCN"\n[[models]]\nname = "RNI"\n'
                       'model.rni = 0.5\n')
        small = ["--width", "8", "--layers", "2", "--rni", "0.5", "--threads", "1", "--quiet"]

        def cut_training(run):  # two epochs fewer
            shutil.rmtree(run)
            words = self.job("train").command()
            words[words.index("--epochs") + 1] = "6"
            self.must(words)

        def cut_results(run):
            path = os.path.join(run, "results.jsonl")
            with open(path) as file:
                lines = file.readlines()
            with open(path, "w") as file:
                file.writelines(lines[:len(lines) // 2])

        def cut_trials(run):
            trials = os.path.join(run, "trials")
            shutil.rmtree(os.path.join(trials, sorted(os.listdir(trials))[0]))

        return [
            Job(self.work, "generate", ["generate", "exp", "--pairs", "40", "--planar-nodes", "12:1", "--seed", "1",
                                        "--out", "RUN", "--threads", "1", "--quiet"]),
            Job(self.work, "train", ["train", "--data", data, "--out", "RUN", "--resume", "--epochs", "8", "--folds", "2",
                                     "--batch", "4"] + small, shorter=cut_training),
            Job(self.work, "distinguish", ["distinguish", data, "--out", "RUN", "--resume", "--epochs", "8", "--draws",
                                           "16", "--train-draws", "2", "--seeds", "3"] + small, (0, 1), cut_results),
            Job(self.work, "together", ["distinguish", data, "--together", "--out", "RUN", "--resume", "--epochs", "20",
                                        "--draws", "16", "--train-draws", "2", "--seeds", "2"] + small, (0, 1), cut_results),
            Job(self.work, "reproduce", ["reproduce", self.path("mine.toml"), "--out", "RUN", "--resume", "--threads", "1",
                                         "--quiet"], shorter=cut_trials),
        ]

    def job(self, name):
        return next(job for job in self.jobs if job.name == name)

    def must(self, words, good=(0,)):
        result = call(self.program, words)
        if result.returncode not in good:
            raise SystemExit(f"faults: 'tyche {' '.join(words)}' failed:\n{result.stderr}")
        return result

    def make_whole(self, job):
        shutil.rmtree(job.run, ignore_errors=True)
        start = time.monotonic()
        self.must(job.command(), job.good)
        job.seconds = time.monotonic() - start
        shutil.copytree(job.run, job.whole)
        job.expected = contents(job.whole)

    # ---- judging

    def count(self, part, job, what):
        key = (part, job, what)
        self.counts[key] = self.counts.get(key, 0) + 1

    def fail(self, where, what, result=None):
        text = f"{where}: {what}"
        if result is not None:
            text += f"\n    exit code {result.returncode}; {result.stderr.strip()[-400:]}"
        self.failures.append(text)
        print("FAULT " + text, file=sys.stderr, flush=True)

    def refusal_names_a_file(self, result):
        return result.returncode == 2 and any(self.work in m for m in NAMED.findall(result.stderr))

    def finish(self, job, where):
        """Takes the job up again without faults: it must end, and be what an undisturbed one is."""
        result = call(self.program, job.command())
        if result.returncode == 2 and job.name == "generate" and "holds a data set already" in result.stderr:
            pass  # it was whole
        elif result.returncode not in job.good:
            return self.fail(where, "cannot be taken up again", result)
        bad = difference(contents(job.run), job.expected)
        if bad:
            self.fail(where, f"taken up again it differs from an undisturbed run in {', '.join(bad)}")

    # ---- the parts

    def kills(self, job):
        left = self.runs or 100
        misses = 0
        while left > 0 and misses < 200:
            shutil.rmtree(job.run, ignore_errors=True)
            lives = 0
            while lives < 4 and left > 0 and misses < 200:
                process = subprocess.Popen([self.program] + job.command(), stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                number = self.random.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
                time.sleep(self.random.uniform(0, 1.1 * job.seconds))
                ended = process.poll() is not None
                process.send_signal(number)
                err = process.communicate()[1]
                code = process.returncode
                if ended:
                    misses += 1
                    break
                lives += 1
                left -= 1
                self.count("kills", job.name, signal.Signals(number).name)
                # A signal that asks is answered: by stopping in order, by its default before main, or by being done.
                if number != signal.SIGKILL and code not in (130, -number) + tuple(job.good) and not (
                        code == 2 and "holds a data set already" in err):
                    self.fail(f"{job.name}, {signal.Signals(number).name}", f"exit code {code}: {err.strip()[-300:]}")
            self.finish(job, f"{job.name} after {lives} kills")

    def shimmed(self, job, kind, at, error=errno.EIO, sticky=False):
        return {"LD_PRELOAD": self.shim, "TYCHE_FAULT_UNDER": job.run, "TYCHE_FAULT_CALL": kind,
                "TYCHE_FAULT_AT": str(at), "TYCHE_FAULT_ERRNO": str(error), "TYCHE_FAULT_STICKY": "1" if sticky else "0",
                "TYCHE_FAULT_COUNT": self.path("count")}

    def begin_from(self, job, half):
        shutil.rmtree(job.run, ignore_errors=True)
        if half:
            shutil.copytree(self.path("half-" + job.name), job.run)

    def points(self, job, kind, half):
        self.begin_from(job, half)
        call(self.program, job.command(), self.shimmed(job, kind, 0))
        with open(self.path("count")) as file:
            total = int(file.read())
        every = list(range(1, total + 1))
        if self.runs and len(every) > self.runs:
            every = sorted(self.random.sample(every, self.runs))
        return every

    def calls_fail(self, job, part, kind, error, sticky, half):
        for at in self.points(job, kind, half):
            self.begin_from(job, half)
            result = call(self.program, job.command(), self.shimmed(job, kind, at, error, sticky))
            where = f"{job.name}, {kind} {at} fails with {errno.errorcode[error]}"
            self.count(part, job.name, kind)
            if result.returncode < 0:
                self.fail(where, f"ended by signal {-result.returncode}", result)
            elif result.returncode in job.good:
                # Allowed where nothing hangs on the call; the result must be whole then.
                bad = difference(contents(job.run), job.expected)
                if bad:
                    self.fail(where, f"said nothing, and differs in {', '.join(bad)}", result)
            elif not self.refusal_names_a_file(result):
                self.fail(where, "the refusal names no file", result)
            self.finish(job, where)

    def make_half(self, job):
        half = self.path("half-" + job.name)
        if job.shorter and not os.path.exists(half):
            shutil.rmtree(job.run, ignore_errors=True)
            shutil.copytree(job.whole, job.run)
            job.shorter(job.run)
            shutil.copytree(job.run, half)

    def disk(self, job):
        self.calls_fail(job, "disk full", "write", errno.ENOSPC, True, False)

    def errors(self, job):
        for kind in ("write", "rename", "fsync"):
            self.calls_fail(job, "EIO", kind, errno.EIO, False, False)
        if job.shorter:
            self.make_half(job)
            self.calls_fail(job, "EIO", "read", errno.EIO, False, True)

    def flip(self, path):
        with open(path, "r+b") as file:
            data = file.read()
            if not data:
                return None
            at = self.random.randrange(len(data))
            bit = self.random.randrange(8)
            file.seek(at)
            file.write(bytes([data[at] ^ (1 << bit)]))
        return f"byte {at}, bit {bit}"

    def flips_in(self, name, make, file, words, good, compare):
        """Flips in one file: the reader refuses and names it, or gives what it gives without the flip."""
        make()
        result = call(self.program, words)
        expected = compare(result)
        if result.returncode not in good:
            return self.fail(name, "fails without a flip", result)
        for _ in range(self.runs or 100):
            make()
            where = self.flip(file)
            if where is None:
                continue
            result = call(self.program, words)
            label = f"{name}, {os.path.basename(file)}: {where}"
            self.count("flips", os.path.basename(re.sub(r"[0-9a-f]{16}|\d+", "N", os.path.basename(file))), "flips")
            if result.returncode < 0:
                self.fail(label, f"ended by signal {-result.returncode}", result)
            elif result.returncode in good:
                if compare(result) != expected:
                    self.fail(label, "was read, and something else came of it", result)
                else:
                    self.harmless += 1
            elif result.returncode == 2 and os.path.basename(file) in result.stderr:
                self.refused += 1
            else:
                self.fail(label, "the refusal does not name the file", result)

    def flips(self, job):
        if job.name == "generate":
            return self.flips_in_data()
        self.make_half(job)
        half = self.path("half-" + job.name)
        files = sorted(os.path.join(w, n) for w, _, names in os.walk(half) for n in names)
        seen = set()
        for file in files:
            kind = re.sub(r"[0-9a-f]{16}|\d+", "N", os.path.relpath(file, half))
            if kind in seen:
                continue
            seen.add(kind)
            target = os.path.join(job.run, os.path.relpath(file, half))
            key = os.path.relpath(file, half)
            # Taken up again.
            self.flips_in(job.name, lambda: self.begin_from(job, True), target, job.command(), job.good,
                          lambda r: difference(contents(job.run, (key,)), {k: v for k, v in job.expected.items() if k != key}))
            # Shown in a report.
            page = self.path("report.csv")

            def shown(result):
                if not os.path.exists(page):
                    return None
                with open(page, "rb") as opened:
                    data = opened.read()
                os.remove(page)
                return data
            if os.path.basename(file) not in ("graphs.txt", "manifest.json", "network-1.safetensors"):
                self.flips_in(job.name + " report", lambda: self.begin_from(job, True), target,
                              ["report", job.run, "--format", "csv", "--out", page], (0,), shown)
            if file.endswith("last.safetensors") and job.name == "train":
                self.flips_in("predict", lambda: self.begin_from(job, True), target,
                              ["predict", "--checkpoint", target, "--data", self.path("data"), "--json"], (0,),
                              lambda r: r.stdout)

    def flips_in_data(self):
        copy = self.path("copy")

        def make():
            shutil.rmtree(copy, ignore_errors=True)
            shutil.rmtree(self.path("run"), ignore_errors=True)
            shutil.copytree(self.path("data"), copy)
        words = ["train", "--data", copy, "--out", self.path("run"), "--epochs", "1", "--folds", "2", "--batch", "4",
                 "--width", "8", "--layers", "2", "--rni", "0.5", "--threads", "1", "--quiet"]
        for name in ("graphs.txt", "manifest.json"):
            self.flips_in("data", make, os.path.join(copy, name), words, (0,), lambda r: contents(self.path("run")))
        # Colour classes of sets, which a damaged file makes the program find again.
        cache, spare = self.path("cache"), self.path("cache-spare")
        words = ["train", "--data", self.path("ladder"), "--model", "gcn3", "--out", self.path("run"), "--epochs", "1",
                 "--width", "4", "--layers", "2", "--folds", "2", "--fold", "0", "--threads", "1", "--quiet", "--cache",
                 cache]
        self.must(words)
        os.rename(cache, spare)

        def make_cache():
            shutil.rmtree(cache, ignore_errors=True)
            shutil.rmtree(self.path("run"), ignore_errors=True)
            shutil.copytree(spare, cache)
        kept = self.runs
        self.runs = min(kept or 100, 20)  # each is two seconds of colouring
        self.flips_in("sets", make_cache, os.path.join(cache, os.listdir(spare)[0]), words, (0,),
                      lambda r: contents(self.path("run")))
        self.runs = kept

    def two(self, job):
        for _ in range(min(self.runs or 20, 20)):
            shutil.rmtree(job.run, ignore_errors=True)
            processes = []
            for _ in range(2):
                processes.append(subprocess.Popen([self.program] + job.command(), stdin=subprocess.DEVNULL,
                                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
                time.sleep(self.random.uniform(0, 0.3 * job.seconds))
            self.count("two at once", job.name, "pairs")
            for process in processes:
                err = process.communicate()[1]
                refused = process.returncode == 2 and self.work in err
                if process.returncode not in job.good and not refused:
                    self.fail(f"{job.name}, two at once", f"exit code {process.returncode}: {err.strip()[-300:]}")
            self.finish(job, f"{job.name}, two at once")

    # ---- all

    def go(self, parts):
        start = time.monotonic()
        for job in self.jobs:
            self.make_whole(job)
        for part in parts:
            for job in self.jobs:
                began = time.monotonic()
                before = sum(self.counts.values())
                getattr(self, part)(job)
                print(f"faults: {part}: {job.name}: {sum(self.counts.values()) - before} in "
                      f"{time.monotonic() - began:.1f} s, {len(self.failures)} failures so far", flush=True)
        shutil.rmtree(self.work, ignore_errors=True)
        print("\n| part | where | what | count |\n|---|---|---|---|")
        for (part, job, what), count in sorted(self.counts.items()):
            print(f"| {part} | {job} | {what} | {count} |")
        print(f"\nflips: {self.refused} refused, {self.harmless} without effect or made again")
        print(f"faults: {len(self.failures)} failures, {time.monotonic() - start:.0f} s")
        return 1 if self.failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", choices=PARTS)
    arguments = parser.parse_args()
    sys.exit(Harness(arguments.program, arguments.runs, arguments.seed).go(arguments.only or PARTS))


if __name__ == "__main__":
    main()
