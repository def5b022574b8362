"""One bit of one file flipped: the next reader refuses and names the file, or nothing comes of it."""
import json
import os
import re
import shutil

from jobs import SMALL, call, contents, difference


def kind_of(path):
    """Files of one kind differ in numbers and hashes: fold-0/last.safetensors, trials/gcn-9f3a…/config.toml."""
    return re.sub(r"[0-9a-f]{16}|\d+", "N", path)


def graphml_of(graphs):
    """Graphs of JSON lines as GraphML, by hand."""
    lines = ['<graphml><key id="t" for="node" attr.name="type" attr.type="int"/>',
             '<key id="y" for="graph" attr.name="label" attr.type="int"/>']
    for graph in graphs:
        lines.append(f'<graph edgedefault="undirected"><data key="y">{graph["label"]}</data>')
        lines += [f'<node id="n{n}"><data key="t">{t}</data></node>' for n, t in enumerate(graph["nodes"])]
        lines += [f'<edge source="n{u}" target="n{v}"/>' for u, v in graph["edges"]]
        lines.append("</graph>")
    return "\n".join(lines + ["</graphml>"]) + "\n"


def csv_of(graphs):
    """The same as three files of CSV: edges, nodes, graphs."""
    edges = ["graph,source,target"] + [f"{g},{u},{v}" for g, graph in enumerate(graphs) for u, v in graph["edges"]]
    types = [(g, n, t) for g, graph in enumerate(graphs) for n, t in enumerate(graph["nodes"])]
    nodes = ["graph,node,type"] + [f"{g},{n},{t}" for g, n, t in types]
    labels = ["graph,label"] + [f"{g},{graph['label']}" for g, graph in enumerate(graphs)]
    return {"c.csv": edges, "c_nodes.csv": nodes, "c_graphs.csv": labels}


