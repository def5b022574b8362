"""Networks judged on pairs, and reports of results."""
from __future__ import annotations

import os
import pathlib
from typing import Any, Dict, Optional, Sequence, Union

from . import _library
from ._convert import as_set

Path = Union[str, "os.PathLike[str]"]


class Distinguished(Dict[str, Any]):
    """What ``tyche distinguish --json`` says, with ``results``, one per pair and seed. True where all are told apart."""

    def __bool__(self) -> bool:
        return not self["failed"]


def distinguish(pairs: Any, **options: Any) -> Distinguished:
    """Trains a network per pair of graphs (2i and 2i + 1) to tell the two apart, and tests it (docs/brec.md).

    Options are those of ``tyche distinguish`` by their names: random, rni, model, epochs, draws, seeds, scoring, ….

    >>> import tyche
    >>> told = tyche.distinguish(["EhEG", "EwCW"], random="colours", epochs=60, draws=128, device="cpu")
    >>> told["pairs"], bool(told)
    (1, True)
    """
    own = as_set(pairs)
    return Distinguished(_library.handle("tyche_distinguish", own._handle, _library.options(**options),
                                         stoppable=True).info())


class Compared(Dict[str, Any]):
    """What ``tyche compare --json`` says; str() is its words. True where a network beats the baseline."""

    def __init__(self, said: Dict[str, Any]) -> None:
        super().__init__(said["answer"])
        self.text: str = said["text"]

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        return bool(self["beats_baseline"])


def compare(graphs: Any, out: Path, *, budget: Optional[str] = None, budget_epochs: Optional[int] = None,
            models: Optional[Sequence[str]] = None, ensemble: bool = False, resume: bool = False,
            progress: bool = False, **options: Any) -> Compared:
    """Which network suits these graphs, and is it better than none (docs/compare.md)? ``out``: a new folder for rows,
    page.html and the final model (best/). ``budget``: "10m", or ``budget_epochs``, with which the same seed gives the
    same bits anywhere. Options are those of ``tyche compare``: metric, target, target_columns,
    split, folds, seed, threads, device.

    >>> import tempfile, tyche
    >>> found = tyche.compare(tyche.datasets.exp(pairs=15), tempfile.mkdtemp(), budget_epochs=10, models=["gcn"],
    ...                       folds=2, device="cpu")
    >>> [row["name"] for row in found["rows"]][0], found["metric"]
    ('majority', 'accuracy')
    """
    how = _library.options(budget=budget, budget_epochs=budget_epochs, models=None if models is None else list(models),
                           ensemble=ensemble or None, resume=resume or None, progress=progress or None, **options)
    return Compared(_library.handle("tyche_compare", as_set(graphs)._handle, how, _library.path_bytes(out),
                                    stoppable=True).info())


def report(folder: Union[Path, Sequence[Path]], format: str = "md", *, out: Optional[Path] = None,
           pairs: Optional[int] = None, threads: int = 0) -> str:
    """The results in a folder, as md, csv, tex, json or html; also written to ``out`` where given.

    A folder of ``tyche reproduce``, of training (``tyche.train(…, folder=…)``) or of ``tyche distinguish``. A list of
    them, or a folder of such folders: one line each, to be compared. ``pairs``: so many pairs of graphs to look at in a
    page.
    """
    first, *beside = [folder] if isinstance(folder, (str, os.PathLike)) else list(folder)
    how = _library.options(format=format, pairs=pairs, threads=threads, beside=[os.fspath(other) for other in beside])
    text = str(_library.handle("tyche_report", _library.path_bytes(first), how, stoppable=True).info()["text"])
    if out is not None:
        pathlib.Path(out).write_text(text, encoding="utf-8")
    return text
