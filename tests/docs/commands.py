#!/usr/bin/env python3
"""Every command block of the README and docs is run, or says why not.

  tests/docs/commands.py PROGRAM [--slow] [--list] [PAGE ...]

The blocks of a page run in order in one empty folder, in which `tyche` and `build/tyche` are PROGRAM; blocks.py says what
they may say about it. --slow runs the pages that have blocks for it, all of their blocks as they stand (trainings whose epochs
the page does not say with fewer than the default). --list says what
runs and what does not, and why. Python blocks of a page are one script over the module in python/ and the library that
TYCHE_LIBRARY names; without it they are left out, and counted. Exit code 1 where a page is false.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from blocks import PageError, read_page, says

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT, SLOW_LIMIT = 300, 3600  # seconds per block, on a machine with other work; a quiet one takes a tenth
SLOW_EPOCHS = 50  # where the page leaves it to the default: 500, for ten folds, take half an hour
NO_PAGE = "the page is built with Node"


def page_names():
    docs = sorted(os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, names in os.walk(os.path.join(ROOT, "docs"))
                  for name in names if name.endswith(".md"))
    return ["README.md", "HACKING.md", "CONTRIBUTING.md"] + docs


def unsaid_epochs(words, epochs):
    """A training whose epochs the page does not say (500 in each of ten folds, unless told) with so many."""
    if re.search(r"\btyche train\b", words) and "--epochs" not in words and "--resume" not in words:
        return re.sub(r"\btyche train\b", f"tyche train --epochs {epochs}", words, count=1)
    return words


def one_epoch(words):
    """A command, or lines of Python, as the ordinary test runs them where their block is `run: short`."""
    return re.sub(r"(--epochs[ =]|\bepochs=)\d+", r"\g<1>1", unsaid_epochs(words, 1))


class Runner:
    def __init__(self, program, slow):
        self.program = os.path.abspath(program)
        self.slow = slow
        self.failures = []
        self.run = self.passed_over = self.without_module = 0

    def fail(self, where, words, what, printed=""):
        text = f"{where}: {words}\n  {what}"
        if printed:
            text += "\n--- it says\n" + printed[-3000:].rstrip()
        self.failures.append(text)
        print("FALSE " + text, flush=True)

    def environment(self, folder):
        cache = os.path.join(folder, ".cache")
        return dict(os.environ, PATH=os.path.join(folder, ".bin") + os.pathsep + os.environ["PATH"], TYCHE_CACHE_DIR=cache,
                    PYTHONPATH=os.path.join(ROOT, "python"), PYTHONDONTWRITEBYTECODE="1", TERM="dumb")

    def call(self, words, folder, limit):
        """What the command printed, both streams as a terminal shows them, and its exit code; None: out of time."""
        process = subprocess.Popen(words, cwd=folder, env=self.environment(folder), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                   start_new_session=True)
        try:
            return process.communicate(timeout=max(limit, 1))[0], process.returncode
        except BaseException as error:  # out of time, or told to stop
            os.killpg(process.pid, signal.SIGKILL)  # the shell and what it called: a session of their own
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return process.communicate()[0], None

    def run_commands(self, block, folder):
        limit = SLOW_LIMIT if self.slow else LIMIT
        end = time.monotonic() + limit
        short = block.short and not self.slow
        said_no = False
        if block.first:
            words = "\n".join(block.first)
            printed, code = self.call(["bash", "-ec", words], folder, limit)
            if code != 0:
                return self.fail(block.where, words, f"what comes first: exit code {code}", printed)
        for command in block.commands():
            words = one_epoch(command.words) if short else command.words
            if block.short and self.slow:
                words = unsaid_epochs(words, SLOW_EPOCHS)
            where = f"{block.page}:{command.line}"
            printed, code = self.call(["bash", "-c", words], folder, end - time.monotonic())
            if code is None:
                return self.fail(where, words, f"the block takes longer than {limit} seconds", printed)
            if code == 2 and NO_PAGE in printed:
                print(f"{where}: left out: this build has no page for reports (no Node)", flush=True)
                return
            said_no |= code == 1
            if code != 0 and not (code == 1 and block.says_no):
                return self.fail(where, words, f"exit code {code}", printed)
            if command.expected is not None and not short and not says(printed, command.expected):
                self.fail(where, words, "it does not say what the page says:\n" + command.expected.rstrip(), printed)
        if block.says_no and not said_no:
            self.fail(block.where, "exit 1", "every command's answer was yes")

    def run_python(self, blocks, folder):
        """All of them as one script, with empty lines before each so that errors name the page's lines."""
        lines = []
        for block in blocks:
            text = one_epoch(block.text) if block.short and not self.slow else block.text
            lines += [""] * (block.line - len(lines)) + text.splitlines()
        script = os.path.join(folder, os.path.basename(blocks[0].page) + ".py")
        with open(script, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        printed, code = self.call([sys.executable, script], folder, SLOW_LIMIT if self.slow else LIMIT)
        if code != 0:
            self.fail(blocks[0].where, "the page's Python", f"exit code {code}", printed)

    def run_page(self, page):
        if page.not_run or (self.slow and not any(b.slow or b.short for b in page.blocks)):
            self.passed_over += len(page.blocks)
            return
        python = []
        with tempfile.TemporaryDirectory(prefix="tyche-docs-") as folder:
            os.mkdir(os.path.join(folder, ".bin"))
            os.symlink(self.program, os.path.join(folder, ".bin", "tyche"))
            os.symlink(os.path.dirname(self.program), os.path.join(folder, "build"))
            for block in page.blocks:
                began = time.monotonic()
                if block.file:
                    os.makedirs(os.path.dirname(os.path.join(folder, block.file)), exist_ok=True)
                    with open(os.path.join(folder, block.file), "w", encoding="utf-8") as file:
                        file.write(block.text + "\n")
                    continue
                if block.not_run or block.language == "text" or (block.slow and not self.slow):
                    self.passed_over += 1
                    continue
                if block.language == "python":
                    if "TYCHE_LIBRARY" in os.environ:
                        python.append(block)
                    else:
                        self.without_module += 1
                    continue
                self.run_commands(block, folder)
                self.run += 1
                print(f"{block.where}: {time.monotonic() - began:.1f} s", flush=True)
            if python:
                began = time.monotonic()
                self.run_python(python, folder)
                self.run += len(python)
                print(f"{python[0].where}: Python, {time.monotonic() - began:.1f} s", flush=True)

    def result(self):
        print(f"docs: {self.run} blocks run, {self.passed_over} not to be run here", end="")
        print(f", {self.without_module} of Python left out (no TYCHE_LIBRARY)" if self.without_module else "", end="")
        print(f", {len(self.failures)} false")
        return 1 if self.failures else 0


def show(pages):
    for page in pages:
        for block in page.blocks:
            how = page.not_run or block.not_run
            if how:
                how = "not run: " + how
            elif block.language == "text" or block.file:
                how = "a file" if block.file else "text"
            else:
                how = ", ".join(w for w, on in (("slow", block.slow), ("short", block.short)) if on) or "run"
            print(f"{block.where}: {block.language}: {how}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_intermixed_args()
    pages = []
    try:
        for name in arguments.pages or page_names():
            with open(os.path.join(ROOT, name), encoding="utf-8") as file:
                pages.append(read_page(name, file.read()))
    except PageError as error:
        sys.exit(f"docs: {error}")
    if arguments.list:
        return show(pages)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that commands under way are ended, too
    runner = Runner(arguments.program, arguments.slow)
    for page in pages:
        runner.run_page(page)
    return runner.result()


if __name__ == "__main__":
    sys.exit(main())
