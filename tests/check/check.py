#!/usr/bin/env python3
"""script/check: everything in full, in parts that go on where they were stopped. script/check has the list for users.

A part is one or more steps, each a command. What has passed is kept in build-check/NAME.json with the key of the files that
matter to it (tree.py); on another key it is thrown away. So it is in the table that --write puts into the docs, for those who have
no build-check/: what passed elsewhere on the same content has passed. Long steps keep their own books inside: tests by name
(run_tests.py --keep), fuzzing by inputs (fuzz.py), promises by promise (promises.py), clang-tidy by source (script/lint).
"""
import argparse
import datetime
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from tree import BEGIN, END, PAGE, ROOT, commit, key

RESULTS = os.path.join(ROOT, "build-check")
PYTHON = "/usr/bin/python3"
# Tests that read the docs, or look at the tree as a whole: not believed on another tree, whatever their code.
READ_DOCS = re.compile(r"docs\.|check\.|install\.|python\.wheel|test_theory(_slow)?\.Document")
FIGURES = [re.compile(pattern) for pattern in (
    r"^script/test: (\d+ passed, .*)", r"^gate: fuzz: (\w+: \d+ inputs)$", r"^lint: (\d+ sources.*)", r"^faults: (\d+ .*)",
    r"^planted: (.*)", r"^mutants: (\d+ .*)", r"^promises: (\w+: \w.*)")]


@dataclass
class Part:
    name: str
    kind: str  # of the files that matter to it (tree.KINDS)
    minutes: int  # on two idle cores, until it has been seen here
    steps: dict  # name -> command; {seed}, {fuzz}, {key}, {results} are filled in
    seeded: bool = False


def parts(fuzz, fast):
    faults = "--runs 2" if fast else ""
    return [
        Part("style", "tree", 1, {"style": "script/lint"}),
        Part("tidy", "program", 28, {"tidy": "script/lint --tidy"}),
        Part("tests", "code", 45, {"tests": "script/test --all --keep {results}/tests.passed"}, True),
        Part("clang", "built", 5, {"clang": "script/build clang"}),
        Part("presets", "built", 30, {name: f"script/build {name}" for name in ("dev", "fuzz", "portable")}),
        Part("memory", "built", 33, {"memory": "script/test --preset asan --keep {results}/memory.passed"}, True),
        Part("threads", "built", 36, {"threads": "script/test --preset tsan --keep {results}/threads.passed"}, True),
        Part("fuzz", "program", max(1, round(18 * fuzz / 1e6)),
             {f"fuzz {fuzz}": f"{PYTHON} tests/check/fuzz.py --inputs {fuzz} --state {{results}}/fuzz.count --key {{key}}"}),
        Part("faults", "program", 60, {name: f"script/faults {faults} --seed {{seed}} --only {name}"
                                       for name in ("kills", "disk", "errors", "flips", "two")}, True),
        Part("planted", "program", 15, {name: f"tests/gates/planted {name}"
                                        for name in ("format", "tidy", "leak", "race", "crash", "wheel", "glibc")}),
        Part("promises", "tree", 60, {"promises": f"{PYTHON} tests/check/promises.py --state {{results}}/promises.kept"}),
    ] + ([Part("mutants", "code", 60, {"mutants": "tests/gates/mutants"})]
         if os.path.exists(os.path.join(ROOT, "tests/gates/mutants")) else [])


def told(seconds):
    """Seconds as one says them.

    >>> told(40), told(600), told(9000)
    ('1 min', '10 min', '2 h 30 min')
    """
    minutes = max(1, round(seconds / 60))
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


