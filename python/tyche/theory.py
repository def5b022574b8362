"""The universality theorem, executable: formulas of counting logic, the networks that compute them, what they achieve."""
from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Union

from . import _library
from ._convert import as_graph

Path = Union[str, "os.PathLike[str]"]


class Answer(Dict[str, Any]):
    """What ``tyche theory … --json`` says. True where the answer is yes; str() is what the program prints."""

    def __init__(self, said: Dict[str, Any]) -> None:
        super().__init__(said["answer"] if isinstance(said["answer"], dict) else {"rows": said["answer"]})
        self.good: bool = said["good"]
        self.text: str = said["text"]

    def __bool__(self) -> bool:
        return self.good

    def __str__(self) -> str:
        return self.text


class Compiled(Answer):
    """A network that computes a formula exactly. In a notebook it draws itself."""

    def __init__(self, formula: str, said: Dict[str, Any]) -> None:
        super().__init__(said)
        self.formula = formula

    def _repr_svg_(self) -> str:
        how = _library.options(svg=True)
        return str(_library.handle("tyche_theory_compile", _library.text_bytes(self.formula, "formula"), how, 0, 0).info()["svg"])


def check(formula: str, graph: Any) -> Answer:
    """Where a formula is true in a graph, by the model checker. Nodes of type t are in R<t+1>.

    >>> import tyche
    >>> triangle = tyche.from_graph6("Bw")
    >>> bool(tyche.theory.check("exists x. exists>=2 y. E(x,y)", triangle))
    True
    >>> bool(tyche.theory.check("exists x. exists>=3 y. E(x,y)", triangle))
    False
    """
    own = as_graph(graph)
    return Answer(_library.handle("tyche_theory_check", _library.text_bytes(formula, "formula"), *own._where(), stoppable=True).info())


def compile(formula: str, graph: Any = None, *, out: Optional[Path] = None) -> Compiled:  # noqa: A001
    """The network that computes a formula of C² on every graph; with a graph, run on it beside the model checker.

    ``out``: a file to save the network in (safetensors).

    >>> import tyche
    >>> network = tyche.theory.compile("exists>=2 y. E(x,y)", tyche.from_graph6("Bw"))
    >>> network.good
    True
    """
    own = None if graph is None else as_graph(graph)
    where = (0, 0) if own is None else own._where()
    how = _library.options(out=None if out is None else os.fspath(out))
    return Compiled(formula, _library.handle("tyche_theory_compile", _library.text_bytes(formula, "formula"), how, *where, stoppable=True).info())


def approximate(function: Union[str, List[str]], n: int = 4, *, delta: float = 0.1, trials: int = 1000,
                construction: str = "order", grid: Optional[int] = None, memory: float = 4, per_class: bool = False,
                seed: int = 1, out: Optional[Path] = None, threads: int = 0) -> Answer:
    """The network of the theorem for a function on graphs of up to n nodes, built and measured.

    ``function``: connected, triangle, bipartite, hamiltonian, planar, edges, chromatic, diameter, all, or a file; a value
    per node: in-triangle, on-square, in-largest, orbit, nodes; of weighted graphs (on a ``grid``): triangle-weight, min-cut.

    >>> import tyche
    >>> bool(tyche.theory.approximate("connected", n=3, trials=200))
    True
    """
    how = _library.options(function=function, n=n, delta=delta, trials=trials, construction=construction, grid=grid,
                           memory=memory, per_class=per_class, seed=seed, out=None if out is None else os.fspath(out), threads=threads)
    return Answer(_library.handle("tyche_theory_approximate", how, stoppable=True).info())
