"""The Weisfeiler-Leman tests, colours, paths of individualisation and refinement, certificates."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _library
from ._convert import as_graph, as_set
from ._errors import InputError
from ._graphs import Graph, GraphSet, contiguous

if TYPE_CHECKING:
    from numpy.typing import NDArray  # takes as long to import as the rest of this module


#: Nodes that are looked at before anybody could press Ctrl-C; a thread to hear it would take longer than they do.
AT_ONCE = 10000


class Comparison(NamedTuple):
    """Whether two graphs are told apart, and when. True where they are."""

    distinguished: bool
    round: Optional[int] = None  #: the first round after which the colours differ
    stable_after: Optional[int] = None
    classes: Optional[int] = None
    verdict: Optional[str] = None  #: with individualise: "isomorphic", "different" or "unknown"

    def __bool__(self) -> bool:
        return self.distinguished


def _comparison(said: Dict[str, Any]) -> Comparison:
    return Comparison(*[said.get(name) for name in Comparison._fields])  # type: ignore[arg-type]


def wl(a: Any, b: Any = None, dim: Optional[int] = None, *, pairs: bool = False, sets: Optional[str] = None,
       two_sets: Optional[str] = None, space: Optional[str] = None, distance_cut: Optional[int] = None,
       individualise: Union[int, str, None] = None, draws: Optional[int] = None, cell: Optional[str] = None,
       seed: Optional[int] = None, threads: int = 0) -> Any:
    """Are graphs told apart?

    Of two graphs a Comparison; of one set with ``pairs`` a list of them, for graphs 2i and 2i + 1; of one set without
    it a dict that says which graphs are not told apart (``group``: equal numbers). The test: ``dim`` 1 (colour
    refinement), 2 or 3 (the folklore test); or ``sets`` "2", "3" or "1-2-3" (refinement on sets of nodes); or ``space``
    "rooted", "pairs" or "folklore" (refinement of pairs, from distances up to ``distance_cut`` where that is given); or
    ``individualise``, a depth or "leaf".

    >>> import tyche
    >>> hexagon, triangles = tyche.from_graph6("EhEG"), tyche.from_graph6("EwCW")
    >>> tyche.wl(hexagon, triangles).distinguished, tyche.wl(hexagon, triangles, dim=2).distinguished
    (False, True)
    >>> tyche.wl(hexagon, triangles, space="rooted").distinguished
    True
    >>> tyche.wl(hexagon, triangles, individualise="leaf").verdict
    'different'
    >>> tyche.wl([hexagon, triangles, hexagon])["group"]
    [0, 0, 0]
    """
    how = _library.options(dim=dim, sets=sets, two_sets=two_sets, space=space, distance_cut=distance_cut,
                           individualise=individualise, draws=draws, cell=cell, seed=seed, threads=threads)
    if b is not None:
        if pairs:
            raise InputError("pairs compares graphs 2i and 2i + 1 of one set: leave out the second graph")
        first, second = as_graph(a), as_graph(b)
        return _comparison(_library.handle("tyche_wl", *first._where(), *second._where(), how, stoppable=True).info())
    own = as_set(a)
    name = "tyche_wl_pairs" if pairs else "tyche_wl_groups"
    said = _library.handle(name, own._handle, how, stoppable=True).info()
    return [_comparison(one) for one in said] if pairs else said


def colours(graphs: Any, rounds: Optional[int] = None, threads: int = 0) -> NDArray[np.uint32]:
    """Colours of nodes under colour refinement, until stable or for a number of rounds.

    Of a set all graphs are refined jointly, so that equal colours mean the same in all of them; the nodes of all graphs
    stand one after another (``GraphSet.ptr``).

    >>> import tyche
    >>> tyche.colours(tyche.from_edges(3, [(0, 1), (1, 2)])).tolist()
    [1, 0, 1]
    """
    own = as_set([graphs]) if isinstance(graphs, Graph) else as_set(graphs)
    how = _library.options(rounds=rounds, threads=threads)
    return _library.handle("tyche_colours", own._handle, how, stoppable=own.num_nodes > AT_ONCE).array("colours")


def count(graphs: Any, patterns: Optional[Union[str, Sequence[str]]] = None, of: str = "graphs", *,
          threads: int = 0) -> NDArray[np.uint64]:
    """How often small graphs are in these, as subgraphs: a row per graph (or ``of`` nodes, edges), a column per pattern.

    ``patterns``: cycle3 to cycle6, path2 to path6, clique3 to clique6, star3 to star6, chordal4, chordal5, or files of
    graphs of at most 6 nodes; cycles and chordal cycles unless said. A node's (an edge's) count is the number of copies
    that it is in; edges are in the order of ``Graph.edges``.

    >>> import tyche
    >>> square = tyche.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)])
    >>> tyche.count(square, ["cycle3", "cycle4"]).tolist()
    [[2, 1]]
    >>> tyche.count(square, "cycle3", of="nodes").ravel().tolist()
    [2, 1, 2, 1]
    """
    own = as_set([graphs]) if isinstance(graphs, Graph) else as_set(graphs)
    names = patterns if patterns is None or isinstance(patterns, str) else ",".join(patterns)
    how = _library.options(patterns=names, of=of, threads=threads)
    return _library.handle("tyche_count", own._handle, how, stoppable=True).array("counts")


def individualise(graphs: Any, depth: Union[int, str] = "leaf", draws: int = 1, seed: int = 1, *,
                  cell: Optional[str] = None, threads: int = 0) -> NDArray[np.uint32]:
    """Random paths: individualise a random node, refine, and again, ``depth`` times or until the leaf.

    The ranks of the colours that each draw ends with: draws × nodes. At the leaf every node has a rank of its own.

    >>> import tyche
    >>> ranks = tyche.individualise(tyche.from_graph6("EhEG"), draws=2, seed=1)
    >>> ranks.shape, sorted(ranks[0].tolist())
    ((2, 6), [0, 1, 2, 3, 4, 5])
    """
    own = as_set([graphs]) if isinstance(graphs, Graph) else as_set(graphs)
    how = _library.options(depth=depth, draws=draws, seed=seed, cell=cell, threads=threads)
    return _library.handle("tyche_individualise", own._handle, how, stoppable=True).array("ranks")


class Certificate(Dict[str, Any]):
    """What was found of a data set: counts by name, and ``failures``. True where there are none."""

    @property
    def failures(self) -> List[Dict[str, Any]]:
        """Which pair or graph fails what."""
        return list(self["failures"])

    def __bool__(self) -> bool:
        return not self["failures"]


def certify(data: Any, *, published: bool = False, higher: Optional[int] = None, format: Optional[str] = None,
            threads: int = 0) -> Certificate:
    """Checks that the graphs of a data set have the properties they must have (docs/datasets.md).

    ``data``: a GraphSet, or the path of a file or folder.

    >>> import tyche
    >>> bool(tyche.certify(tyche.datasets.exp(pairs=2)))
    True
    """
    how = _library.options(published=published, higher=higher, format=format, threads=threads)
    if isinstance(data, (str, os.PathLike)):
        return Certificate(_library.handle("tyche_certify_file", _library.path_bytes(data), how, stoppable=True).info())
    return Certificate(_library.handle("tyche_certify", as_set(data)._handle, how, stoppable=True).info())


class Inspection(Dict[str, Any]):
    """What is in a data set and what can be learned from it: the JSON of ``tyche inspect``; str() is its text."""

    def __init__(self, said: Dict[str, Any]) -> None:
        super().__init__(said["answer"])
        self.text: str = said["text"]

    def __str__(self) -> str:
        return self.text


def inspect(graphs: Any, *, target: Optional[str] = None, folds: Optional[int] = None,
            fold_scheme: Optional[str] = None, validation: Optional[float] = None, seed: Optional[int] = None,
            all: bool = False, threads: int = 0) -> Inspection:  # noqa: A002
    """What is in a data set, and what can be learned from it at all: ceilings, copies, leaks (docs/inspect.md).

    ``target``: labels or attributes. ``all``: every test, however long it takes.

    >>> import tyche
    >>> found = tyche.inspect(tyche.datasets.exp(pairs=5), folds=5)
    >>> found["ceiling_1wl"]
    0.5
    """
    own = as_set(graphs)
    how = _library.options(target=target, folds=folds, fold_scheme=fold_scheme, validation=validation, seed=seed,
                           all=all or None, threads=threads)
    return Inspection(_library.handle("tyche_inspect", own._handle, how, stoppable=True).info())


def random_columns(graphs: Any, random: str = "colours", *, depth: Union[int, str, None] = None,
                   columns: Optional[int] = None, rni_dist: Optional[str] = None, seed: int = 1, epoch: int = 1,
                   fold: int = 0, ids: Any = None, threads: int = 0) -> NDArray[np.float32]:
    """The random input columns that a network of tyche's sees of graphs in an epoch of training: nodes × columns.

    ``random``: colours, marks, uniform-marks, class-marks, or features (``columns`` of noise). Graph g of the set draws
    as graph ``ids[g]`` of the data (by default g).

    >>> import tyche
    >>> float(tyche.random_columns(tyche.from_graph6("Bw"), "marks").sum())
    1.0
    """
    own = as_set([graphs]) if isinstance(graphs, Graph) else as_set(graphs)
    numbers = None if ids is None else contiguous(ids, np.uint32, "ids").reshape(-1)
    how = _library.options(random=random, depth=depth, columns=columns, rni_dist=rni_dist, seed=seed, epoch=epoch,
                           fold=fold, threads=threads)
    return _library.handle("tyche_random_columns", own._handle, how, _library.pointer(numbers),
                           0 if numbers is None else numbers.size,
                           stoppable=own.num_nodes > AT_ONCE).array("columns")
