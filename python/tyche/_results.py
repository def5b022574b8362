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
