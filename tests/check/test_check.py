"""What runs tests, promises and parts must itself be able to fail: on trees, logs and commands of a few lines."""
import contextlib
import doctest
import io
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import check  # noqa: E402
import fuzz  # noqa: E402
import names  # noqa: E402
import promises  # noqa: E402
import run_tests  # noqa: E402
import tree  # noqa: E402


class Folder(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = kept.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path


class Trees(Folder):
    def setUp(self):
        super().setUp()
        self.git("init", "-q")
        self.write("src/a.cpp", "int a;")
        self.write("docs/README.md", "A page.")
        self.write("tests/check/check.py", "print()")
        self.git("add", "-A")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "a")

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.folder, check=True)

    def keys(self):
        return {kind: tree.key(kind, self.folder) for kind in tree.KINDS}

    def changed(self, name, text):
        before = self.keys()
        self.write(name, text)
        after = self.keys()
        return {kind for kind in before if before[kind] != after[kind]}

    def test_prose_changes_the_tree_alone(self):
        self.assertEqual(self.changed("docs/README.md", "Another page."), {"tree"})
        self.assertEqual(self.changed("README.md", "New."), {"tree"})

    def test_the_books_change_nothing_that_is_built(self):
        self.assertEqual(self.changed("tests/check/check.py", "pass"), {"tree", "code"})

    def test_a_source_changes_everything_and_back_again_nothing(self):
        before = self.keys()
        self.assertEqual(self.changed("src/a.cpp", "int b;"), set(tree.KINDS))
        self.write("src/a.cpp", "int a;")
        self.assertEqual(self.keys(), before)
        self.assertEqual(self.changed("src/b.cpp", "int b;"), set(tree.KINDS))  # though git does not know it yet

    def test_a_commit_alone_changes_nothing(self):
        before = self.keys()
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "b")
        self.assertEqual(self.keys(), before)

    def test_what_check_writes_into_the_page_changes_nothing(self):
        page = self.write("docs/reliability.md", f"a\n{tree.BEGIN}\n{tree.END}\nb\n")
        old, tree.PAGE = tree.PAGE, page
        self.addCleanup(setattr, tree, "PAGE", old)
        before = self.keys()
        check.write(["| table |"], page)
        self.assertEqual(self.keys(), before)
        with open(page, encoding="utf-8") as file:
            self.assertEqual(file.read(), f"a\n{tree.BEGIN}\n| table |\n{tree.END}\nb\n")
        self.assertEqual(self.changed("docs/reliability.md", f"c\n{tree.BEGIN}\n{tree.END}\nb\n"), {"tree"})


