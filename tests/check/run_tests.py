#!/usr/bin/env python3
"""ctest, with a closing line that says what was left out, and why.

  tests/check/run_tests.py [--keep FILE] BUILD-FOLDER [CTEST-OPTION ...]

What ctest prints goes through line by line, folded to 160 columns, but for its list of skipped tests: the last line counts
them by reason instead ("script/test: 1751 passed, 0 failed, 196 skipped (196 need a GPU)"). The reasons are the tests' own words
(GTEST_SKIP, or a line "skipped: …"). The output of a test that fails is shown whole.

--keep FILE adds the name of each test that passed to FILE, as it passes, and does not run those that stand in it: a run that
was stopped goes on. FILE belongs to one tree; who names it throws it away when the tree changes.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

WIDTH = 160
PASSED = re.compile(r" *\d+/\d+ Test +#\d+: (.*?) \.* +Passed\b")
LISTED = re.compile(r" *Test +#(\d+): (.*)$")


def folded(line, width=WIDTH):
    """A line in pieces of at most so many columns.

    >>> folded("abcdef", 4)
    ['abcd', 'ef']
    """
    return [line[at:at + width] for at in range(0, len(line), width)] or [""]


def reason(output):
    """Why a test says that it was skipped, as a few words that can be counted.

    >>> reason("[ RUN      ] A.b\\na_test.cpp:3: Skipped\\nneeds a GPU: no driver\\n[  SKIPPED ] A.b (0 ms)")
    'need a GPU'
    >>> reason("skipped: Chromium is not installed (Debian: …)")
    'Chromium is not installed'
    """
    lines = [line.strip() for line in (output or "").splitlines()]
    words = ""
    for at, line in enumerate(lines):
        if line.startswith("skipped: "):
            words = line[len("skipped: "):]
        elif line.endswith(": Skipped") and at + 1 < len(lines):
            words = lines[at + 1]
    words = re.split(r": | \(", words)[0].rstrip(".")
    return re.sub(r"^needs ", "need ", words) or "without a word"


def summary(cases, passed_before=0):
    """The closing line for JUnit's cases."""
    passed, failed, skipped = passed_before, 0, collections.Counter()
    for case in cases:
        if case.get("status") == "run":
            passed += 1
        elif case.find("skipped") is not None and (case.find("skipped").get("message") or "").startswith("SKIP_"):
            skipped[reason(case.findtext("system-out"))] += 1
        elif case.get("status") != "disabled":
            failed += 1
    why = ", ".join(f"{count} {words}" for words, count in skipped.most_common())
    return f"{passed} passed, {failed} failed, {sum(skipped.values())} skipped" + (f" ({why})" if why else "")


def listed(ctest):
    """Numbers and names of the tests that a call of ctest would run."""
    out = subprocess.run(ctest + ["-N"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {found[2]: int(found[1]) for found in map(LISTED.match, out.splitlines()) if found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", metavar="FILE")
    parser.add_argument("folder")
    parser.add_argument("options", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    ctest = ["ctest", "--test-dir", arguments.folder]
    with tempfile.TemporaryDirectory() as scratch:
        junit = os.path.join(scratch, "tests.xml")
        call = ctest + arguments.options
        before, kept = 0, None
        if arguments.keep:
            tests = listed(call)
            kept = open(arguments.keep, "a+", encoding="utf-8")
            kept.seek(0)
            known = set(kept.read().split("\n"))
            left = [number for name, number in tests.items() if name not in known]
            before = len(tests) - len(left)
            if before:
                print(f"script/test: {before} of {len(tests)} tests passed before on this tree", flush=True)
                # Numbers are those of a list without filters, and it takes a newline to end the last.
                with open(os.path.join(scratch, "left"), "w", encoding="utf-8") as file:
                    file.write("0,0,0," + ",".join(map(str, left)) + "\n")
                call = ctest + ["-I", file.name] + list(without_labels(arguments.options))
            if not left:
                print("100% tests passed, 0 tests failed out of " + str(before))
                print("script/test: " + summary([], before))
                return 0
        process = subprocess.Popen(call + ["--output-junit", junit], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="replace")
        list_of_skipped = False
        for line in process.stdout:
            line = line.rstrip("\n")
            passed = PASSED.match(line)
            if passed and kept:
                kept.write(passed[1] + "\n")
                kept.flush()
            # ctest's list of skipped tests: a heading, lines that begin with a tab, an empty line.
            list_of_skipped = line == "The following tests did not run:" or (list_of_skipped and line.startswith("\t"))
            if not list_of_skipped:
                print("\n".join(folded(line)), flush=True)
        code = process.wait()
        cases = xml.parse(junit).getroot().findall("testcase") if os.path.exists(junit) else []
        if cases:
            print("script/test: " + summary(cases, before))
        return code


def without_labels(options):
    """The options without -L and -LE, whose choice stands in the list of numbers already."""
    taken = iter(options)
    for option in taken:
        if option in ("-L", "-LE"):
            next(taken)
        else:
            yield option


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # ctest has heard it too
        sys.exit(130)
