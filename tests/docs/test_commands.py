"""The test of the docs must itself be able to fail: every rule of blocks.py and commands.py on pages of a few lines."""
import contextlib
import io
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from blocks import PageError, read_page, says  # noqa: E402
from commands import Runner, one_epoch, unsaid_epochs  # noqa: E402
from gates import Gates  # noqa: E402


def page(*lines):
    return read_page("page.md", "\n".join(lines) + "\n")


def run(*lines, slow=False):
    """How many failures a page gives, and how many of its blocks ran; `tyche` is the shell, which says yes."""
    runner = Runner("/bin/true", slow)
    with contextlib.redirect_stdout(io.StringIO()):
        runner.run_page(page(*lines))
    return len(runner.failures), runner.run


class Reading(unittest.TestCase):
    def refused(self, *lines):
        with self.assertRaises(PageError) as caught:
            page(*lines)
        return str(caught.exception)

    def test_a_block_without_a_language_is_refused(self):
        self.assertIn("page.md:2: a block of no language", self.refused("Text", "```", "tyche wl a b", "```"))

    def test_a_language_that_no_test_runs_says_why(self):
        self.refused("```toml", "a = 1", "```")
        self.assertEqual(page("<!-- not run: an example -->", "```toml", "a = 1", "```").blocks[0].not_run, "an example")
        self.assertEqual(page("<!-- file: a.toml -->", "```toml", "a = 1", "```").blocks[0].file, "a.toml")

    def test_unknown_markers_are_refused(self):
        self.assertIn("'run: sometimes'", self.refused("<!-- run: sometimes -->", "```sh", "true", "```"))
        self.assertIn("no marker", self.refused("<!-- no run -->", "```sh", "true", "```"))
        self.assertIn("says nothing", self.refused("<!-- not run: -->", "```sh", "true", "```"))

    def test_a_marker_belongs_to_the_block_below_it(self):
        self.assertIn("without a block", self.refused("<!-- run: slow -->", "", "```sh", "true", "```"))

    def test_a_block_cannot_be_run_and_not_run(self):
        self.refused("<!-- not run: why -->", "<!-- run: slow -->", "```sh", "true", "```")

    def test_commands_hide_in_no_other_block(self):
        self.refused("```text", "$ tyche wl a b", "```")
        self.refused("    tyche wl a b")

    def test_a_page_may_be_run_by_another_test(self):
        read = page("<!-- page not run: another test does; gate: a.test -->", "```console slow", "$ a", "```")
        self.assertEqual((read.not_run, read.gates), ("another test does", ["a.test"]))

    def test_commands_and_what_they_print(self):
        block = page("```console", "$ echo a \\", "  b", "a b", "$ true", "```").blocks[0]
        self.assertEqual([(c.words, c.expected, c.line) for c in block.commands()],
                         [("echo a \\\n  b", "a b\n", 2), ("true", None, 5)])
        self.refused("```console", "a b", "```")

    def test_what_is_printed_is_compared_but_for_times_and_holes(self):
        self.assertTrue(says("600 pairs, 0.91 s\n", "600 pairs, 1.3 s\n"))
        self.assertFalse(says("600 pairs, 0.91 s\n", "601 pairs, 0.91 s\n"))
        self.assertTrue(says("a 12 b\n", "a […] b\n"))
        self.assertTrue(says("a\nb\nc\n", "a\n…\nc\n"))
        self.assertFalse(says("a\nb\nc\n", "a\nc\n"))
        self.assertFalse(says("a\n", "a\nb\n"))
        self.assertTrue(says("pairs: 506 of 600 (84 %), 10 s gone, 1.9 s left\na\n", "a\n"))