class Parts(Folder):
    def run_part(self, steps, named=False, key="k", tree_key="t"):
        part = check.Part("p", "tree", 1, steps)
        book = check.Book(part, self.folder)
        book.turn(key, tree_key, self.folder)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            well = check.run_part(book, named, self.folder)
        return well, said.getvalue(), book

    def count(self, name):
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                return len(file.read())
        except FileNotFoundError:
            return 0

    def steps(self, second="true"):
        return {"one": f"printf x >>{self.folder}/one", "two": f"printf x >>{self.folder}/two; {second}"}

    def test_a_step_that_passed_is_not_run_again_on_the_same_tree(self):
        well, said, _ = self.run_part(self.steps("echo why; false"))
        self.assertFalse(well)
        self.assertIn("why", said)  # the log of what failed is seen
        well, _, book = self.run_part(self.steps())
        self.assertTrue(well)
        self.assertTrue(book.passed())
        self.assertEqual((self.count("one"), self.count("two")), (1, 2))

    def test_another_tree_begins_anew(self):
        self.run_part(self.steps())
        self.run_part(self.steps(), key="other")
        self.assertEqual(self.count("one"), 2)

    def test_what_was_run_on_another_tree_is_not_of_this_one(self):
        _, _, book = self.run_part(self.steps())
        self.assertIn("| yes | k t |", list(check.table([book], {"tree": "k"}))[4])
        book.turn("other", "other", self.folder)
        lines = list(check.table([book], {"tree": "other"}))
        self.assertIn("0 of 1 parts have passed", lines[0])
        self.assertIn("| no | k other |", lines[4])

    def test_what_the_page_says_of_the_same_content_has_passed(self):
        _, _, book = self.run_part({"one": "echo 'script/test: 3 passed, 0 failed, 0 skipped'"})
        page = self.write("page.md", f"{tree.BEGIN}\n{tree.END}\n")
        check.write(list(check.table([book], {"tree": "k"})), page)
        with tempfile.TemporaryDirectory() as elsewhere:
            keeps = check.Part("p", "code", 1, {"one": "script/test --keep p.passed"})  # tests, some of which read the docs
            for part, content, prose, passed in ((book.part, "k", "t", True), (book.part, "k", "other", True),
                                                 (book.part, "other", "t", False), (keeps, "k", "other", False)):
                known = check.Book(part, elsewhere)
                known.believe(check.rows_of(page)["p"], content, prose)
                known.turn(content, prose, elsewhere)
                self.assertEqual(known.passed(), passed)
                if prose == "t" and passed:  # and says the same again
                    self.assertEqual(list(check.table([known], {"tree": "k"})), list(check.table([book], {"tree": "k"})))

    def test_a_part_that_is_named_runs_though_it_passed(self):
        self.run_part(self.steps())
        self.run_part(self.steps(), named=True)
        self.assertEqual(self.count("one"), 2)

    def test_a_gate_that_is_left_out_has_not_passed(self):
        self.assertFalse(self.run_part({"one": "echo 'gate: fuzz left out: no clang'"})[0])

    def test_tests_that_read_the_docs_go_with_the_tree_others_stay(self):
        self.run_part({"one": "true"})
        self.write("p.passed", "test_a.B.c\ndocs.commands/README.md\n")
        _, _, book = self.run_part({"one": "true"}, tree_key="other")
        with open(os.path.join(self.folder, "p.passed"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "test_a.B.c\n")
        self.assertTrue(book.passed())

    def test_figures_are_those_of_the_log(self):
        _, said, _ = self.run_part({"one": "echo 'script/test: 3 passed, 0 failed, 0 skipped'; echo other"})
        self.assertIn("check: p: passed, 0 s: 3 passed, 0 failed, 0 skipped", said)

    def test_lines_of_the_table_are_short(self):
        _, _, book = self.run_part({"one": "for i in 1 2 3 4 5 6 7 8 9; do echo gate: fuzz: target_number_$i: 1000 inputs; done"})
        lines = list(check.table([book], {"tree": "k"}))
        self.assertLessEqual(max(map(len, lines)), 120)
        self.assertTrue(any("target_number_9: 1000 inputs" in line for line in lines))


class Fuzzing(Folder):
    def test_inputs_are_added_up_over_stops_and_forgotten_on_another_tree(self):
        path = os.path.join(self.folder, "count")
        asked = []

        def stopped(target, runs):
            asked.append(runs)
            return (runs, True) if len(asked) < 4 else (0, False)
        self.assertFalse(fuzz.fuzz("a", fuzz.Count(path, "k"), 20000, stopped))
        self.assertEqual(asked, [2000] * 4)
        again = fuzz.Count(path, "k")
        self.assertEqual(again.of("a"), 6000)
        self.assertTrue(fuzz.fuzz("a", again, 20000, lambda target, runs: (runs, True)))
        self.assertEqual(fuzz.Count(path, "k").of("a"), 20000)
        self.assertEqual(fuzz.Count(path, "other").of("a"), 0)


class Tests(Folder):
    def ctest(self, *options):
        self.write("CTestTestfile.cmake", """
add_test([=[good.one]=] "true")
add_test([=[good.two]=] "true")
add_test([=[bad]=] "sh" "-c" "echo oh no; exit 1")
add_test([=[gpu]=] "sh" "-c" "echo 'a_test.cpp:3: Skipped'; echo 'needs a GPU: none here'; exit 77")
set_tests_properties([=[gpu]=] PROPERTIES SKIP_RETURN_CODE 77)
add_test([=[long]=] "sh" "-c" "printf %0500d 7; exit 1")
set_tests_properties([=[long]=] PROPERTIES LABELS slow)
""")
        return subprocess.run([sys.executable, os.path.join(HERE, "run_tests.py"), *options], stdout=subprocess.PIPE, text=True,
                              cwd=self.folder, check=False)

    def test_the_last_line_counts_and_says_why(self):
        done = self.ctest(".", "--output-on-failure", "-LE", "slow")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout.splitlines()[-1], "script/test: 2 passed, 1 failed, 1 skipped (1 need a GPU)")
        self.assertIn("oh no", done.stdout)
        self.assertIn("tests failed out of 4", done.stdout)
        self.assertNotIn("did not run", done.stdout)

    def test_no_line_has_over_160_columns_and_nothing_is_lost(self):
        done = self.ctest(".", "--output-on-failure")
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 160)
        self.assertIn("7\n", done.stdout)

    def test_what_passed_is_not_run_again(self):
        kept = os.path.join(self.folder, "kept")
        self.ctest("--keep", kept, ".", "-LE", "slow")
        with open(kept, encoding="utf-8") as file:
            self.assertEqual(sorted(file.read().split()), ["good.one", "good.two"])
        done = self.ctest("--keep", kept, ".", "-LE", "slow")
        self.assertNotIn("good.one", done.stdout)
        self.assertIn("Test #3: bad", done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "script/test: 2 passed, 1 failed, 1 skipped (1 need a GPU)")

    def test_a_test_that_cannot_run_has_failed(self):
        case = xml.fromstring('<testcase status="notrun"><skipped message="Unable to find executable"/></testcase>')
        self.assertEqual(run_tests.summary([case]), "0 passed, 1 failed, 0 skipped")


