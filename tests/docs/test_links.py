"""The test of the links must itself be able to fail: a small tree for every rule of links.py."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from links import anchors, check_tree  # noqa: E402


def faults(**tree):
    """What is wrong with a tree; `docs__a_md` is docs/a.md."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in tree.items():
            path = os.path.join(root, name.replace("__", "/").replace("_", "."))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return check_tree(root)


class Links(unittest.TestCase):
    def test_a_link_leads_to_a_file(self):
        self.assertEqual(faults(README_md="[a](docs/a.md) [web](https://a.b/c)", docs__README_md="[a](a.md) [](../README.md)",
                                docs__a_md=""), [])
        self.assertEqual(faults(README_md="text\n[b](b.md)"), ["README.md:2: there is no b.md"])
        self.assertEqual(faults(README_md="![p](p.png)"), ["README.md:1: there is no p.png"])

    def test_links_are_relative_to_their_page(self):
        self.assertEqual(faults(docs__README_md="[a](a.md)\n[x](docs/a.md)", docs__a_md=""),
                         ["docs/README.md:2: there is no docs/docs/a.md"])

    def test_an_anchor_is_a_heading(self):
        page = "# What came out\n```sh\n# no heading\n```\n"
        self.assertEqual(faults(a_md="[a](b.md#what-came-out)", b_md=page), [])
        self.assertEqual(faults(a_md="[a](b.md#no-heading)", b_md=page),
                         ["a.md:1: b.md has no heading with the anchor 'no-heading'"])
        self.assertEqual(faults(a_md="# One\n[a](#one) [b](#two)"), ["a.md:2: a.md has no heading with the anchor 'two'"])

    def test_anchors_are_github_s(self):
        self.assertEqual(anchors("# The ladder (`tseitin`)\n## A, b - c\n## [x](y.md): z\n# Twin\n# Twin\n"),
                         {"the-ladder-tseitin", "a-b---c", "x-z", "twin", "twin-1"})

    def test_code_and_comments_are_no_links(self):
        self.assertEqual(faults(a_md="`[a](b.md)`\n<!-- [a](b.md) -->\n```text\n[a](b.md)\n```\n"), [])

    def test_a_page_that_a_source_names_is_there(self):
        self.assertEqual(faults(src__a_cpp="// docs/a.md, tests/docs/b.py\n"), ["src/a.cpp:1: there is no docs/a.md"])
        self.assertEqual(faults(script__a="# see docs/lab/a.md.\n", docs__lab__a_md="", docs__lab__README_md="[a](a.md)",
                                docs__README_md="[l](lab/README.md)"), [])
        self.assertEqual(faults(build__a_cpp="// docs/a.md\n"), [])

    def test_the_index_names_every_page(self):
        self.assertEqual(faults(docs__README_md="", docs__a_md=""), ["docs/a.md:1: docs/README.md does not name this page"])
        self.assertEqual(faults(docs__README_md="[a](lab/a.md)", docs__lab__README_md="", docs__lab__a_md=""),
                         ["docs/lab/a.md:1: docs/lab/README.md does not name this page"])

    def test_nothing_stands_twice(self):
        sentence = "a long sentence of many words that says something which should be said on one page alone, not two"
        self.assertEqual(len(faults(a_md=sentence, b_md="Text.\n\n" + sentence)), 1)
        self.assertIn("b.md:3: stands in a.md:1 too: a long sentence", faults(a_md=sentence, b_md="x\n\n" + sentence)[0])
        self.assertEqual(faults(a_md=sentence, b_md=f"```text\n{sentence}\n```\n| {sentence} |\n"), [])
        self.assertEqual(faults(a_md=sentence + "\n\n" + sentence), [])


if __name__ == "__main__":
    unittest.main()