class Flips:
    """The part `flips` of the harness."""

    refused = harmless = 0

    def flip(self, path):
        with open(path, "r+b") as file:
            data = file.read()
            if not data:
                return None
            at = self.random.randrange(len(data))
            bit = self.random.randrange(8)
            file.seek(at)
            file.write(bytes([data[at] ^ (1 << bit)]))
        return f"byte {at}, bit {bit}"

    def flips_in(self, name, make, file, words, good, compare, runs=100, named=None):
        """Flips in one file: the reader refuses and names it (or what it is part of: `named`), or gives what it gives
        without the flip."""
        make()
        result = call(self.program, words)
        expected = compare(result)
        if result.returncode not in good:
            return self.fail(name, "fails without a flip", result)
        for _ in range(min(self.runs or runs, runs)):
            make()
            where = self.flip(file)
            if where is None:
                continue
            result = call(self.program, words)
            label = f"{name}, {os.path.basename(file)}: {where}"
            self.count("flips", os.path.basename(kind_of(os.path.basename(file))), "flips")
            if result.returncode < 0:
                self.fail(label, f"ended by signal {-result.returncode}", result)
            elif result.returncode in good:
                if compare(result) != expected:
                    self.fail(label, "was read, and something else came of it", result)
                else:
                    self.harmless += 1
            elif result.returncode == 2 and (named or os.path.basename(file)) in result.stderr:
                self.refused += 1
            else:
                self.fail(label, "the refusal does not name the file", result)

    def flips(self, job):
        if job.name == "generate":
            self.flips_in_new_data()
            return self.flips_in_sets()
        self.make_half(job)
        half = self.path("half-" + job.name)
        files = sorted(os.path.join(w, n) for w, _, names in os.walk(half) for n in names)
        seen = set()
        for file in files:
            key = os.path.relpath(file, half)
            if kind_of(key) in seen:
                continue
            seen.add(kind_of(key))
            target = os.path.join(job.run, key)
            begin = lambda: self.begin_from(job, True)
            rest = {k: v for k, v in job.expected.items() if k != key}
            self.flips_in(job.name, begin, target, job.command(), job.good,
                          lambda r: difference(contents(job.run, (key,)), rest))
            if os.path.basename(file) not in ("graphs.txt", "manifest.json", "network-1.safetensors"):
                page = self.path("report.csv")
                words = ["report", job.run, "--format", "csv", "--out", page]
                self.flips_in(job.name + " report", begin, target, words, (0,), lambda r: self.taken(page))
            if file.endswith(".safetensors") and job.name in ("train", "selected"):
                words = ["predict", "--checkpoint", target, "--data", self.path("data"), "--json"]
                self.flips_in("predict", begin, target, words, (0,), lambda r: r.stdout)
        if job.name == "train":
            self.flips_in_data_of_a_run()
        if job.name in ("selected", "distinguish"):
            self.flips_in_what_a_run_reads(job)

    def taken(self, path):
        """A file's bytes, and the file is gone."""
        if not os.path.exists(path):
            return None
        with open(path, "rb") as opened:
            data = opened.read()
        os.remove(path)
        return data

    def flips_in_new_data(self):
        """A data set of ours that a new run reads: its manifest has its hash."""
        copy, run = self.path("copy"), self.path("run")

        def make():
            shutil.rmtree(copy, ignore_errors=True)
            shutil.rmtree(run, ignore_errors=True)
            shutil.copytree(self.path("data"), copy)
        words = ["train", "--data", copy, "--out", run, "--epochs", "1", "--folds", "2", "--threads", "1"] + SMALL
        for name in ("graphs.txt", "manifest.json"):
            self.flips_in("data", make, os.path.join(copy, name), words, (0,), lambda r: contents(run))
        # A packed file has checksums of its own.
        packed = self.path("packed.tyche")

        def pack():
            shutil.rmtree(run, ignore_errors=True)
            shutil.copyfile(self.path("spare.tyche"), packed)
        self.must(["pack", self.path("graphs.jsonl"), "--out", self.path("spare.tyche")])
        words[words.index("--data") + 1] = packed
        self.flips_in("packed data", pack, packed, words, (0,), lambda r: contents(run))

    def flips_in_sets(self):
        """Colour classes of sets, which a damaged file makes the program find again."""
        cache, spare, run = self.path("cache"), self.path("cache-spare"), self.path("run")
        words = ["train", "--data", self.path("ladder"), "--model", "gcn3", "--out", run, "--epochs", "1", "--width",
                 "4", "--layers", "2", "--folds", "2", "--fold", "0", "--threads", "1", "--quiet", "--cache", cache]
        self.must(words)
        os.rename(cache, spare)

        def make():
            shutil.rmtree(cache, ignore_errors=True)
            shutil.rmtree(run, ignore_errors=True)
            shutil.copytree(spare, cache)
        self.flips_in("sets", make, os.path.join(cache, os.listdir(spare)[0]), words, (0,), lambda r: contents(run),
                      runs=20)  # each is two seconds of colouring

    def flips_in_data_of_a_run(self):
        """Files of others have no checksum, but a run knows the data it was begun with: it goes on with no other."""
        with open(self.path("graphs.jsonl")) as file:
            graphs = [json.loads(line) for line in file]
        formats = {"mine.jsonl": {"mine.jsonl": "".join(json.dumps(g) + "\n" for g in graphs)},
                   "mine.graphml": {"mine.graphml": graphml_of(graphs)},
                   "csv/c.csv": {"csv/" + name: "\n".join(lines) + "\n" for name, lines in csv_of(graphs).items()},
                   "tu": {}}
        for name in os.listdir(self.path("tu")):
            with open(os.path.join(self.path("tu"), name)) as file:
                formats["tu"]["tu/" + name] = file.read()
        run = self.path("run")
        for data, files in formats.items():
            self.write_files(files)
            shutil.rmtree(run, ignore_errors=True)
            begin = ["train", "--data", self.path(data), "--out", run, "--folds", "2", "--schedule", "constant", "--threads", "1"] + SMALL
            self.must(begin + ["--epochs", "2"])
            begun = self.path("begun-" + data.replace("/", "-"))
            os.rename(run, begun)

            def make():
                self.write_files(files)
                shutil.rmtree(run, ignore_errors=True)
                shutil.copytree(begun, run)
            for name in files:
                self.flips_in("data of a run", make, self.path(name), begin + ["--resume", "--epochs", "3"], (0,),
                              lambda r: contents(run), named=self.path(data.split("/")[0]))

    def write_files(self, files):
        for name, text in files.items():
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            with open(self.path(name), "w") as file:
                file.write(text)

    def flips_in_what_a_run_reads(self, job):
        """The split of a run, or the pairs that a run of distinguish judges: damaged between two calls."""
        name = "split.json" if job.name == "selected" else os.path.join("data", "graphs.txt")
        with open(self.path(name)) as file:
            text = file.read()

        def make():
            self.begin_from(job, True)
            self.write_files({name: text})
        self.flips_in(job.name + " resumed", make, self.path(name), job.command(), job.good,
                      lambda r: contents(job.run), named=self.path(name.split("/")[0]))
        self.write_files({name: text})
