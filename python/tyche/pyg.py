"""For PyTorch Geometric: transforms that break ties, and the data sets without pickles. Needs torch_geometric.

    import tyche.pyg
    exp = tyche.pyg.EXP(transform=tyche.pyg.AddIndividualisedColours(seed=1))
    loader = torch_geometric.loader.DataLoader(exp, batch_size=20, shuffle=True)

A draw is a function of the transform's seed, the graph's ``tyche_id`` and how often that graph was asked for: shuffling,
batching and the number of workers change nothing. Call n of a graph gives the columns that training by tyche gives that
graph in epoch n of fold 0.
"""
from __future__ import annotations

import mmap
from typing import Any, Dict, List, Optional, Union

import numpy as np

from . import _tests, datasets
from ._convert import _How, as_set
from ._errors import InputError
from ._graphs import GraphSet

try:
    import torch
    from torch_geometric.data import InMemoryDataset
    from torch_geometric.transforms import BaseTransform
except ImportError as error:
    raise ImportError(f"tyche.pyg needs PyTorch and PyTorch Geometric: {error}") from error


class _Calls:
    """How often each graph was asked for, counted in memory that forked workers of a DataLoader share."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._memory = mmap.mmap(-1, 4 * most)
        self._counts = np.frombuffer(self._memory, dtype=np.uint32)

    def next(self, number: int) -> int:
        """1 for the first call of a graph."""
        if not 0 <= number < self.most:
            raise InputError(f"tyche_id {number}: expected 0 to {self.most - 1}")
        self._counts[number] += 1
        return int(self._counts[number])

    def reset(self) -> None:
        self._counts[:] = 0

    def __getstate__(self) -> Dict[str, Any]:
        used = np.flatnonzero(self._counts)
        return {"most": self.most, "used": used, "counts": self._counts[used].copy()}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(state["most"])  # type: ignore[misc]
        self._counts[state["used"]] = state["counts"]


class _AddColumns(BaseTransform):  # type: ignore[misc]
    """Appends random columns to ``x``, which becomes float."""

    def __init__(self, seed: int, types: Optional[int], most: int, options: Dict[str, Any]) -> None:
        self.seed = seed
        self.types = types
        self._options = options
        self._calls = _Calls(most)

    def reset(self) -> None:
        """Begins again with the first call of every graph."""
        self._calls.reset()

    def forward(self, data: Any) -> Any:
        """What torch_geometric calls; the data comes as a copy."""
        number = int(data.tyche_id) if getattr(data, "tyche_id", None) is not None else 0
        graph = as_set([data], _how=_How(all_of_it=False))  # its structure and types
        columns = _tests.random_columns(graph, seed=self.seed, epoch=self._calls.next(number), ids=[number], threads=1,
                                        **self._options)
        drawn = torch.from_numpy(np.array(columns))
        if getattr(data, "x", None) is None:
            data.x = drawn
            return data
        x = data.x.reshape(-1, 1) if data.x.dim() == 1 else data.x
        if not x.is_floating_point() and x.shape[1] == 1 and getattr(data, "tyche_types", None) is None:
            data.tyche_types = x  # so that another transform still sees them
        if self.types is not None:
            if x.is_floating_point() or x.shape[1] != 1 or int(x.max()) >= self.types:
                raise InputError(f"x: expected one column of types below {self.types}, found {x.dtype}, {tuple(x.shape)}")
            x = torch.nn.functional.one_hot(x[:, 0], self.types)
        data.x = torch.cat([x.to(drawn.dtype), drawn], dim=1)
        return data

    def __call__(self, data: Any) -> Any:
        """A copy of the data with the columns; of a list, one for each."""
        if isinstance(data, (list, tuple)):
            return [self(one) for one in data]
        import copy

        return self.forward(copy.copy(data))

    def __repr__(self) -> str:
        given = {"seed": self.seed, **{k: v for k, v in self._options.items() if v is not None}}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in given.items())})"


class AddIndividualisedColours(_AddColumns):
    """Appends what a random path of individualisation and refinement gives each node: 16 columns that code its rank.

    ``depth``: steps, or "leaf". ``random``: "colours", or "marks", "uniform-marks", "class-marks" (depth columns each).
    ``types``: this many types in ``x`` become one-hot columns first. With ``tyche_id`` on the data (tyche.pyg.EXP,
    GraphSet.to_pyg) draws do not depend on the order of calls.
    """

    def __init__(self, depth: Union[int, str, None] = None, seed: int = 1, *, random: str = "colours",
                 types: Optional[int] = None, most: int = 1 << 20) -> None:
        if random == "features":
            raise InputError("random features are AddRandomFeatures")
        super().__init__(seed, types, most, {"random": random, "depth": depth})


class AddRandomFeatures(_AddColumns):
    """Appends random node features (the paper's RNI): ``columns`` of them, "normal" or "uniform"."""

    def __init__(self, columns: int = 32, seed: int = 1, *, rni_dist: str = "normal", types: Optional[int] = None,
                 most: int = 1 << 20) -> None:
        super().__init__(seed, types, most, {"random": "features", "columns": columns, "rni_dist": rni_dist})


class TycheDataset(InMemoryDataset):  # type: ignore[misc]
    """A GraphSet as a data set of PyTorch Geometric's, in memory: nothing is downloaded, written or unpickled."""

    def __init__(self, graphs: GraphSet, transform: Any = None, pre_transform: Any = None) -> None:
        super().__init__(None, transform, pre_transform)
        items: List[Any] = graphs.to_pyg()
        if pre_transform is not None:
            items = [pre_transform(item) for item in items]
        self.graphs = graphs
        self.data, self.slices = self.collate(items)


class EXP(TycheDataset):
    """EXP as tyche.datasets.exp makes it: ``x`` one column of node types (0 disjunction, 1 literal), ``y`` the label."""

    def __init__(self, pairs: int = 600, seed: int = 1, transform: Any = None, pre_transform: Any = None) -> None:
        super().__init__(datasets.exp(pairs, seed), transform, pre_transform)


class CEXP(TycheDataset):
    """CEXP, likewise."""

    def __init__(self, pairs: int = 600, seed: int = 1, transform: Any = None, pre_transform: Any = None) -> None:
        super().__init__(datasets.cexp(pairs, seed), transform, pre_transform)