class Book:
    """What is known of a part: the steps that passed on one key, its seconds so far, its last outcome."""

    def __init__(self, part, results=RESULTS):
        self.part, self.path = part, os.path.join(results, part.name + ".json")
        self.all = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.all = json.load(file)

    def turn(self, now, tree, results=RESULTS):
        """Begins anew where the key is another; of tests that passed, those that read the docs go with the tree."""
        passed = os.path.join(results, self.part.name + ".passed")
        if self.all.get("key") != now:
            self.all.update(key=now, tree=tree)
            self.forget(results)
        elif self.all.get("tree") != tree:
            self.all["tree"] = tree
            if os.path.exists(passed):
                with open(passed, encoding="utf-8") as file:
                    names = [line for line in file.read().splitlines() if not READ_DOCS.match(line)]
                with open(passed, "w", encoding="utf-8") as file:
                    file.write("".join(name + "\n" for name in names))
                self.all["done"] = []

    def believe(self, row, now, tree):
        """A row of the table (rows_of) that says of the same content what is not known here. Of tests some read the docs."""
        same = row and row["ran"] == now and (row["tree"] == tree or not any("--keep" in step for step in self.part.steps.values()))
        if same and row["outcome"] == "passed" and not self.passed_on(now):
            self.all.update(row, key=now, tree=tree, done=list(self.part.steps), spent=row["seconds"], whole=row["seconds"], seed=None)

    def passed_on(self, now):
        return self.all.get("outcome") == "passed" and self.all["ran"] == now

    def forget(self, results=RESULTS):
        """As if nothing of it had been run; how long it took last time stays."""
        self.all.update(done=[], spent=0)
        for kept in (".passed", ".count"):  # promises know their trees themselves
            path = os.path.join(results, self.part.name + kept)
            if os.path.exists(path):
                os.remove(path)

    def save(self):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.all, file, indent=1)
        os.replace(self.path + ".new", self.path)

    def passed(self):
        return self.passed_on(self.all.get("key")) and set(self.part.steps) <= set(self.all["done"])

    def left(self):
        """Seconds that it will take, about: those of its last whole run, less those spent on this tree."""
        return max(60, self.all.get("whole", 60 * self.part.minutes) - self.all.get("spent", 0))


def figures(log):
    found = [m[1] for line in log.splitlines() for pattern in FIGURES for m in [pattern.match(line)] if m]
    return "; ".join(dict.fromkeys(found))


def run_step(book, step, command, log):
    """Whether it passed. A gate that was left out for want of a package has not."""
    began = time.monotonic()
    with open(log, "wb") as out:
        process = subprocess.Popen(command, shell=True, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            code = process.wait()
        except BaseException:  # told to stop: the time was not for nothing
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            book.all["spent"] += time.monotonic() - began
            book.save()
            raise
    book.all["spent"] += time.monotonic() - began
    with open(log, encoding="utf-8", errors="replace") as file:
        left_out = re.search(r"^gate: .*left out.*$", file.read(), re.MULTILINE)
    if code == 0 and not left_out:
        book.all["done"].append(step)
    return code == 0 and not left_out


def run_part(book, named, results=RESULTS):
    part, state = book.part, book.all
    if named and book.passed():
        book.forget(results)
    seed = secrets.randbelow(2**31 - 1) + 1
    if part.seeded:
        os.environ["RC_PARAMS"] = f"seed={seed}"
        print(f"check: {part.name}: seed {seed}", flush=True)
    outcome, logs = "passed", []
    for step, command in part.steps.items():
        name = part.name if len(part.steps) == 1 else f"{part.name}-{step}"
        logs.append(os.path.join(results, name + ".log"))
        if step in state["done"]:
            continue
        if not run_step(book, step, command.format(seed=seed, key=state["key"], results=results), logs[-1]):
            outcome = "FAILED"
            with open(logs[-1], encoding="utf-8", errors="replace") as file:
                print("\n".join(line[:160] for line in file.read().splitlines()[-100:]), flush=True)
        book.save()
    os.environ.pop("RC_PARAMS", None)
    said = []
    for log in logs:
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="replace") as file:
                said.append(figures(file.read()))
    state.update(outcome=outcome, ran=state["key"], commit=commit(), date=datetime.date.today().isoformat(), figures="; ".join(filter(None, said)),
                 seconds=round(state["spent"]), seed=seed if part.seeded else None)
    if outcome == "passed":
        state["whole"] = state["spent"]
    book.save()
    print(f"check: {part.name}: {outcome}, {state['seconds']} s" + (f": {state['figures']}" if state["figures"] else ""), flush=True)
    return outcome == "passed"


