"""What mkdocs does beside rendering: navigation from the indexes, GitHub's Markdown, search without a server, a check."""
import os
import re

from mkdocs.exceptions import PluginError

INDEXES = ("docs/README.md", "docs/lab/README.md")


def on_config(config):
    """Sections are the headings of docs/README.md, pages the links below them; the notebook comes last."""
    nav = ["README.md", INDEXES[0]]
    for index in INDEXES:
        with open(os.path.join(config["docs_dir"], index), encoding="utf-8") as file:
            lines = file.read().splitlines()
        pages = [index] if index != INDEXES[0] else []
        if pages:
            nav.append({"The notebook": pages})
        for line in lines:
            heading = re.match(r"## (.*)", line)
            if heading:
                pages = []
                nav.append({heading[1]: pages})
            for link in re.findall(r"\]\(([^)#]+\.md)\)", line):
                page = os.path.normpath(os.path.join(os.path.dirname(index), link))
                if page not in INDEXES:
                    pages.append(page)
    config["nav"] = [entry for entry in nav if not isinstance(entry, dict) or any(entry.values())]
    return config


def on_page_markdown(markdown, **_):
    """GitHub lets a list or a table follow a line of text; here an empty line has to stand between them."""
    lines, code = [], False
    for line in markdown.splitlines():
        if line.startswith("```"):
            code = not code
        begins = re.match(r"([-*]|\d+\.) |\|", line)
        before = lines[-1] if lines else ""
        if begins and not code and re.match(r"[^\s#|<-]", before) and not re.match(r"([-*]|\d+\.) ", before):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def on_post_build(config):
    """The index of the search as a script, which a page that was opened as a file can read; then the check."""
    site = config["site_dir"]
    with open(os.path.join(site, "search/search_index.json"), encoding="utf-8") as file:
        index = file.read()
    with open(os.path.join(site, "search/search_index.js"), "w", encoding="utf-8") as file:
        file.write(f"var __search = {{index: Promise.resolve({index})}};\n")
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    pages[path] = file.read()
    ids = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in pages.items()}
    for path, text in pages.items():
        where = os.path.relpath(path, site)
        for asset in re.findall(r'<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="((?:https?:)?//[^"]+)"', text):
            raise PluginError(f"{where} needs {asset} from the network")
        if where == "404.html":
            continue
        for target, anchor in re.findall(r'href="([^":#]*)#([^"]+)"', text):
            page = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if page in ids and anchor not in ids[page]:
                raise PluginError(f"{where}: {target} has no '{anchor}'")
