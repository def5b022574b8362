#!/usr/bin/env python3
"""Every link of a page leads somewhere, every page of docs/ that a file names is there, and nothing stands twice.

  tests/docs/links.py [ROOT]

Looks at relative links and pictures of all .md files (anchors as GitHub makes them of headings), at `docs/...` paths in
sources, scripts, tests and experiments, whether the index of a folder of docs/ names all of its pages, and at sentences
(runs of TWIN words) that stand on two pages. Addresses on the web are not looked at. Exit code 1 and a line per fault,
`FILE:LINE: what is wrong`.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
NAMED = re.compile(r"(?<![\w/.-])docs/[\w./-]*\w")
TWIN = 16  # words in a row that two pages do not share
PASSED_OVER = re.compile(r"(\.git|node_modules|__pycache__|dist|build.*)$")
SOURCES = (".c", ".cmake", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".md", ".mjs", ".py", ".sh", ".toml", ".ts", ".txt", "")


def files(root):
    """Relative names of the files of a tree that people write: build folders and what Git ignores by habit left out."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not PASSED_OVER.match(name))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root)


def prose(text):
    """The lines of a page with code blocks, code and comments blanked, so that numbers of lines stay."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match[0])

    text = re.sub(r"^```.*?^```$", blank, text, flags=re.S | re.M)
    return re.sub(r"<!--.*?-->|`[^`\n]+`(?!\])", blank, text, flags=re.S).splitlines()


def anchors(text):
    """The anchors of a page, as GitHub makes them: lower case, punctuation gone, blanks to hyphens, twins numbered."""
    found = set()
    for line in re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M).splitlines():
        heading = re.match(r"#+ +(.*?)\s*$", line)
        if heading:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            base = name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            count = 0
            while name in found:
                count += 1
                name = f"{base}-{count}"
            found.add(name)
    return found


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def check_links(root, page, faults):
    linked = set()
    for number, line in enumerate(prose(read(root, page)), 1):
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            linked.add(to)
            if not os.path.exists(os.path.join(root, to)):
                faults.append(f"{page}:{number}: there is no {to}")
            elif anchor and anchor not in anchors(read(root, to)):
                faults.append(f"{page}:{number}: {to} has no heading with the anchor '{anchor}'")
    return linked


def check_names(root, name, faults):
    """Pages of docs/ that a comment, a text of the program or a script names."""
    for number, line in enumerate(read(root, name).splitlines(), 1):
        for path in NAMED.findall(line):
            if not os.path.exists(os.path.join(root, path)):
                faults.append(f"{name}:{number}: there is no {path}")


def words_of(page):
    """The words of a page with their lines; code, comments and tables left out."""
    return [(word, number) for number, line in enumerate(prose(page), 1) if not line.startswith("|")
            for word in re.findall(r"[\w%.'-]+", line)]


def check_twins(root, pages, faults):
    seen = {}
    for page in pages:
        words = words_of(read(root, page))
        told = 0
        for at in range(len(words) - TWIN + 1):
            run = tuple(word for word, _ in words[at:at + TWIN])
            where = f"{page}:{words[at][1]}"
            other = seen.setdefault(run, where)
            if other.split(":")[0] != page and at >= told:
                faults.append(f"{where}: stands in {other} too: {' '.join(run)} …")
                told = at + TWIN


def check_tree(root):
    faults = []
    names = list(files(root))
    pages = [name for name in names if name.endswith(".md")]
    links = {page: check_links(root, page, faults) for page in pages}
    for name in names:
        if os.path.splitext(name)[1] in SOURCES and name != "tests/docs/test_links.py":
            check_names(root, name, faults)
    for page in pages:
        index = os.path.join(os.path.dirname(page), "README.md")
        if page.startswith("docs/") and page != index and page not in links.get(index, ()):
            faults.append(f"{page}:1: {index} does not name this page")
    check_twins(root, [page for page in pages if not page.startswith("CHANGELOG")], faults)
    return faults


def main():
    faults = check_tree(sys.argv[1] if len(sys.argv) > 1 else ROOT)
    print("\n".join(faults) if faults else "docs: every link leads somewhere")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
