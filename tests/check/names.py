#!/usr/bin/env python3
"""Names of tests as people see them: tests/check/names.py PROGRAM... fails where a parameter is printed as bytes ("104-byte object
<90-84 …>"), is known by its number alone, or where a name is so long that ctest's line of it has over 160 columns."""
import re
import subprocess
import sys

LONGEST = 110  # ctest has its own words before and behind


def troubles(program, listing):
    """What is wrong with the names that --gtest_list_tests of a program prints.

    >>> list(troubles("test_a", "Every/Suite.\\n  Test/0  # GetParam() = 1-byte object <02>\\n"))[0]
    'test_a.Every/Suite.Test/0: its parameter is printed as bytes: 1-byte object <02>'
    """
    suite = ""
    for line in listing.splitlines():
        name, _, value = (part.strip() for part in line.partition("  # GetParam() = "))
        if line and not line.startswith(" "):
            suite = line.split("  #")[0].strip()
        elif name:
            whole = f"{program}.{suite}{name}"
            if "-byte object <" in value:
                yield f"{whole}: its parameter is printed as bytes: {value}"
            if re.search(r"/\d+$", whole):
                yield f"{whole}: its parameter has no name (the fourth argument of INSTANTIATE_TEST_SUITE_P)"
            if len(whole) > LONGEST:
                yield f"{whole}: {len(whole)} characters, at most {LONGEST}"


def main():
    found = 0
    for program in sys.argv[1:]:
        listing = subprocess.run([program, "--gtest_list_tests"], stdout=subprocess.PIPE, text=True, check=True).stdout
        for trouble in troubles(program.rsplit("/", 1)[-1], listing):
            print(trouble)
            found += 1
    print(f"names: {len(sys.argv) - 1} programs, {found} names to mend")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
