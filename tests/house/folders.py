#!/usr/bin/env python3
"""Whether the folders of src/ form a house: no cycle of includes between folders, no room that uses one below it.

    folders.py SRC

Exit code 1 with the includes that close a cycle, or that point the wrong way.
"""
import collections
import pathlib
import re
import sys

# A room may use those before it (HACKING.md).
ROOMS = ["support", "logic", "graph", "wl", "datasets", "nn", "engine", "train", "distinguish", "measure", "experiments",
         "report", "inspect", "theory", "compare", "cli", "capi"]


def includes(src):
    """folder -> folder -> ["file includes header"]"""
    edges = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in sorted(src.rglob("*")):
        if path.suffix not in (".cpp", ".hpp", ".cu", ".cuh"):
            continue
        folder = path.parent.relative_to(src).as_posix()
        for name in re.findall(r'^\s*#\s*include "([^"]+)"', path.read_text(), re.M):
            other = pathlib.PurePosixPath(name).parent.as_posix()
            if (src / name).exists() and other != folder:
                edges[folder][other].append(f"{path.relative_to(src)} includes {name}")
    return edges


def reached(edges, start):
    seen, todo = set(), [start]
    while todo:
        for other in edges.get(todo.pop(), {}):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def faults(edges):
    after = {folder: reached(edges, folder) for folder in list(edges)}
    for folder, others in edges.items():
        for other, how in others.items():
            if folder in after.get(other, set()):
                yield from (f"cycle of {folder} and {other}: {line}" for line in how)
            mine, its = folder.split("/")[0], other.split("/")[0]
            if ROOMS.index(its) > ROOMS.index(mine):
                yield from (f"{mine} is above {its}: {line}" for line in how)


def main():
    src = pathlib.Path(sys.argv[1])
    # The check itself, on a cycle and on an include that points down.
    planted = {"engine": {"engine/cpu": ["a"]}, "engine/cpu": {"engine": ["b"]}, "graph": {"train": ["c"]}}
    assert len(list(faults(planted))) == 3
    edges = includes(src)
    assert sum(len(how) for others in edges.values() for how in others.values()) > 100, "these are not the sources"
    found = sorted(faults(edges))
    print("\n".join(found) or f"{len(edges)} folders, no cycle, every room above those that use it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
