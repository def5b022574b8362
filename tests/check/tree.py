"""Which tree a result belongs to, by the content of the files that matter to it: a part of script/check is not run again because a
page of the docs has changed.

  key("code")        # '5f0c…', the same as long as no file of that kind changes; committed or not makes no difference
  commit()           # '1a2b3c4', or '1a2b3c4 and changes'
"""
import hashlib
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Between these lines of this page stands what script/check itself has written, which is part of no tree.
PAGE = os.path.join(ROOT, "docs", "reliability.md")
BEGIN, END = "<!-- check: begin (script/check --write) -->", "<!-- check: end -->"
PROSE = [":!docs", ":!*.md", ":!CITATION.cff", ":!LICENSE"]
BOOKS = [":!script/check", ":!tests/check"]  # what writes results down changes none of them
KINDS = {
    "tree": [],  # every file
    "code": PROSE,  # all but prose
    "built": PROSE + BOOKS,  # what is compiled, tests too, and what compiles it
    # The program alone: what fuzzing, faults and clang-tidy look at, and what calls them.
    "program": ["src", "include", "cmake", "experiments", "fuzz", "web", "CMakeLists.txt", "CMakePresets.json", ".clang-tidy",
                "tests/data/fuzz", "tests/faults", "tests/gates/planted", "script/gate", "script/lint", "script/build", "script/faults"],
}


def git(*words, root=ROOT):
    return subprocess.run(["git", *words], cwd=root, stdout=subprocess.PIPE, check=True).stdout


def content(path):
    with open(path, "rb") as file:
        text = file.read()
    if path == os.fsencode(PAGE):
        begin, end = BEGIN.encode(), END.encode()
        if begin in text and end in text:
            text = text.split(begin)[0] + text.split(end)[1]
    return text


def key(kind, root=ROOT):
    names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *KINDS[kind], root=root)
    sum_ = hashlib.sha256()
    for name in sorted(set(names.split(b"\0")) - {b""}):
        path = os.path.join(os.fsencode(root), name)
        sum_.update(name + b"\0")
        if os.path.islink(path):
            sum_.update(os.readlink(path))
        elif os.path.isfile(path):  # a file that was removed is only a name
            sum_.update(hashlib.sha256(content(path)).digest() + (b"x" if os.access(path, os.X_OK) else b"-"))
    return sum_.hexdigest()[:16]


def commit(root=ROOT):
    changed = git("status", "--porcelain", root=root).strip()
    return git("rev-parse", "--short", "HEAD", root=root).decode().strip() + (" and changes" if changed else "")
