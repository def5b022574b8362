"""Networks of one's own, step by step (docs/networks.md)."""
from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

Path = Union[str, "os.PathLike[str]"]
#: What a step reads: the name of a value, or (name, link), or (name, link, reduce).
Read = Union[str, Tuple[str, ...]]


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(own)}" for key, own in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(own) for own in value) + "]"
    return json.dumps(value)


class Network:
    """A network: every call adds a step and gives the name of its value, and the last one gives the logits.

    Taken by ``network=`` of the estimators, of tyche.train and of tyche.distinguish; str() is the TOML that ``tyche train
    --network`` reads. What is wrong with it is said when it is used, by line. GraphSAGE, which is ``model="sage"`` to the
    same bits:

    >>> import tyche
    >>> net = tyche.Network()
    >>> h = net.linear(net.input(), 16)
    >>> for _ in range(2):
    ...     around = net.aggregate(h, "neighbours", "mean")
    ...     h = net.activate(net.linear(net.concat(h, around), 16), "elu")
    >>> g = net.readout(h, "max")
    >>> g = net.dropout(net.activate(net.linear(g, 16), "elu"), 0.5)
    >>> g = net.activate(net.linear(g, 32), "elu")
    >>> logits = net.linear(g, "classes")
    >>> exp, how = tyche.datasets.exp(pairs=5), dict(epochs=2, folds=2, engine="reference")
    >>> own = tyche.train(exp, network=net, **how)
    >>> known = tyche.train(exp, model="sage", width=16, layers=2, **how)
    >>> bool((own.curve("train_loss") == known.curve("train_loss")).all()), own.config["model"]["kind"]
    (True, 'sage')
    """

    def __init__(self) -> None:
        self._steps: List[Dict[str, Any]] = []

    def step(self, operation: str, name: Optional[str] = None, **keys: Any) -> str:
        """Any step, by the words of docs/networks.md; ``from_`` is its ``from``."""
        taken = {own["name"] for own in self._steps}
        if name is None:
            number = sum(1 for own in self._steps if own["operation"] == operation)
            name = f"{operation}.{number}"
            while name in taken:
                number += 1
                name = f"{operation}.{number}"
        given = {key.rstrip("_"): value for key, value in keys.items() if value is not None}
        self._steps.append({"name": name, "operation": operation, **given})
        return name

    @staticmethod
    def _read(value: Read) -> Any:
        return value if isinstance(value, str) else dict(zip(("value", "link", "reduce"), value))

    def input(self, source: str = "features", columns: Union[int, str, None] = None, *, name: Optional[str] = None,
              **keys: Any) -> str:
        """What a graph brings: ``features`` of nodes, ``edges``, ``adjacency``, or ``random`` features, or ``drawn`` marks or
        colours (``random="colours"``, ``depth=…``)."""
        return self.step("input", name, source=source, columns=columns, **keys)

    def linear(self, value: Union[Read, Sequence[Read]], columns: Union[int, str], *, name: Optional[str] = None,
               bias: Union[bool, str, None] = None) -> str:
        """A matrix times each row, and a bias; of several values, or through links, their sum. ``columns="classes"``: as many
        as the data has classes."""
        several = isinstance(value, list)
        read = [self._read(own) for own in value] if several else [self._read(value)]  # type: ignore[arg-type]
        return self.step("linear", name, from_=read, columns=columns, bias=bias)

    def aggregate(self, value: str, link: str = "neighbours", reduce: str = "sum", *, name: Optional[str] = None,
                  **keys: Any) -> str:
        """The sum, mean or maximum of the rows that a link reads; ``epsilon=True`` adds (1 + ε) times the row itself."""
        return self.step("aggregate", name, from_=value, link=link, reduce=reduce, **keys)

    def readout(self, value: str, reduce: str = "mean", *, name: Optional[str] = None) -> str:
        """A row per graph: the sum, mean or maximum of all of its rows."""
        return self.aggregate(value, "whole", reduce, name=name)

    def activate(self, value: str, activation: str = "relu", *, name: Optional[str] = None) -> str:
        """elu, tanh or relu of every number."""
        return self.step("activate", name, from_=value, activation=activation)

    def concat(self, *values: str, name: Optional[str] = None) -> str:
        """Columns side by side."""
        return self.step("concat", name, from_=list(values))

    def add(self, *values: str, name: Optional[str] = None) -> str:
        """The sum of values."""
        return self.step("add", name, from_=list(values))

    def product(self, left: str, right: str, *, name: Optional[str] = None) -> str:
        """Of two values over pairs, column by column, the product of matrices."""
        return self.step("product", name, from_=[left, right])

    def dropout(self, value: str, share: float = 0.5, *, name: Optional[str] = None) -> str:
        """In training, a share of a graph's row becomes 0."""
        return self.step("dropout", name, from_=value, share=share)

    def to_toml(self) -> str:
        """The description as ``--network`` reads it."""
        lines = []
        for step in self._steps:
            lines.append("[[step]]")
            lines += [f"{key} = {_toml(value)}" for key, value in step.items()]
            lines.append("")
        return "\n".join(lines) + "\n"

    def save(self, path: Path) -> None:
        """Writes the description."""
        pathlib.Path(path).write_text(self.to_toml(), encoding="utf-8")

    def __str__(self) -> str:
        return self.to_toml()

    def __eq__(self, other: object) -> bool:
        """Networks and texts of them are equal where the text is."""
        return isinstance(other, (Network, str)) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"Network({len(self._steps)} steps)"
