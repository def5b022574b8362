"""The data sets: made here, with proof, or read.

>>> import tyche
>>> exp = tyche.datasets.exp(pairs=5, seed=1)
>>> exp.labels[:4].tolist()
[1, 0, 1, 0]
>>> exp.certificate["wl1_equal"], exp.certificate["wl2_distinct"], exp.certificate["failures"]
(5, 5, [])
"""
from __future__ import annotations

import os
from typing import Any, Optional, Sequence, Union

from . import _library
from ._errors import InputError
from ._graphs import GraphSet

Path = Union[str, "os.PathLike[str]"]


def _generate(kind: str, folder: Optional[Path], **options: Any) -> GraphSet:
    where = None if folder is None else _library.path_bytes(folder)
    return GraphSet(_library.handle("tyche_generate", kind.encode(), _library.options(**options), where, stoppable=True))


def exp(pairs: int = 600, seed: int = 1, *, core_min: Optional[int] = None, core_max: Optional[int] = None,
        planar_nodes: Optional[str] = None, planar_source: Optional[Path] = None, certify: bool = True,
        folder: Optional[Path] = None, force: bool = False, threads: int = 0) -> GraphSet:
    """EXP: pairs of formula graphs, one satisfiable and one not, that 1-WL cannot tell apart and 2-WL can.

    ``certify``: every pair is checked as it is made. ``folder``: the set is also written there, as
    ``tyche generate exp`` writes it. The same seed gives the same graphs as the program.
    """
    return _generate("exp", folder, pairs=pairs, seed=seed, core_min=core_min, core_max=core_max,
                     planar_nodes=planar_nodes, planar_source=planar_source, certify=certify, force=force, threads=threads)


def cexp(pairs: int = 600, seed: int = 1, *, core_min: Optional[int] = None, core_max: Optional[int] = None,
         planar_nodes: Optional[str] = None, planar_source: Optional[Path] = None, certify: bool = True,
         folder: Optional[Path] = None, force: bool = False, threads: int = 0) -> GraphSet:
    """CEXP: half of the pairs are EXP's, half CORRUPT, which differ by edges that 1-WL sees (``GraphSet.subsets``)."""
    return _generate("cexp", folder, pairs=pairs, seed=seed, core_min=core_min, core_max=core_max,
                     planar_nodes=planar_nodes, planar_source=planar_source, certify=certify, force=force, threads=threads)


def sparse_exp(pairs: int = 150, seed: int = 1, *, corrupt: bool = False, planar_nodes: Optional[str] = None,
               certify: bool = True, folder: Optional[Path] = None, force: bool = False, threads: int = 0) -> GraphSet:
    """The paper's sparse variant of EXP (``corrupt``: of CEXP)."""
    return _generate("sparse-cexp" if corrupt else "sparse-exp", folder, pairs=pairs, seed=seed,
                     planar_nodes=planar_nodes, certify=certify, force=force, threads=threads)


def tseitin(pairs: int = 600, seed: int = 1, *, base_nodes: Union[str, int, None] = None, unseen: Optional[int] = None,
            planar_nodes: Optional[str] = None, certify: bool = True, folder: Optional[Path] = None, force: bool = False,
            threads: int = 0) -> GraphSet:
    """The ladder: pairs of Tseitin formulas over cubic graphs, which 2-WL cannot tell apart.

    ``base_nodes``: 12, "4,6,8" or "4:10". ``unseen``: how many contiguous folds share no base graph up to isomorphism.
    """
    return _generate("tseitin", folder, pairs=pairs, seed=seed, base_nodes=base_nodes, unseen=unseen,
                     planar_nodes=planar_nodes, certify=certify, force=force, threads=threads)


def csl(copies: int = 15, seed: int = 1, *, certify: bool = True, folder: Optional[Path] = None, force: bool = False,
        threads: int = 0) -> GraphSet:
    """Circular skip links: ten classes of 4-regular graphs on 41 nodes, ``copies`` renumbered ones of each."""
    return _generate("csl", folder, copies=copies, seed=seed, certify=certify, force=force, threads=threads)


def counting(graphs: int = 5000, seed: int = 1, *, certify: bool = True, folder: Optional[Path] = None,
             force: bool = False, threads: int = 0) -> GraphSet:
    """Random graphs of 10 to 30 nodes; targets: their cycles of 3, 4, 5 and 6 nodes, chordal cycles of 4 and 5.

    >>> import tyche
    >>> tyche.datasets.counting(graphs=3).targets.shape
    (3, 6)
    """
    return _generate("counting", folder, graphs=graphs, seed=seed, certify=certify, force=force, threads=threads)


def nodes(task: str, graphs: int = 1000, seed: int = 1, *, nodes: Optional[int] = None, degree: Optional[int] = None,
          certify: bool = True, folder: Optional[Path] = None, force: bool = False, threads: int = 0) -> GraphSet:
    """Graphs whose nodes have labels and are alike to 1-WL: ``task`` "triangle", "lcc", "orbits" or "matching".

    ``nodes`` of a graph (20 unless said) and, of "triangle" and "lcc", their ``degree`` (3).

    >>> import tyche
    >>> sorted(set(tyche.datasets.nodes("triangle", graphs=5).node_labels.tolist()))
    [0, 1]
    """
    if task not in ("triangle", "lcc", "orbits", "matching"):
        raise InputError(f"task: expected triangle, lcc, orbits or matching, found {task!r}")
    return _generate(task, folder, graphs=graphs, seed=seed, nodes=nodes, degree=degree, certify=certify, force=force,
                     threads=threads)


def read(path: Path, format: Optional[str] = None, *, clean: bool = False) -> GraphSet:
    """Graphs of a file or folder in any format of docs/formats.md (gin, graph6, sparse6, tu, jsonl, graphml, …).

    ``clean``: loops and repeated edges are dropped and missing directions added, instead of being errors.
    """
    how = _library.options(format=format, clean=clean or None)
    return GraphSet(_library.handle("tyche_set_read", _library.path_bytes(path), how, stoppable=True))


def pack(path: Path, to: Path, format: Optional[str] = None, *, clean: bool = False) -> GraphSet:
    """What ``read(path)`` would read, as a packed file that is mapped into memory, not read; and the set in it.

    JSON lines are packed line by line: neither file has to fit into memory. ``GraphSet.write(to, "packed")`` packs
    graphs that are in memory.
    """
    how = _library.options(format=format, clean=clean or None)
    return GraphSet(_library.handle("tyche_pack", _library.path_bytes(path), how, _library.path_bytes(to),
                                    stoppable=True))


def brec(folder: Path, only: Optional[Sequence[str]] = None) -> GraphSet:
    """BREC's pairs from its folder of .npy files: graphs 2i and 2i + 1 are pair i (``GraphSet.pair_names``).

    ``only``: some of basic, regular, str, extension, cfi, 4vtx, dr.
    """
    return GraphSet(_library.handle("tyche_set_pairs", _library.path_bytes(folder),
                                    _library.options(only=list(only) if only is not None else None)))
