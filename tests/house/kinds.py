#!/usr/bin/env python3
"""Which files outside nn/ ask which kind a model is, by its name: no others than HACKING.md names.

    kinds.py SRC

Exit code 1 with those that HACKING.md does not name, and those that it names in vain.
"""
import pathlib
import re
import sys

ASKS = re.compile(r'\bkind\)? *[=!]= *"')


def main():
    src = pathlib.Path(sys.argv[1])
    assert ASKS.search('model.kind != "gin"') and not ASKS.search('key == "kind"')
    asking = {path.relative_to(src).with_suffix("").as_posix() for path in src.rglob("*")
              if path.suffix in (".cpp", ".hpp", ".cu", ".cuh") and ASKS.search(path.read_text())}
    asking = {file for file in asking if not file.startswith("nn/")}
    text = (src.parent / "HACKING.md").read_text()
    sentence = re.search(r"files outside\s+`nn/` ask\s+which kind a model is\s+\(([^;]*);", text)
    named = set(re.findall(r"`([^`]+)`", sentence[1]))
    for file in sorted(asking - named):
        print(f"src/{file} asks which kind a model is: let nn/ say what it wants to know, or name it in HACKING.md")
    for file in sorted(named - asking):
        print(f"HACKING.md names {file}, which does not ask which kind a model is")
    if asking == named:
        print(f"{len(asking)} files outside nn/ ask which kind a model is, as HACKING.md says")
    return asking != named


if __name__ == "__main__":
    sys.exit(main())