class Builds(unittest.TestCase):
    """script/build without a terminal: a few lines of progress, and all that compilers say."""

    def build(self, steps, end):
        words = f"""set -eu
eval "$(sed -n '/^build() {{/,/^}}/p' script/build)"
ninja() {{ for i in $(seq 1 {steps}); do echo "[$i/{steps}] Building CXX object x$i.o"; done; {end}; }}
build ninja"""
        return subprocess.run(["sh", "-c", words], cwd=tree.ROOT, stdout=subprocess.PIPE, text=True, check=False)

    def test_hundreds_of_steps_are_ten_lines(self):
        done = self.build(345, "true")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 10))
        self.assertEqual(done.stdout.splitlines()[-1], "build: 345 of 345 steps")

    def test_a_failure_is_seen_and_passed_on(self):
        done = self.build(3, "echo 'x.cpp:3: error: no'; printf %0500d 7; echo; return 3")
        self.assertEqual(done.returncode, 3)
        self.assertIn("x.cpp:3: error: no\n", done.stdout)
        self.assertIn("7\n", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 160)


class Promises(Folder):
    def keep(self, run, **more):
        clone = os.path.join(self.folder, "clone")
        self.write("clone/script/do", "echo done")
        old, promises.FOLDER = promises.FOLDER, self.folder
        self.addCleanup(setattr, promises, "FOLDER", old)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            outcome = promises.keep("one", {"where": "here", "run": run, **more}, clone)[0]
        return outcome, said.getvalue(), os.listdir(clone)

    def test_a_promise_is_kept_in_a_copy_of_the_clone(self):
        self.assertEqual(self.keep("sh script/do >made\ntest -s made"), ("kept", "", ["script"]))

    def test_the_environment_is_empty(self):
        os.environ["TYCHE_SECRET"] = "yes"
        self.addCleanup(os.environ.pop, "TYCHE_SECRET")
        self.assertEqual(self.keep('test -z "${TYCHE_SECRET:-}"')[0], "kept")

    def test_a_command_that_fails_breaks_it_and_its_words_are_seen(self):
        outcome, said, _ = self.keep("echo because\nfalse\ntrue")
        self.assertEqual(outcome, "BROKEN: exit code 1")
        self.assertIn("because", said)

    def test_a_promise_that_takes_too_long_is_broken(self):
        self.assertRegex(self.keep("sleep 1.2", limit=1)[0], "BROKEN: 1 s, promised 1")

    def test_the_list_is_as_its_head_says(self):
        for name, promise in promises.promises().items():
            self.assertIn(promise["where"], ("bare", "here"), name)
            self.assertTrue(promise["run"].strip(), name)
            self.assertEqual("needs" in promise, "lacks" in promise, name)
            self.assertLessEqual(set(promise), {"where", "limit", "run", "needs", "lacks", "docs"}, name)

    def test_the_limits_are_those_that_are_promised(self):
        limits = {name: promise["limit"] for name, promise in promises.promises().items() if "limit" in promise}
        self.assertEqual(limits, {"demo": 300, "test": 720, "pip": 480})


def load_tests(_loader, tests, _pattern):
    for module in (check, names, promises, run_tests):
        tests.addTests(doctest.DocTestSuite(module))
    return tests


if __name__ == "__main__":
    unittest.main()
