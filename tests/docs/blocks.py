"""The fenced blocks of a page of Markdown, and what the page says about running them.

  page = read_page("docs/training.md", text)
  page.blocks[0].commands()        # [Command("tyche generate exp --seed 1 --out exp", None, line 4), ...]

What a block is, its fence says: `sh` (every line is a command), `console` (`$ ` begins a command, what follows is what it
prints), `python`, `text` (nothing to run). Anything else has to say what it is for. A block runs unless the page says
otherwise, in comments directly above it:

  <!-- not run: REASON; gate: GATE, … -->  why not, and which gate runs what the block promises (gates.py)
  <!-- run: slow -->               by the slow test alone
  <!-- run: short -->              by the ordinary test with one epoch of training, by the slow test as it stands
  <!-- run: exit 1 -->             some command's answer is no (may stand behind slow or short: `run: slow, exit 1`)
  <!-- first: COMMAND -->          what the reader is taken to have done, or a small stand-in for data; several lines of
                                   it are one script
  <!-- file: NAME -->              the block is a file that later commands read

`<!-- page not run: REASON; gate: GATE -->` at the top is for all blocks of a page. What is not known raises PageError.
"""
import re
from dataclasses import dataclass, field

COMMENT = re.compile(r"<!--\s*(.*?)\s*-->$")
MARKER = re.compile(r"(page not run|not run|run|first|file):\s*(.*)$")
GATES = re.compile(r"(.*?)(?:;\s*gate:\s*(.*))?$")
HOLE = "[…]"  # in a line: anything
LEFT_OUT = "…"  # a line of its own: any lines
PROGRESS = re.compile(r"\S.*: \d+ of \d+ \(\d+ %\), .* gone\b.*")  # on standard error, where something takes long
SECONDS = re.compile(r"\d+(?:\.\d+)? (?:s|ms)\b")


class PageError(Exception):
    """A block that the test cannot take as it stands, with its page and line."""


@dataclass
class Command:
    words: str
    expected: str  # what it prints, or None where the page does not show it
    line: int


@dataclass
class Block:
    page: str
    line: int  # of the fence
    language: str
    text: str
    not_run: str = ""
    gates: list = field(default_factory=list)  # that run it, where this test does not
    slow: bool = False
    short: bool = False
    says_no: bool = False
    file: str = ""
    first: list = field(default_factory=list)

    @property
    def where(self):
        return f"{self.page}:{self.line}"

    def commands(self):
        """The commands of a `sh` or `console` block; a line that ends in a backslash goes on in the next."""
        commands, going_on = [], False
        for number, line in enumerate(self.text.splitlines(), self.line + 1):
            if going_on:
                commands[-1].words += "\n" + line
            elif self.language == "sh":
                if line.strip():
                    commands.append(Command(line, None, number))
            elif line.startswith("$ "):
                commands.append(Command(line[2:], None, number))
            elif not commands:
                raise PageError(f"{self.page}:{number}: a console block begins with '$ ' and a command")
            else:
                commands[-1].expected = (commands[-1].expected or "") + line + "\n"
                continue
            going_on = line.endswith("\\")
        return commands


@dataclass
class Page:
    name: str
    blocks: list
    not_run: str = ""
    gates: list = field(default_factory=list)


def apart(value):
    """The reason and the gates of `not run`."""
    found = GATES.match(value)
    return found[1], [gate.strip() for gate in (found[2] or "").split(",") if gate.strip()]


def apply_marker(block, key, value):
    if not value:
        raise PageError(f"{block.where}: '{key}:' says nothing")
    if key == "not run":
        block.not_run, block.gates = apart(value)
    elif key == "first":
        block.first.append(value)
    elif key == "file":
        block.file = value
    else:
        for word in value.split(", "):
            if word not in ("slow", "short", "exit 1"):
                raise PageError(f"{block.where}: 'run: {word}' is not known; there are slow, short and exit 1")
            block.slow |= word == "slow"
            block.short |= word == "short"
            block.says_no |= word == "exit 1"


def check(block):
    """Refuses a block of which the test would not know what to do with it."""
    runs = block.slow or block.short or block.says_no or block.first
    if block.not_run and (runs or block.file):
        raise PageError(f"{block.where}: both 'not run' and how to run it")
    if block.not_run or block.language in ("sh", "console", "python"):
        if block.language in ("sh", "console"):
            block.commands()
        return
    if block.language == "text":
        for line in block.text.splitlines():
            if re.match(r"(\$ |tyche |script/|build/)", line):
                raise PageError(f"{block.where}: a block of text with a command in it: '{line}'; call it console or sh")
    elif not block.file:
        what = f"'{block.language}'" if block.language else "no language"
        raise PageError(f"{block.where}: a block of {what}: say sh, console, python or text, or why it is not run")
    if runs:
        raise PageError(f"{block.where}: a block of {block.language} is not run; its marker says how")


def read_page(name, text):
    page = Page(name, [])
    markers, block, lines = [], None, []
    for number, line in enumerate(text.splitlines(), 1):
        if block is not None:
            if line.rstrip() == "```":
                block.text = "\n".join(lines)
                if not page.not_run:
                    check(block)
                page.blocks.append(block)
                block = None
            else:
                lines.append(line)
            continue
        comment = COMMENT.match(line)
        if line.startswith("```"):
            block, lines = Block(name, number, line[3:].strip(), ""), []
            for at, content in markers:
                marker = MARKER.match(content)
                if not marker or marker[1] == "page not run":
                    raise PageError(f"{name}:{at}: a comment above a block that is no marker: '{content}'")
                apply_marker(block, marker[1], marker[2])
            markers = []
        elif comment:
            if comment[1].startswith("page not run:"):
                page.not_run, page.gates = apart(MARKER.match(comment[1])[2] or "?")
            else:
                markers.append((number, comment[1]))
        else:
            for at, content in markers:
                if MARKER.match(content):
                    raise PageError(f"{name}:{at}: a marker without a block below it: '{content}'")
            markers = []
            if re.match(r"    (\$ |tyche |script/|build/tyche )", line):
                raise PageError(f"{name}:{number}: a command in an indented block, which no test sees; fence it")
    if block is not None:
        raise PageError(f"{block.where}: a block without an end")
    return page


def says(printed, expected):
    """Whether a command printed what the page shows. Times are taken to be equal and progress is not looked at; `[…]` stands
    for anything in a line, a line `…` for any lines.

    >>> says("made in 0.9 s\\n", "made in 1.2 s\\n"), says("2 pairs\\n", "3 pairs\\n")
    (True, False)
    """
    def without_times(text):
        return SECONDS.sub("N s", text)

    pattern = ""
    for line in expected.splitlines():
        if line.strip() == LEFT_OUT:
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in without_times(line.rstrip()).split(HOLE)) + r"\n"
    lines = [line.rstrip() + "\n" for line in printed.splitlines() if not PROGRESS.fullmatch(line)]
    return re.fullmatch(pattern, without_times("".join(lines))) is not None
