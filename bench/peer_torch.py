"""GCN-RNI in plain PyTorch on a CPU: the peer `script/bench` times beside tyche.

The model is the paper's at 100 % random features: eight GraphConvs of width 64 with mean aggregation and ELU, max readout,
an MLP with dropout, Adam. Batches are collated once, before the clock starts, and visited in the same order every epoch: kinder
to PyTorch than a loader. Needs torch alone.

Usage: peer_torch.py GRAPHS [--threads T] [--epochs E] [--train FIRST:LAST]
Prints one JSON object: seconds_per_epoch (median), seconds_per_epoch_min, threads, graphs, torch.
"""
import argparse
import json
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

WIDTH, LAYERS, HIDDEN, BATCH = 64, 8, 32, 20


def read_gin(path):
    """(nodes, label, sources, targets) of each graph of a GIN text file, edges in both directions."""
    with open(path, encoding="ascii") as file:
        numbers = map(int, file.read().split())
    graphs = []
    for _ in range(next(numbers)):
        nodes, label, sources, targets = next(numbers), next(numbers), [], []
        for node in range(nodes):
            next(numbers)  # its type
            for _ in range(next(numbers)):
                sources.append(next(numbers))
                targets.append(node)
        graphs.append((nodes, label, torch.tensor(sources), torch.tensor(targets)))
    return graphs


def collate(graphs):
    """One disjoint graph of several: node count, sources, targets, degrees, graph of each node, labels."""
    offset, sources, targets, member = 0, [], [], []
    for index, (nodes, _, source, target) in enumerate(graphs):
        sources.append(source + offset)
        targets.append(target + offset)
        member.append(torch.full((nodes,), index))
        offset += nodes
    targets = torch.cat(targets)
    degree = torch.bincount(targets, minlength=offset).clamp(min=1).float().unsqueeze(1)
    labels = torch.tensor([label for _, label, _, _ in graphs])
    return offset, torch.cat(sources), targets, degree, torch.cat(member), labels


class GraphConv(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.root, self.neighbours = nn.Linear(width, width, bias=False), nn.Linear(width, width)

    def forward(self, x, sources, targets, degree):
        mean = torch.zeros_like(x).index_add(0, targets, x[sources]) / degree
        return self.root(x) + self.neighbours(mean)


class Gcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList(GraphConv(WIDTH) for _ in range(LAYERS))
        self.fc1, self.fc2, self.fc3 = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, HIDDEN), nn.Linear(HIDDEN, 2)

    def forward(self, nodes, sources, targets, degree, member, graphs):
        x = torch.randn(nodes, WIDTH)
        for conv in self.convs:
            x = F.elu(conv(x, sources, targets, degree))
        index = member.unsqueeze(1).expand(-1, WIDTH)
        pooled = torch.full((graphs, WIDTH), float("-inf")).scatter_reduce(0, index, x, "amax")
        hidden = F.dropout(F.elu(self.fc1(pooled)), 0.5, self.training)
        return self.fc3(F.elu(self.fc2(hidden)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--train", default="228:1200", help="graphs to train on; the default is fold 0 of EXP's ten")
    call = parser.parse_args()
    torch.set_num_threads(call.threads)
    torch.manual_seed(1)
    first, last = map(int, call.train.split(":"))
    graphs = read_gin(call.graphs)[first:last]
    order = torch.randperm(len(graphs)).tolist()
    batches = [collate([graphs[i] for i in order[at : at + BATCH]]) for at in range(0, len(order), BATCH)]

    model = Gcn()
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-4)
    seconds = []
    for _ in range(call.epochs + 1):
        start = time.perf_counter()
        for nodes, sources, targets, degree, member, labels in batches:
            optimiser.zero_grad()
            F.cross_entropy(model(nodes, sources, targets, degree, member, len(labels)), labels).backward()
            optimiser.step()
        seconds.append(time.perf_counter() - start)
    seconds = seconds[1:]  # the first warms up
    print(json.dumps({"seconds_per_epoch": statistics.median(seconds), "seconds_per_epoch_min": min(seconds),
                      "threads": call.threads, "graphs": len(graphs), "torch": torch.__version__}))


if __name__ == "__main__":
    main()