class Running(unittest.TestCase):
    def test_what_is_true_passes(self):
        self.assertEqual(run("```sh", "tyche wl  # a comment", "build/true", "```"), (0, 1))
        self.assertEqual(run("```console", "$ echo 3", "3", "```"), (0, 1))

    def test_what_is_false_fails(self):
        self.assertEqual(run("```console", "$ echo 3", "4", "```")[0], 1)
        self.assertEqual(run("```sh", "no-such-program", "```")[0], 1)
        self.assertEqual(run("```sh", "exit 2", "```")[0], 1)

    def test_an_answer_of_no_has_to_be_said_and_given(self):
        self.assertEqual(run("```sh", "exit 1", "```")[0], 1)
        self.assertEqual(run("<!-- run: exit 1 -->", "```sh", "exit 1", "true", "```")[0], 0)
        self.assertEqual(run("<!-- run: exit 1 -->", "```sh", "exit 2", "```")[0], 1)
        self.assertEqual(run("<!-- run: exit 1 -->", "```sh", "true", "```")[0], 1)

    def test_blocks_of_a_page_share_a_folder(self):
        self.assertEqual(run("<!-- file: sub/a.txt -->", "```toml", "a", "```", "<!-- first: cp sub/a.txt b.txt -->",
                             "```console", "$ cat b.txt", "a", "```"), (0, 1))
        self.assertEqual(run("<!-- first: for i in 1 2; do -->", "<!-- first: echo $i; done > a -->", "```console", "$ cat a",
                             "1", "2", "```"), (0, 1))
        self.assertEqual(run("<!-- first: false -->", "```sh", "true", "```")[0], 1)

    def test_slow_blocks_run_in_the_slow_test_with_all_that_stands_before_them(self):
        lines = ("```sh", "touch made", "```", "<!-- run: slow -->", "```sh", "cat made", "```")
        self.assertEqual(run(*lines), (0, 1))
        self.assertEqual(run(*lines, slow=True), (0, 2))
        self.assertEqual(run("```sh", "false", "```", slow=True), (0, 0))  # a page with nothing slow

    def test_short_blocks_train_one_epoch_unless_the_test_is_slow(self):
        self.assertEqual(one_epoch("tyche train --data exp --epochs 50 --out r"), "tyche train --data exp --epochs 1 --out r")
        self.assertEqual(one_epoch("build/tyche train --data exp"), "build/tyche train --epochs 1 --data exp")
        self.assertEqual(one_epoch("tyche train --resume --out r"), "tyche train --resume --out r")
        self.assertEqual(one_epoch("C(epochs=50).fit(g)"), "C(epochs=1).fit(g)")
        self.assertEqual(unsaid_epochs("tyche train --data exp", 50), "tyche train --epochs 50 --data exp")
        self.assertEqual(unsaid_epochs("tyche train --epochs 7 --data exp", 50), "tyche train --epochs 7 --data exp")
        lines = ("<!-- run: short -->", "```console", "$ echo --epochs 50", "--epochs 50", "```")
        self.assertEqual(run(*lines)[0], 0)  # what one epoch prints is not compared
        self.assertEqual(run(*lines, slow=True)[0], 0)


class Promised(unittest.TestCase):
    """A block that is not run names a gate that exists."""

    def troubles(self, marker, *lines):
        gates = Gates()
        gates.promises = {"demo": {"run": "script/demo"}}
        return [text for text in gates.troubles([page(f"<!-- {marker} -->", "```sh", *(lines or ["true"]), "```")])
                if "no page names" not in text]

    def test_a_block_that_names_no_gate_is_false(self):
        self.assertIn("page.md:2: not run, and names no gate", self.troubles("not run: too long")[0])

    def test_a_gate_must_exist(self):
        self.assertIn("no gate 'promises/dem'", self.troubles("not run: too long; gate: promises/dem")[0])
        self.assertIn("no gate 'python.weel'", self.troubles("not run: too long; gate: promises/demo, python.weel")[0])
        self.assertIn("no gate 'test_cli.Vers'", self.troubles("not run: too long; gate: test_cli.Vers")[0])
        for gate in ("promises/demo", "docs.commands", "install.consumer", "test_cli.Version", "test_engine_gpu.Fused"):
            self.assertEqual(self.troubles("not run: too long; gate: " + gate), [], gate)

    def test_the_promise_calls_the_scripts_of_the_block(self):
        marker = "not run: too long; gate: promises/demo"
        self.assertEqual(self.troubles(marker, "script/demo    # minutes"), [])
        self.assertIn("script/test is not called by promises/demo", self.troubles(marker, "script/demo", "script/test")[0])

    def test_a_promise_is_named_by_some_page(self):
        gates = Gates()
        gates.promises = {"demo": {"run": "script/demo"}}
        self.assertIn("no page names the promise 'demo'", list(gates.troubles([page("Text")]))[0])


if __name__ == "__main__":
    unittest.main()
