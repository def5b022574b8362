#!/usr/bin/env python3
"""Every block that is not run says which gate runs what it promises, and the gate is there.

  tests/docs/gates.py [PAGE ...]

A gate is one of

  promises/NAME       a promise of tests/check/promises.toml: `script/check promises NAME` runs it from a fresh clone
  NAME                a test that tests/CMakeLists.txt adds by that name, as python.wheel
  test_ROOM.SUITE     a suite of tests/ROOM

Prints one line per block that is not run. Exit code 1 where a block names no gate or one that does not exist, where a script
that a block calls is not called by the promises it names, or where no page names a promise.
"""
import glob
import os
import re
import sys
import tomllib

from blocks import PageError, read_page
from commands import ROOT, page_names


class Gates:
    def __init__(self, root=ROOT):
        self.root = root
        with open(os.path.join(root, "tests/check/promises.toml"), "rb") as file:
            self.promises = tomllib.load(file)
        with open(os.path.join(root, "tests/CMakeLists.txt"), encoding="utf-8") as file:
            self.tests = set(re.findall(r"add_test\(NAME ([\w.]+)", file.read()))

    def exists(self, gate):
        if gate.startswith("promises/"):
            return gate[len("promises/"):] in self.promises
        suite = re.fullmatch(r"test_(\w+)\.(\w+)", gate)
        if not suite:
            return gate in self.tests
        room = {"engine_gpu": "engine_cuda"}.get(suite[1], suite[1].removesuffix("_slow"))
        pattern = re.compile(rf"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_PROP)\({suite[2]},")
        for path in glob.glob(os.path.join(self.root, "tests", room, "*_test.cpp")):
            with open(path, encoding="utf-8") as file:
                if pattern.search(file.read()):
                    return True
        return False

    def troubles(self, pages):
        named = set()
        for page in pages:
            blocks = [b for b in page.blocks if b.not_run]
            for where, text, gates in [(b.where, b.text, b.gates) for b in blocks] + ([(page.name, "", page.gates)] if page.not_run else []):
                named.update(gates)
                if not gates:
                    yield f"{where}: not run, and names no gate that runs what it promises ('; gate: …', tests/docs/gates.py)"
                for gate in gates:
                    if not self.exists(gate):
                        yield f"{where}: there is no gate '{gate}'"
                runs = " ".join(self.promises[g[len("promises/"):]]["run"] for g in gates if g.startswith("promises/") and self.exists(g))
                if runs:
                    for script in re.findall(r"^script/\w+", text, re.MULTILINE):
                        if script not in runs:
                            yield f"{where}: {script} is not called by {', '.join(gates)}"
        for promise in self.promises:
            if "promises/" + promise not in named:
                yield f"tests/check/promises.toml: no page names the promise '{promise}'"


def main():
    pages = []
    try:
        for name in sys.argv[1:] or page_names():
            with open(os.path.join(ROOT, name), encoding="utf-8") as file:
                pages.append(read_page(name, file.read()))
    except PageError as error:
        sys.exit(f"docs: {error}")
    for page in pages:
        for block in page.blocks:
            if block.not_run:
                print(f"{block.where}: {', '.join(block.gates) or '–'}: {block.not_run}")
    troubles = list(Gates().troubles(pages))
    for trouble in troubles:
        print("FALSE " + trouble)
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
