"""Times training of networks beside the same networks in plain PyTorch, on the same cores, in turns.

Usage: networks.py TYCHE GRAPHS [--threads T] [--rounds R] [--batch B] [--row "OPTIONS"]...
GRAPHS: JSON lines with a real target per graph; a row: options of `tyche bench train` that say a model.

The peer is what `tyche export` writes: a line of PyTorch per step, made to run batches (rows of all graphs side by side,
every link one list of indices). Features and links are made once, before the clock starts, and batches come in the same
order every epoch: kinder to PyTorch than a loader. Before it is timed, its answers for a batch are compared with those it
gives graph by graph. Needs torch alone.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import types

ROWS = ["--model gcn", "--model gin --layers 6 --width 128", "--model mp", "--model subgraph",
        "--model local2 --global", "--model folklore2 --global"]


def module_of(folder, training):
    """model.py of an exported network; where it trains, norms take the batch's own means."""
    source = (pathlib.Path(folder) / "model.py").read_text(encoding="utf-8")
    module = types.ModuleType("exported")
    module.__file__ = str(pathlib.Path(folder) / "model.py")
    exec(compile(source.replace("False, 0.1, 1e-05", "True, 0.1, 1e-05") if training else source, "model.py", "exec"),
         module.__dict__)
    return module


def batch_of(module, graphs):
    """Several graphs as one: what model.py asks of a graph, answered for all of them."""
    import torch

    class Batch(module.Graph):
        def __init__(self):
            self.kept = {}
            for name in ("features", "edges", "random"):
                values = [getattr(graph, name) for graph in graphs]
                setattr(self, name, None if values[0] is None else torch.cat(values))

        def keep(self, key, make):
            if key not in self.kept:
                self.kept[key] = make()
            return self.kept[key]

        def distance(self, columns):
            return self.keep("distance", lambda: torch.cat([graph.distance(columns) for graph in graphs]))

        def rows(self, space):
            return self.keep(("rows", space), lambda: sum(graph.rows(space) for graph in graphs))

        def link(self, link, of, to):
            def make():
                at, rows, first, second = [], [], 0, 0
                for graph in graphs:
                    own_at, own_rows = graph.link(link, of, to)
                    at.append(own_at + first)
                    rows.append(own_rows + second)
                    first, second = first + graph.rows(to), second + graph.rows(of)
                return torch.cat(at), torch.cat(rows)
            return self.keep(("link", link, of, to), make)

        def arcs_of(self, link):
            def make():
                arcs, first = [], 0
                for graph in graphs:
                    arcs.append(torch.tensor([a for *_, a in graph.paths(link)], dtype=torch.long) + first)
                    first += graph.rows("arc")
                return torch.cat(arcs)
            return self.keep(("arcs", link), make)

        def factors(self, link, of, reduce, to):
            own = [graph.factor(link, of, reduce) for graph in graphs]
            if all(factor == 1 for factor in own):
                return 1
            rows = torch.tensor([graph.rows(to) for graph in graphs])
            return torch.tensor(own, dtype=torch.float32).repeat_interleave(rows)[:, None]

        def gathered(self, value, at, link, reduce, of, to):
            factor = self.keep(("factor", link, of, reduce, to), lambda: self.factors(link, of, reduce, to))
            if reduce != "mean":
                out = module.gather(value, at, self.rows(to), reduce)
                return out if isinstance(factor, int) else out * factor
            count = self.keep(("count", link, of, to), lambda: torch.bincount(at, minlength=self.rows(to)).clamp(min=1)[:, None])
            return module.gather(value, at, self.rows(to), "sum") / count

        def read(self, value, link, reduce, of, to):
            at, rows = self.link(link, of, to)
            return self.gathered(value[rows], at, link, reduce, of, to)

        def messages(self, value, arcs, activation, link, reduce, space):
            at, rows = self.link(link, space, space)
            if link != "neighbours":
                arcs = arcs[self.arcs_of(link)]
            return self.gathered(activation(value[rows] + arcs), at, link, reduce, space, space)

    return Batch()


def peer(call):
    import torch

    torch.set_num_threads(call.threads)
    with open(call.graphs, encoding="utf-8") as lines:
        items = [json.loads(line) for line in lines]
    target = torch.tensor([float(item["target"]) for item in items])[:, None]

    plain = module_of(call.peer, False)
    graphs = [plain.Graph(item) for item in items[:8]]
    network = plain.load(call.peer)
    with torch.no_grad():
        apart = torch.cat([network(graph) for graph in graphs])
        together = network(batch_of(plain, graphs))
    if not torch.allclose(apart, together, rtol=1e-4, atol=1e-4):
        sys.exit("networks.py: a batch is answered otherwise than its graphs one by one")

    module = module_of(call.peer, True)
    network = module.Network()
    network.load_state_dict(module.read_safetensors(pathlib.Path(call.peer) / "weights.safetensors"))
    network.train()
    graphs = [module.Graph(item) for item in items]
    batches = [(batch_of(module, graphs[at : at + call.batch]), target[at : at + call.batch])
               for at in range(0, len(graphs), call.batch)]
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        for batch, truth in batches:
            optimiser.zero_grad()
            torch.nn.functional.l1_loss(network(batch), truth).backward()
            optimiser.step()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds_per_epoch": min(seconds[1:]), "graphs": len(items)}))  # the first warms up


def made(command):
    """What a command prints; where it fails, this program ends with its words."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"networks.py: {' '.join(command)}\n{done.stderr.strip()}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tyche")
    parser.add_argument("graphs")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--row", action="append")
    parser.add_argument("--peer", help=argparse.SUPPRESS)  # this program as the peer: the folder of an exported network
    call = parser.parse_args()
    if call.peer:
        peer(call)
        return
    print(f"{'':38} {'tyche':>9} {'PyTorch':>9} {'ratio':>6} {'floor':>7}   (ms per graph, {call.threads} threads)")
    for row in call.row or ROWS:
        with tempfile.TemporaryDirectory() as work:
            same = ["--data", call.graphs, "--threads", str(call.threads), "--device", "cpu"]
            made([call.tyche, "train", *same, "--folds", "2", "--fold", "0", "--epochs", "1", "--quiet", "--out",
                  work + "/run", *row.split()])
            made([call.tyche, "export", work + "/run", "--fold", "0", "--out", work + "/net"])
            ours, theirs, floor = [], [], []
            for _ in range(call.rounds):
                own = json.loads(made([call.tyche, "bench", "train", *same, "--epochs", "2", "--json", *row.split()]))
                other = json.loads(made([sys.executable, __file__, call.tyche, call.graphs, "--threads", str(call.threads),
                                   "--batch", str(call.batch), "--peer", work + "/net"]))
                ours.append(1e3 * own["seconds_per_epoch"] / own["graphs"])
                floor.append(own["floor_fraction"])
                theirs.append(1e3 * other["seconds_per_epoch"] / other["graphs"])
        one, two = statistics.median(ours), statistics.median(theirs)
        print(f"{row:38} {one:9.3f} {two:9.3f} {two / one:6.2f} {100 * statistics.median(floor):5.1f} %", flush=True)


if __name__ == "__main__":
    main()
