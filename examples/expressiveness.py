#!/usr/bin/env python3
"""A walk: what a graph neural network cannot see, and what one line changes.

    python3 examples/expressiveness.py                     # all of it; the first part needs PyTorch Geometric
    python3 examples/expressiveness.py --without-pyg       # what needs NumPy alone
    python3 examples/expressiveness.py --brec FOLDER       # ten pairs of BREC from its .npy files, too
    python3 examples/expressiveness.py --quick             # small: what the tests run

docs/python.md keeps what it printed on an H200.
"""
import argparse
import time

import numpy as np

import tyche


def say(*words):
    print(*words, flush=True)


def the_data(pairs):
    """EXP: pairs of graphs, one the encoding of a satisfiable formula, one not, that look the same to 1-WL."""
    exp = tyche.datasets.exp(pairs=pairs, seed=1)
    told = {dim: sum(map(bool, tyche.wl(exp, pairs=True, dim=dim))) for dim in (1, 2)}
    say(f"EXP: {len(exp)} graphs in {pairs} pairs; 1-WL tells {told[1]} pairs apart, 2-WL {told[2]}")
    return exp


def with_pytorch_geometric(pairs, epochs, device):
    """A GCN of PyTorch Geometric's: at 50 %, and then with one line more."""
    import torch
    from torch_geometric.loader import DataLoader
    from torch_geometric.nn import GraphConv, global_max_pool

    import tyche.pyg

    class GCN(torch.nn.Module):
        def __init__(self, inputs, width=64, layers=4):
            super().__init__()
            sizes = [inputs] + [width] * layers
            self.convs = torch.nn.ModuleList(GraphConv(a, b, aggr="mean") for a, b in zip(sizes, sizes[1:]))
            self.head = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ELU(), torch.nn.Linear(width, 2))

        def forward(self, data):
            x = data.x.float()
            for conv in self.convs:
                x = torch.nn.functional.elu(conv(x, data.edge_index))
            return self.head(global_max_pool(x, data.batch))

    def learn(name, transform):
        torch.manual_seed(1)
        data = tyche.pyg.EXP(pairs=pairs, seed=1, transform=transform)
        test = set(range(len(data) // 10))  # whole pairs: the first tenth
        train_set = data[[i for i in range(len(data)) if i not in test]]
        test_set = data[sorted(test)]
        model = GCN(data[0].x.shape[1]).to(device)
        adam = torch.optim.Adam(model.parameters(), lr=5e-4)
        start = time.time()
        for epoch in range(1, epochs + 1):
            model.train()
            for batch in DataLoader(train_set, batch_size=20, shuffle=True):
                adam.zero_grad()
                batch = batch.to(device)
                torch.nn.functional.cross_entropy(model(batch), batch.y).backward()
                adam.step()
            model.eval()
            with torch.no_grad():
                right = sum(int((model(b.to(device)).argmax(1) == b.y.to(device)).sum())
                            for b in DataLoader(test_set, batch_size=200))
            if epoch in (1, epochs) or epoch % max(1, epochs // 5) == 0:
                say(f"  {name}: epoch {epoch}, test accuracy {100 * right / len(test_set):.1f} %")
        say(f"  {name}: {time.time() - start:.0f} s")

    say("PyTorch Geometric's GraphConv on EXP:")
    learn("as it is", None)
    learn("with one line more", tyche.pyg.AddIndividualisedColours(seed=1))


def here(exp, epochs, device):
    """The same by tyche's own engine, as a scikit-learn estimator."""
    test = np.arange(len(exp)) < len(exp) // 10
    say("tyche.GraphClassifier on EXP, tested on the first tenth of the pairs:")
    for name, options in [("no random inputs", dict(rni=0)), ("half random features", dict(rni=0.5)),
                          ("individualised colours", dict(random="colours"))]:
        clf = tyche.GraphClassifier(epochs=epochs, layers=4, lr=5e-4, seed=1, device=device, eval_every=epochs, **options)
        start = time.time()
        clf.fit(exp[~test])
        say(f"  {name}: {100 * clf.score(exp[test], draws=16):.1f} % after {epochs} epochs, {time.time() - start:.1f} s")


def the_ladder(pairs, epochs, device):
    """Pairs that 2-WL cannot tell apart either."""
    ladder = tyche.datasets.tseitin(pairs=pairs, seed=1, base_nodes=12, unseen=10)
    told = sum(map(bool, tyche.wl(ladder[:20], pairs=True, dim=2)))
    say(f"The ladder: 2-WL tells {told} of the first {len(ladder[:20]) // 2} pairs apart")
    result = tyche.train(ladder, random="colours", folds=10, fold=0, epochs=epochs, eval_every=epochs, device=device)
    say(f"  colours at the leaf: {100 * result.history[-1]['test_accuracy']:.1f} % on base graphs never seen")


def inspected(exp):
    """What a data set asks of a network."""
    if not hasattr(tyche, "inspect"):
        return
    say("What EXP asks of a network:")
    say(str(tyche.inspect(exp)))


def ten_pairs(folder, device):
    """Ten pairs of BREC: a network per pair, judged by a test that is right."""
    pairs = tyche.datasets.brec(folder, only=["basic"])[:20]
    told = tyche.distinguish(pairs, random="colours", device=device)
    say(f"BREC, the first ten pairs: {len(told['results']) - len(told['failed'])} of {told['pairs']} told apart")


def the_theorem():
    """Logic, compiled to a network."""
    hexagon, triangles = tyche.from_graph6("EhEG"), tyche.from_graph6("EwCW")
    formula = "exists>=2 y. (E(x,y) & exists>=2 x. E(y,x))"
    say("A formula of counting logic as a network:", formula)
    for name, graph in [("a hexagon", hexagon), ("two triangles", triangles)]:
        say(f"  on {name} network and model checker agree: {tyche.theory.compile(formula, graph).good}")


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--without-pyg", action="store_true", help="leave out what needs PyTorch Geometric")
    words.add_argument("--quick", action="store_true", help="small, for a test")
    words.add_argument("--device", default="auto", help="cpu, cuda or auto")
    words.add_argument("--brec", help="BREC's folder of .npy files")
    call = words.parse_args()
    pairs, epochs = (20, 3) if call.quick else (600, 50)
    exp = the_data(pairs)
    if not call.without_pyg:
        import torch

        on = call.device if call.device != "auto" else ("cuda" if torch.cuda.is_available() else "cpu")
        with_pytorch_geometric(pairs, epochs, on)
    here(exp, epochs, call.device)
    the_ladder(20 if call.quick else 600, epochs, call.device)
    inspected(exp)
    if call.brec:
        ten_pairs(call.brec, call.device)
    the_theorem()


if __name__ == "__main__":
    main()
