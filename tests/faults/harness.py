#!/usr/bin/env python3
"""Faults, counted: kills, full disks, failing calls, flipped bytes, two processes at once (docs/reliability.md).

  tests/faults/harness.py PROGRAM [--runs N] [--seed S] [--only PART ...]

N faults of each kind per job; N = 0: as many as there are calls, 100 kills, 100 flips per kind of file, 20 starts of
two at once. Exit code 1 where something was lost, or something wrong was read without a word. jobs.py has the jobs,
flips.py the flips, shim.c the calls that fail. Needs gcc (the shim) and Python's standard library alone.
"""
import argparse
import errno
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from flips import Flips
from jobs import call, contents, difference, make_data, make_jobs

PARTS = ["kills", "disk", "errors", "flips", "two"]
NAMED = re.compile(r"/[^\s:;']+")


class Harness(Flips):
    def __init__(self, program, runs, seed):
        self.program = os.path.abspath(program)
        self.runs = runs
        self.random = random.Random(seed)
        # In memory where there is room: waiting for a disk, thousands of times, shows nothing more.
        where = "/dev/shm" if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 2**28 else None
        self.work = os.path.realpath(tempfile.mkdtemp(prefix="tyche-faults-", dir=where))
        self.counts = {}
        self.failures = []
        self.shim = os.path.join(self.work, "shim.so")
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", self.shim, os.path.join(here, "shim.c"), "-ldl"],
                       check=True)
        make_data(self.work, self.must)
        self.jobs = make_jobs(self.work, self.must)

    def path(self, *parts):
        return os.path.join(self.work, *parts)

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
        under = self.work if kind == "read" else job.run  # data, splits and experiments lie beside the run
        return {"LD_PRELOAD": self.shim, "TYCHE_FAULT_UNDER": under, "TYCHE_FAULT_CALL": kind,
                "TYCHE_FAULT_AT": str(at), "TYCHE_FAULT_ERRNO": str(error),
                "TYCHE_FAULT_STICKY": "1" if sticky else "0", "TYCHE_FAULT_COUNT": self.path("count")}

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
        if job.shorter:  # reads its own files back, too
            self.make_half(job)
            self.calls_fail(job, "EIO", "read", errno.EIO, False, True)

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
