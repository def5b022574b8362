"""The options of training: their names, and what else people call them; splits and weights as they are given."""
from __future__ import annotations

import difflib
import functools
import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Tuple

import numpy as np

from . import _library
from ._errors import InputError, UnknownOptionError
from ._graphs import numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The parts of a fold, and what else they are called.
_PARTS = {"train": "train", "validation": "validation", "valid": "validation", "val": "validation", "test": "test"}


def about() -> Dict[str, Any]:
    """What this build can do: engines, the GPU, and the options of training with their help.

    >>> import tyche
    >>> sorted(tyche.about())
    ['abi', 'engines', 'gpu', 'train', 'version']
    """
    return dict(_library.handle("tyche_about").info())


@functools.lru_cache(maxsize=None)
def _also() -> Dict[str, str]:
    """The option that another name stands for."""
    return {also: field["name"] for field in about()["train"] for also in field["also"]}


def settled(given: Dict[str, Any]) -> Dict[str, Any]:
    """Options under their own names (``learning_rate`` is ``lr``); names that nobody knows as they are."""
    out: Dict[str, Any] = {}
    for name, value in given.items():
        own = _also().get(name, name)
        if out.get(own) is not None and value is not None:
            raise InputError(f"{own} is said twice, once as {name}")
        out[own] = value if value is not None else out.get(own)
    return out


def unknown(whom: str, name: str, known: Iterable[str]) -> UnknownOptionError:
    """The error of a name that is not known."""
    words = {word: word for word in known}
    words.update({also: own for also, own in _also().items() if own in words})
    near = difflib.get_close_matches(name, words, 1)
    hint = f"did you mean {words[near[0]]!r}?" if near else f"it has {', '.join(sorted(set(words.values())))}"
    return UnknownOptionError(f"{whom} has no parameter {name!r}; {hint}")


def _part(given: Any, graphs: int, what: str) -> List[int]:
    """The graphs of a part: their numbers, or a mask."""
    own = numbers(given if hasattr(given, "__array__") or hasattr(given, "detach") else list(given), what)
    if own.ndim != 1 or (own.size and own.dtype.kind not in "iub"):
        raise InputError(f"{what}: expected the numbers of graphs, or a mask, found {own.dtype} of the shape {own.shape}")
    if own.dtype.kind == "b":
        if own.size != graphs:
            raise InputError(f"{what}: a mask of {own.size} for {graphs} graphs; expected one for each")
        own = np.flatnonzero(own)
    return [int(number) for number in own]


def _fold(given: Any, graphs: int, what: str) -> Dict[str, Any]:
    """A fold: a dict of parts, or (train, test), or (train, validation, test). A dict may say of which unit it is."""
    if isinstance(given, dict) and "unit" in given:
        rest = {name: part for name, part in given.items() if name != "unit"}
        of_nodes = any(np.asarray(part).dtype.kind == "b" for part in rest.values())
        if of_nodes and given["unit"] != "graphs":
            raise InputError(f"{what}: a part of {given['unit']} is their numbers, from 0 on, through all graphs; found a mask")
        return {**_fold(rest, graphs, what), "unit": given["unit"]}
    if isinstance(given, dict):
        wrong = [name for name in given if name not in _PARTS]
        if wrong:
            raise InputError(f"{what}: there is no part {wrong[0]!r}; expected train, validation and test")
        parts = [(_PARTS[name], part) for name, part in given.items()]
        if len({name for name, _ in parts}) != len(parts):
            raise InputError(f"{what}: has two validation parts")
    elif isinstance(given, (tuple, list)) and len(given) in (2, 3):
        parts = list(zip(("train", "test") if len(given) == 2 else ("train", "validation", "test"), given))
    else:
        raise InputError(f"{what}: expected a dict of train, validation and test, or (train, test), or (train, validation, "
                         f"test), found {type(given).__name__}")
    return {name: _part(part, graphs, f"{what}, {name}") for name, part in parts}


def _is_part(given: Any) -> bool:
    """Whether something is numbers of graphs rather than a fold of such."""
    if isinstance(given, dict):
        return False
    if hasattr(given, "__array__") or hasattr(given, "detach"):
        return True
    return isinstance(given, (list, tuple, range)) and all(not np.iterable(item) for item in given)


def split_of(given: Any, graphs: int) -> Any:
    """A split as the library takes it: a path as it is, anything else as a list of folds.

    A dict {"train", "validation", "test"}, a tuple (train, test) or (train, validation, test), or several of these (what
    scikit-learn's splitters give); the parts are numbers of graphs or masks, or with "unit": "nodes" in the dict numbers of
    nodes. Or one array: the fold that tests each
    graph, -1 where it only trains.
    """
    if given is None or isinstance(given, (str, bytes, os.PathLike)):
        return given
    if hasattr(given, "__array__") or hasattr(given, "detach"):
        tests = np.asarray(_part(given, -1, "split"))
        if tests.size != graphs:
            raise InputError(f"split: {tests.size} numbers of folds for {graphs} graphs; expected one for each")
        folds = [fold for fold in np.unique(tests) if fold >= 0]
        return [{"train": np.flatnonzero(tests != fold).tolist(), "test": np.flatnonzero(tests == fold).tolist()}
                for fold in folds]
    if isinstance(given, dict):
        return [_fold(given, graphs, "split")]
    try:
        items = list(given)
    except TypeError:
        raise InputError(f"split: expected a file, a dict, or arrays, found {type(given).__name__}") from None
    if items and all(_is_part(item) for item in items):
        return [_fold(tuple(items), graphs, "split")]
    return [_fold(item, graphs, f"split, fold {number}") for number, item in enumerate(items)]


def weights_of(given: Any, graphs: int) -> NDArray[np.float32]:
    """One weight per graph: how many graphs it counts as in the loss."""
    own = numbers(given, "sample_weight")
    if own.ndim != 1 or own.size != graphs:
        raise InputError(f"sample_weight: expected one number for each of {graphs} graphs, found the shape {own.shape}")
    with np.errstate(over="ignore"):
        own = own.astype(np.float32)
    bad = np.flatnonzero(~(np.isfinite(own) & (own >= 0)))
    if bad.size:
        raise InputError(f"sample_weight: graph {bad[0]} has {np.asarray(given)[bad[0]]}; expected a finite number from 0 on",
                         int(bad[0]))
    if not own.any():
        raise InputError("sample_weight: all weights are 0, so nothing counts")
    return own