def table(books, now):
    """Lines for docs/reliability.md: a table, then the figures, at most 120 characters wide."""
    known = [book for book in books if "outcome" in book.all]
    hold = [book for book in books if book.passed() and book.all["ran"] == now[book.part.kind]]
    yield f"`script/check` on {commit()}: {len(hold)} of {len(books)} parts have passed" + ("." if len(hold) == len(books) else ":")
    yield ""
    yield "| part | outcome | seconds | run on | date | of this tree | content |"
    yield "|---|---|---|---|---|---|---|"
    for book in known:
        state = book.all
        yield (f"| `{book.part.name}` | {state['outcome']} | {state['seconds']} | {state['commit']} | {state['date']} | "
               f"{'yes' if state['ran'] == now[book.part.kind] else 'no'} | {state['ran']} {state['tree']} |")
    yield ""
    for book in known:
        said = [book.all["figures"]] + ([f"seed {book.all['seed']}"] if book.all.get("seed") else [])
        if not any(said):
            continue
        words = f"- `{book.part.name}`: " + "; ".join(filter(None, said))
        line = ""
        for word in words.split():
            if len(line) + len(word) > 118:
                yield line
                line = " "
            line += (" " if line else "") + word
        yield line


def rows_of(page=PAGE):
    """What table() has written there: name -> outcome, seconds, commit, date, ran, tree, figures."""
    with open(page, encoding="utf-8") as file:
        text = file.read().partition(BEGIN)[2].partition(END)[0]
    row = re.compile(r"\| `(\w+)` \| (\w+) \| (\d+) \| (.*?) \| (.*?) \| (?:yes|no) \| (\w+) (\w+) \|$", re.MULTILINE)
    said = dict(re.findall(r"^- `(\w+)`: (.*)$", text.replace("\n  ", " "), re.MULTILINE))
    return {name: {"outcome": outcome, "seconds": int(seconds), "commit": on, "date": date, "ran": ran, "tree": tree,
                   "figures": said.get(name, "")}
            for name, outcome, seconds, on, date, ran, tree in row.findall(text)}


def write(lines, page=PAGE):
    with open(page, encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise SystemExit(f"check: {page} has not exactly one '{BEGIN}' and '{END}'")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    with open(page, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after)


def main():
    parser = argparse.ArgumentParser(prog="script/check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fuzz", type=int, default=1_000_000, metavar="N")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--left", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*", metavar="PART")
    arguments = parser.parse_args()
    all_parts = parts(arguments.fuzz // (100 if arguments.fast else 1), arguments.fast)
    names = list(arguments.names)
    if names[:1] == ["promises"] and len(names) > 1:  # script/check promises NAME...
        os.execv(PYTHON, [PYTHON, os.path.join(ROOT, "tests/check/promises.py"), "--state", os.path.join(RESULTS, "promises.kept")] + names[1:])
    for name in names:
        if name not in [part.name for part in all_parts]:
            print(f"script/check: unknown part '{name}'; there are {' '.join(part.name for part in all_parts)}", file=sys.stderr)
            return 2
    results = RESULTS + ("/fast" if arguments.fast else "")  # a hundredth is not all of it
    os.makedirs(results, exist_ok=True)
    now = {kind: key(kind) for kind in {part.kind for part in all_parts} | {"tree"}}
    books = [Book(part, results) for part in all_parts]
    chosen = [book for book in books if not names or book.part.name in names]
    rows = {} if arguments.fast else rows_of()
    for book in books:
        book.believe(rows.get(book.part.name), now[book.part.kind], now["tree"])
    for book in chosen:
        book.turn(now[book.part.kind], now["tree"], results)
    left = [book for book in chosen if names or not book.passed()]
    print(f"check: {commit()}: " + ("nothing is left" if not left else "left: "
          + ", ".join(f"{book.part.name} {told(book.left())}" for book in left) + f"; about {told(sum(b.left() for b in left))} in all"),
          flush=True)
    failed = False
    if not arguments.left:
        for book in left:
            failed |= not run_part(book, bool(names), results)
        print()
    lines = list(table(books, now))
    if not arguments.left or arguments.write:
        print("\n".join(lines))
    if arguments.write:
        write(lines)
    return 1 if failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\ncheck: stopped; the same command goes on from here")
        sys.exit(130)
