"""Graph neural networks with random node initialisation: data sets with proof, the Weisfeiler-Leman tests, networks,
the universality theorem. One native library does the work; NumPy is all it needs in Python.

>>> import tyche
>>> exp = tyche.datasets.exp(pairs=20, seed=1)           # pairs of graphs that 1-WL cannot tell apart
>>> tyche.wl(exp[0], exp[1]).distinguished
False
>>> tyche.wl(exp[0], exp[1], dim=2).distinguished
True
>>> clf = tyche.GraphClassifier(random="colours", width=16, epochs=10, seed=1, device="cpu").fit(exp)
>>> 0 <= clf.score(exp, draws=4) <= 1
True
"""
from __future__ import annotations

from typing import Any, Iterable

from . import datasets, theory
from ._convert import (as_graph, as_set, from_edges, from_graph6, from_networkx, from_pyg, from_scipy, to_graph6,
                       to_networkx, to_pyg, to_scipy)
from ._display import Pair, pair
from ._errors import Error, InputError, InternalError, IoError, UnknownOptionError
from ._estimators import GraphClassifier, GraphRegressor, NodeClassifier, NodeRegressor, NotFittedError
from ._graphs import MISSING, Graph, GraphSet
from ._library import version as _version
from ._network import Network
from ._options import about
from ._results import Compared, Distinguished, compare, distinguish, report
from ._tests import (Certificate, Comparison, Inspection, certify, colours, count, individualise, inspect, random_columns,
                     wl)
from ._training import Model, Predictions, TrainResult, export, train
from .datasets import pack

__version__ = _version()


def from_smiles(smiles: "Iterable[str]", *, labels: Any = None, targets: Any = None, name: str = "molecules") -> GraphSet:
    """Molecules as graphs, through RDKit (tyche.molecules): atoms' types are atomic numbers, bonds' labels their kinds,
    and the other columns of the Open Graph Benchmark are attributes."""
    from . import molecules

    return molecules.from_smiles(smiles, labels=labels, targets=targets, name=name)


__all__ = [
    "Certificate", "Compared", "Comparison", "Distinguished", "Error", "Graph", "GraphClassifier", "GraphRegressor", "GraphSet",
    "InputError", "Inspection", "InternalError", "IoError", "MISSING", "Model", "Network", "NodeClassifier",
    "NodeRegressor", "NotFittedError", "Pair", "Predictions",
    "TrainResult", "UnknownOptionError", "about", "as_graph",
    "as_set", "certify", "colours", "compare", "count", "datasets", "distinguish", "export", "from_edges", "from_graph6", "from_networkx",
    "from_pyg",
    "from_scipy", "from_smiles", "individualise", "inspect", "pack", "pair", "random_columns", "report", "theory", "to_graph6", "to_networkx", "to_pyg",
    "to_scipy", "train", "wl",
]
