"""Graphs from and to what else there is in Python: NetworkX, PyTorch Geometric, SciPy, graph6."""
from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, FrozenSet, Iterable, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _library
from ._errors import InputError
from ._graphs import MISSING, Graph, GraphSet, contiguous, numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray
    import networkx
    import scipy.sparse


class _Parts(NamedTuple):
    """One graph, taken apart."""

    nodes: int
    ends: NDArray[np.int64]  # 2 × edges
    both_ways: bool
    types: Optional[NDArray[Any]] = None
    attributes: Optional[NDArray[Any]] = None
    edge_labels: Optional[NDArray[Any]] = None
    edge_attributes: Optional[NDArray[Any]] = None
    label: Optional[int] = None
    target: Optional[NDArray[Any]] = None
    columns: Tuple[Optional[Tuple[str, ...]], ...] = (None, None)  # what attributes of nodes, of edges were called
    weighted: bool = False  # edge_labels are the bits of weights
    node_labels: Optional[NDArray[Any]] = None
    node_targets: Optional[NDArray[Any]] = None
    node_parts: Optional[NDArray[Any]] = None  # splits × nodes

    def doubled(self) -> "_Parts":
        """With every edge both ways."""
        if self.both_ways:
            return self
        twice: Callable[[Optional[NDArray[Any]]], Optional[NDArray[Any]]]
        twice = lambda a: None if a is None else np.concatenate([a, a])  # noqa: E731
        return self._replace(ends=np.concatenate([self.ends, self.ends[::-1]], axis=1), both_ways=True,
                             edge_labels=twice(self.edge_labels), edge_attributes=twice(self.edge_attributes))


class _How(NamedTuple):
    """How graphs of others are read."""

    ignore: FrozenSet[str] = frozenset()
    floats: bool = False  # whole numbers that could be categories are numbers
    types: str = "type"
    edge_labels: str = "label"
    all_of_it: bool = True  # what cannot be kept is an error


def _how(ignore: Union[str, Iterable[str]] = (), columns: Optional[str] = None, types: str = "type",
         edge_labels: str = "label") -> _How:
    if columns not in (None, "floats"):
        raise InputError(f"columns: expected 'floats' or None, found {columns!r}")
    return _How(frozenset([ignore] if isinstance(ignore, str) else ignore), columns == "floats", types, edge_labels)


def _cannot_keep(name: str, what: str) -> InputError:
    return InputError(f"{name!r} {what}; ignore=({name!r},) leaves it out")


def _whole(array: NDArray[Any]) -> bool:
    return array.dtype.kind in "iub"


def _integer(value: Any, what: str, least: int, most: int) -> int:
    try:
        out = operator.index(value)
    except TypeError:
        raise InputError(f"{what}: expected a whole number, found {value!r}") from None
    if not least <= out <= most:
        raise InputError(f"{what}: expected {least} to {most}, found {out}")
    return out


def _nodes(value: Any) -> int:
    return _integer(value, "number of nodes", 0, 2**32 - 2)


def _label(value: Any) -> int:
    return _integer(value, "label", -2**31, 2**31 - 1)


def _types(values: Any) -> NDArray[Any]:
    return contiguous(values, np.uint32, "types")


def _edge_labels(values: Any) -> NDArray[Any]:
    return contiguous(values, np.uint32, "edge labels")


def _rows(values: Any, what: str) -> NDArray[Any]:
    """One row of numbers for each node or edge; of one column where there is but one dimension."""
    rows = numbers(values, what)
    rows = rows.reshape(-1, 1) if rows.ndim == 1 else rows
    if rows.ndim != 2:
        raise InputError(f"{what}: expected one row for each, found the shape {rows.shape}")
    return rows


def _parts_of_graph(g: Graph) -> _Parts:
    return _Parts(g.num_nodes, g.edge_index, True, g.types if g.categories is None else g.categories, g.attributes,
                  g.edge_labels if g.edge_categories is None else g.edge_categories, g.edge_attributes, g.label,
                  g.target, weighted=g.weights is not None, node_labels=g.node_labels, node_targets=g.node_targets,
                  node_parts=g.node_parts)


def _bits(weights: Any, what: str) -> NDArray[np.uint32]:
    """Weights of edges as labels: their bits."""
    own = numbers(weights, what).reshape(-1).astype(np.float32) + np.float32(0)
    if not np.isfinite(own).all():
        bad = int(np.flatnonzero(~np.isfinite(own))[0])
        raise InputError(f"{what}: edge {bad} has the weight {own[bad]}; expected a finite number")
    return np.ascontiguousarray(own).view(np.uint32)


def _table(rows: List[Dict[str, Any]], taken: FrozenSet[str], how: _How, whose: str) -> Tuple[Any, Tuple[str, ...]]:
    """The attributes that nodes or edges of NetworkX have beside those `taken`, as columns by their names' order."""
    names = sorted({name for row in rows for name in row} - taken - how.ignore, key=str)
    columns = []
    for name in names:
        there = sum(name in row for row in rows)
        if there < len(rows):
            raise _cannot_keep(name, f"is on {there} of {len(rows)} {whose}; expected it on all of them, or on none")
        if whose == "nodes" and name in ("y", "target", "label"):
            raise _cannot_keep(name, "is of each node: what is to be learned of nodes is 'node_label' or 'node_target'")
        try:
            column = _rows([row[name] for row in rows], str(name))
        except InputError as error:
            raise InputError(f"{whose} have {error}; ignore=({name!r},) leaves it out") from None
        if _whole(column) and column.dtype.kind != "b" and not how.floats:
            means = f"types={name!r}" if whose == "nodes" else f"edge_labels={name!r}"
            raise _cannot_keep(name, f"of {whose} is a whole number, which could be a category or a quantity: {means} makes "
                                     "it the one category that there can be, columns='floats' keeps all as numbers")
        columns.append(column)
    return (np.concatenate(columns, axis=1).astype(np.float32), tuple(map(str, names))) if columns else (None, ())


def _of_graph(values: Dict[str, Any], how: _How) -> Tuple[Optional[int], Optional[NDArray[Any]]]:
    """Label and real targets of a graph of NetworkX; its other attributes may be words alone."""
    label, target = values.get("label"), values.get("target")
    if label is None and values.get("y") is not None:
        y = numbers(values["y"], "y").reshape(-1)
        label, target = (y[0], target) if y.size == 1 and _whole(y) else (None, y)
    for name in sorted(set(values) - {"label", "y", "target"} - how.ignore, key=str):
        try:
            numeric = numbers(values[name], "").size > 0
        except InputError:
            numeric = False
        if numeric:
            raise _cannot_keep(name, "is a number of the graph; what is to be learned of it is 'label', 'target' or 'y'")
    return (None if label is None else _label(label),
            None if target is None else numbers(target, "target").astype(np.float32).reshape(-1))


def _parts_of_networkx(g: Any, how: _How = _How()) -> _Parts:
    if g.is_directed() or g.is_multigraph():
        raise InputError("a directed graph or a multigraph; expected a networkx.Graph (to_undirected() makes one)")
    place = {node: i for i, node in enumerate(g.nodes)}
    ends = np.array([[place[u], place[v]] for u, v in g.edges], dtype=np.int64).reshape(-1, 2).T
    of_nodes = [data for _, data in g.nodes(data=True)]
    of_edges = [data for _, _, data in g.edges(data=True)]
    types = [data.get(how.types) for data in of_nodes]
    labels = [data.get(how.edge_labels) for data in of_edges]
    some = [t is not None for t in types]
    if any(some) and not all(some):
        raise InputError(f"{sum(some)} of {len(types)} nodes have a {how.types!r}; expected one on all of them, or on none")
    some_labels = any(label is not None for label in labels)
    weighted = not some_labels and "weight" not in how.ignore and any("weight" in data for data in of_edges)
    learned = frozenset({"node_label", "node_target"})
    attributes, names = _table(of_nodes, frozenset({how.types}) | learned, how, "nodes")
    edge_attributes, edge_names = _table(of_edges, frozenset({how.edge_labels} | ({"weight"} if weighted else set())), how,
                                         "edges")
    values: Dict[str, Any] = {}
    if any("node_label" in data for data in of_nodes):
        values["node_labels"] = np.array([data["node_label"] if data.get("node_label") is not None else MISSING
                                          for data in of_nodes], np.int64)
    if any("node_target" in data for data in of_nodes):
        values["node_targets"] = _rows([data.get("node_target", float("nan")) for data in of_nodes], "node_target")
    label, target = _of_graph({key: value for key, value in g.graph.items() if key not in how.ignore}, how)
    return _Parts(len(place), ends, False,
                  types=_types(types) if any(some) else None, attributes=attributes,
                  edge_labels=_edge_labels([0 if own is None else own for own in labels]) if some_labels else
                  _bits([data.get("weight", 1) for data in of_edges], "weight") if weighted else None,
                  weighted=weighted, **values,
                  edge_attributes=edge_attributes, label=label, target=target,
                  columns=(names if of_nodes else None, edge_names if of_edges else None))


def _parts_of_scipy(matrix: Any, how: _How = _How()) -> _Parts:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"expected a square adjacency matrix, found the shape {matrix.shape}")
    coo = matrix.tocoo()
    if hasattr(coo, "sum_duplicates"):
        coo = coo.copy()
        coo.sum_duplicates()
    there = numbers(coo.data, "entries") != 0
    if coo.data.dtype.kind == "f" and np.isnan(coo.data).any():
        raise InputError("expected a number in every entry of an adjacency matrix, found nan")
    ends, entries = np.stack([coo.row[there], coo.col[there]]).astype(np.int64), coo.data[there]
    if not entries.size or not (entries != entries[0]).any() or "weight" in how.ignore:
        return _Parts(int(matrix.shape[0]), ends, True)
    if how.floats:
        return _Parts(int(matrix.shape[0]), ends, True, edge_attributes=entries.astype(np.float32).reshape(-1, 1))
    return _Parts(int(matrix.shape[0]), ends, True, edge_labels=_bits(entries, "entries"), weighted=True)


#: What is read of PyTorch Geometric's Data, or says nothing of the graph.
_OF_PYG = frozenset({"edge_index", "x", "edge_attr", "edge_weight", "y", "num_nodes", "tyche_types", "tyche_id",
                     "tyche_edge_labels", "tyche_target", "batch", "ptr", "train_mask", "val_mask",
                     "test_mask"})


def _names_of_pyg(data: Any) -> List[str]:
    """The attributes that were given to it."""
    keys = getattr(data, "keys", None)
    if keys is None:
        return [name for name in vars(data) if not name.startswith("_")] if hasattr(data, "__dict__") else []
    return list(keys() if callable(keys) else keys)


def _categories(rows: NDArray[Any], name: str, how: _How) -> Tuple[Any, Any]:
    """Columns of whole numbers are categories, other numbers are attributes: one of the two, and None. Several columns of
    0 and 1 alone (a bag of words) say the same as numbers, and less would be one-hot twice over."""
    if not _whole(rows) or rows.dtype.kind == "b" or how.floats:
        return None, rows
    if rows.shape[1] == 1:
        return rows[:, 0], None
    if rows.size and rows.min() >= 0 and rows.max() <= 1:
        return None, rows
    if rows.size and rows.min() < 0:
        raise _cannot_keep(name, f"has {rows.shape[1]} columns of whole numbers, categories it seems, and a negative one: "
                                 "columns='floats' keeps all as numbers")
    return rows, None


def _target_of_pyg(given: Any) -> Tuple[Optional[int], Optional[NDArray[Any]]]:
    """A label where it is one whole number, else real targets."""
    y = numbers(given, "y").reshape(-1)
    return (_label(y[0]), None) if y.size == 1 and _whole(y) else (None, y.astype(np.float32))


def _parts_of_pyg(data: Any, how: _How = _How()) -> _Parts:
    """Anything with edge_index and, where they are there, x, edge_attr, edge_weight, y and num_nodes."""
    get: Callable[[str], Any] = lambda name: None if name in how.ignore else getattr(data, name, None)  # noqa: E731
    if get("edge_index") is None:
        raise InputError("edge_index is None; expected two rows")
    ends = contiguous(data.edge_index, np.int64, "edge_index")
    if ends.size == 0:
        ends = np.empty((2, 0), np.int64)
    if ends.ndim != 2 or ends.shape[0] != 2:
        raise InputError(f"edge_index: expected two rows, found the shape {ends.shape}")
    types = attributes = None
    if get("x") is not None:
        types, attributes = _categories(_rows(data.x, "x"), "x", how)
        types = None if types is None else _types(types)
    if get("tyche_types") is not None:
        types = _types(_rows(data.tyche_types, "tyche_types"))
    nodes = get("num_nodes")
    if nodes is None:
        rows = attributes if attributes is not None else types
        nodes = len(rows) if rows is not None else (int(ends.max()) + 1 if ends.size else 0)
    nodes = _nodes(nodes)
    edge_labels = edge_attributes = None
    if get("edge_attr") is not None:
        edge_labels, edge_attributes = _categories(_rows(data.edge_attr, "edge_attr"), "edge_attr", how)
        edge_labels = None if edge_labels is None else _edge_labels(edge_labels)
    if get("tyche_edge_labels") is not None:
        edge_labels = _edge_labels(_rows(data.tyche_edge_labels, "tyche_edge_labels"))
    weighted = get("edge_weight") is not None and edge_labels is None
    if weighted:
        edge_labels = _bits(data.edge_weight, "edge_weight")
    elif get("edge_weight") is not None:  # beside labels it is an attribute
        column = _rows(data.edge_weight, "edge_weight").astype(np.float32)
        edge_attributes = column if edge_attributes is None else np.concatenate([edge_attributes, column], axis=1)
    if how.all_of_it:
        for name in sorted(set(_names_of_pyg(data)) - _OF_PYG - how.ignore):
            try:
                rows = numbers(getattr(data, name), name)
            except InputError:
                continue  # words, or something of the user's own
            if rows.ndim > 0 and rows.size > 1 and len(rows) in (nodes, ends.shape[1]):
                raise _cannot_keep(name, f"has a row for each {'node' if len(rows) == nodes else 'edge'}; what is read of nodes "
                                         "is x, of edges edge_attr and edge_weight")
    values = _values_of_pyg(get, nodes) if how.all_of_it else {}
    said = get("y") is None or not how.all_of_it or "node_labels" in values or "node_targets" in values
    label, target = (None, None) if said else _target_of_pyg(data.y)
    if get("tyche_target") is not None:
        target = numbers(data.tyche_target, "tyche_target").astype(np.float32).reshape(-1)
    return _Parts(nodes, ends, True, types, attributes, edge_labels, edge_attributes, label, target, weighted=weighted,
                  **values)


def _values_of_pyg(get: Callable[[str], Any], nodes: int) -> Dict[str, Any]:
    """Where y has a row per node: labels (a negative one is missing) or targets of nodes; and masks."""
    out: Dict[str, Any] = {}
    y = None if get("y") is None else numbers(get("y"), "y")
    if y is not None and y.ndim > 0 and y.size > 1 and len(y) == nodes and nodes > 1:
        if y.size == nodes and _whole(y):
            own = y.reshape(-1).astype(np.int64)
            out["node_labels"] = np.where(own < 0, MISSING, own)
        else:
            out["node_targets"] = y.reshape(nodes, -1)
    parts: Any = None
    for number, name in enumerate(("train_mask", "val_mask", "test_mask"), 1):
        if get(name) is None:
            continue
        rows = numbers(get(name), name)
        if rows.ndim == 0 or len(rows) != nodes:
            raise InputError(f"{name}: expected a row per node ({nodes}), found the shape {rows.shape}")
        mask = rows.astype(bool).reshape(nodes, -1).T
        parts = np.zeros(mask.shape, np.uint8) if parts is None else parts
        if (parts[mask] != 0).any():
            bad = int(np.argwhere(mask & (parts != 0))[0, 1])
            raise InputError(f"{name}: node {bad} is in two masks")
        parts[mask] = number
    if parts is not None:
        if not out and y is not None and y.size > 1:
            raise InputError(f"y: there are masks of nodes, so a row per node ({nodes}) was expected, found the shape {y.shape}")
        out["node_parts"] = parts
    return out


def _parts(item: Any, how: _How = _How()) -> _Parts:
    """One graph in any of the forms this module knows."""
    if isinstance(item, GraphSet):
        if len(item) != 1:
            raise InputError(f"a GraphSet of {len(item)} graphs is no graph: take one by its number; a list of its "
                             "graphs is list(graphs)")
        item = item[0]
    if isinstance(item, Graph):
        return _parts_of_graph(item)
    if isinstance(item, (str, bytes)):
        return _parts_of_graph(from_graph6(item))
    if hasattr(item, "edge_index"):
        return _parts_of_pyg(item, how)
    if hasattr(item, "is_multigraph"):
        return _parts_of_networkx(item, how)
    if hasattr(item, "tocoo"):
        return _parts_of_scipy(item, how)
    raise InputError(
        f"a {type(item).__name__} is no graph: expected a tyche.Graph, a networkx.Graph, something with edge_index "
        "(PyTorch Geometric's Data), a SciPy sparse matrix, or a graph6 string"
    )


def _stack(name: str, parts: List[_Parts], arrays: List[Optional[NDArray[Any]]], rows: List[int]) -> Any:
    """What some graphs have, one after another; all of them must have it, in as many rows and columns as they should."""
    given = [a is not None for a in arrays]
    if not any(given):
        return None
    if not all(given):
        raise InputError(f"graph {given.index(False)} has no {name}, others have", given.index(False))
    columns = next((a.reshape(len(a), -1).shape[1] for a in map(np.asarray, arrays) if a.size), 1)
    flat = []
    for g, (array, count) in enumerate(zip(arrays, rows)):
        own = np.asarray(array)
        if len(own) != count:
            raise InputError(f"graph {g}: {len(own)} rows of {name}, expected {count}", g)
        if own.size != count * columns:
            raise InputError(f"graph {g}: {own.size // count} columns of {name}, graphs before it have {columns}", g)
        flat.append(own.reshape(count, columns))
    out = np.concatenate(flat) if flat else np.empty((0, columns))
    return out[:, 0] if columns == 1 and name in ("types", "edge labels", "node labels") else out


def _joined(parts: List[_Parts], name: str) -> GraphSet:
    if any(p.both_ways for p in parts):
        parts = [p.doubled() for p in parts]
    node_ptr = np.concatenate([[0], np.cumsum([p.nodes for p in parts], dtype=np.uint64)]).astype(np.uint64)
    edges = [p.ends.shape[1] for p in parts]
    edge_ptr = np.concatenate([[0], np.cumsum(edges, dtype=np.uint64)]).astype(np.uint64)
    ends = np.concatenate([p.ends for p in parts], axis=1) if parts else np.empty((2, 0), np.int64)
    labelled = [p.label is not None for p in parts]
    if any(labelled) and not all(labelled):
        raise InputError(f"graph {labelled.index(False)} has no label, others have", labelled.index(False))
    for whose in (0, 1):
        named = [(g, p.columns[whose]) for g, p in enumerate(parts) if p.columns[whose] is not None]
        for g, names in named:
            if names != named[0][1]:
                shown = [", ".join(own or ()) or "none" for own in (names, named[0][1])]
                raise InputError(f"graph {g}: attributes of {('nodes', 'edges')[whose]} are {shown[0]}; graph {named[0][0]} has "
                                 f"{shown[1]}", g)
    nodes = [p.nodes for p in parts]
    zeros: Callable[[Any, int], Any] = lambda a, n: np.zeros(n, np.uint32) if a is None else a  # noqa: E731
    # What nobody said is 0, as in files.
    edge_labels, types = [p.edge_labels for p in parts], [p.types for p in parts]
    if any(own is not None for own in edge_labels):
        edge_labels = [zeros(own, count) for own, count in zip(edge_labels, edges)]
    if any(own is not None for own in types):
        types = [zeros(own, count) for own, count in zip(types, nodes)]
    weighted = {p.weighted for p, count in zip(parts, edges) if count > 0}
    if len(weighted) > 1:
        raise InputError("some graphs have weights of edges and some have none")
    out = GraphSet.from_arrays(
        node_ptr, edge_ptr, ends, both_ways=bool(parts) and parts[0].both_ways,
        types=_stack("types", parts, types, nodes),
        attributes=_stack("attributes", parts, [p.attributes for p in parts], nodes),
        edge_labels=_stack("edge labels", parts, edge_labels, edges),
        edge_attributes=_stack("edge attributes", parts, [p.edge_attributes for p in parts], edges),
        labels=[p.label for p in parts] if any(labelled) else None,
        targets=_stack("targets", parts, [None if p.target is None else p.target.reshape(1, -1) for p in parts],
                       [1] * len(parts)),
        name=name,
    )
    if True in weighted:
        out = GraphSet(_library.handle("tyche_set_weigh", out._handle))
    values = {"labels": _stack("node labels", parts, [p.node_labels for p in parts], nodes),
              "targets": _stack("node targets", parts, [p.node_targets for p in parts], nodes),
              "parts": _stack("masks", parts, [None if p.node_parts is None else p.node_parts.T for p in parts], nodes)}
    if all(own is None for own in values.values()):
        return out
    return out.with_node_values(values["labels"], values["targets"],
                                None if values["parts"] is None else np.reshape(values["parts"], (sum(nodes), -1)).T)


def _is_dataset(graphs: Any) -> bool:
    """A data set of PyTorch's, say of PyTorch Geometric's, which has an edge_index too, that of all its graphs."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(graphs, torch.utils.data.Dataset)


def _is_batch(graphs: Any) -> bool:
    """PyTorch Geometric's Batch, likewise."""
    return callable(getattr(graphs, "to_data_list", None))


def _is_one(graphs: Any) -> bool:
    """Whether something stands for one graph (or, by mistake, none) rather than several."""
    if isinstance(graphs, (GraphSet, list, tuple)) or _is_dataset(graphs) or _is_batch(graphs):
        return False
    return isinstance(graphs, (Graph, str, bytes)) or any(
        hasattr(graphs, name) for name in ("edge_index", "is_multigraph", "tocoo"))


def _items(graphs: Any) -> List[Any]:
    """The graphs of a list or the like."""
    if _is_dataset(graphs):
        return [graphs[i] for i in range(len(graphs))]
    if _is_batch(graphs):
        return list(graphs.to_data_list())
    try:
        return list(graphs)
    except TypeError:
        return [graphs]  # _parts says what it is not


def as_set(graphs: Any, name: str = "graphs", *, _how: _How = _How()) -> GraphSet:
    """A GraphSet of graphs in any form: a GraphSet (itself), one graph, or a list or data set of them.

    A graph is a tyche.Graph, a networkx.Graph, anything with ``edge_index`` (PyTorch Geometric's Data), a SciPy sparse
    matrix, or a graph6 string; a list may mix them.

    >>> import tyche
    >>> tyche.as_set(["Bw", "BW"])
    GraphSet('graphs', 2 graphs, 6 nodes, 5 edges)
    """
    if isinstance(graphs, GraphSet):
        return graphs
    items = [graphs] if _is_one(graphs) else _items(graphs)
    if items and all(isinstance(item, Graph) and item.set is items[0].set for item in items):
        of: GraphSet = items[0].set
        return of[np.array([item.number for item in items], dtype=np.int64)]
    parts = []
    for number, item in enumerate(items):
        try:
            parts.append(_parts(item, _how))
        except InputError as error:
            raise InputError(f"graph {number}: {error}", number) from None
    return _joined(parts, name)


def as_graph(graph: Any) -> Graph:
    """A Graph of one in any form; see as_set."""
    return graph if isinstance(graph, Graph) else as_set([graph])[0]


def from_edges(nodes: int, edges: Any, *, types: Any = None, label: Optional[int] = None, edge_labels: Any = None) -> Graph:
    """A graph from its edges, each once.

    >>> import tyche
    >>> tyche.from_edges(4, [(0, 1), (1, 2), (2, 3)])
    Graph(4 nodes, 3 edges)
    """
    given = numbers(edges if hasattr(edges, "__array__") else list(edges), "edges")
    if given.size and (given.ndim != 2 or given.shape[1] != 2):
        raise InputError(f"edges: expected pairs of nodes, found the shape {given.shape}")
    ends = contiguous(given, np.int64, "edges").reshape(-1, 2).T
    parts = _Parts(_nodes(nodes), ends, False, None if types is None else _types(types),
                   edge_labels=None if edge_labels is None else _edge_labels(edge_labels),
                   label=None if label is None else _label(label))
    return _joined([parts], "graph")[0]


def _one_or_many(given: Any, how: _How) -> Union[Graph, GraphSet]:
    own = as_set(given, _how=how)
    return own[0] if _is_one(given) else own


def from_networkx(graphs: "Union[networkx.Graph, Iterable[networkx.Graph]]", *, ignore: Union[str, Iterable[str]] = (),
                  columns: Optional[str] = None, types: str = "type", edge_labels: str = "label") -> Union[Graph, GraphSet]:
    """A Graph of a networkx.Graph, or a GraphSet of a list of them.

    Nodes are numbered in their order. ``type`` of nodes and ``label`` of edges are their categories (``types`` and
    ``edge_labels`` name other attributes), ``label`` of a graph its class, ``target`` its real targets, ``y`` either;
    ``node_label`` and ``node_target`` of nodes what to learn of those; ``weight`` of edges their weights. All
    other attributes of nodes and edges must be numbers or lists of numbers, and become columns of
    ``attributes`` and ``edge_attributes`` in the order of their names. What cannot be kept is an error that names it:
    ``ignore`` leaves attributes out; ``columns="floats"`` takes whole numbers, which could be categories, as numbers.

    >>> import networkx, tyche
    >>> g = networkx.Graph([(0, 1, {"weight": 0.5}), (1, 2, {"weight": 2.0})])
    >>> tyche.from_networkx(g).weights.tolist()
    [0.5, 0.5, 2.0, 2.0]
    """
    return _one_or_many(graphs, _how(ignore, columns, types, edge_labels))


def from_pyg(graphs: Any, *, ignore: Union[str, Iterable[str]] = (), columns: Optional[str] = None) -> Union[Graph, GraphSet]:
    """A Graph of a PyTorch Geometric Data (or anything with ``edge_index``), or a GraphSet of a list, data set or Batch of them.

    Every edge must be there both ways. Columns of whole numbers in ``x`` (or ``edge_attr``) are categories, the first of
    them types (labels of edges); ``columns="floats"`` takes them as numbers, and so are several columns of 0 and 1 alone.
    Columns of other numbers are attributes; ``edge_weight`` is one more attribute of edges; ``y`` is a label where it
    is one whole number, else real targets. What cannot be kept is an error that names it: other tensors with a row per
    node or edge. ``ignore`` leaves attributes out.
    """
    return _one_or_many(graphs, _how(ignore, columns))


def from_scipy(matrices: "Union[scipy.sparse.spmatrix, Iterable[scipy.sparse.spmatrix]]", *,
               ignore: Union[str, Iterable[str]] = (), columns: Optional[str] = None) -> Union[Graph, GraphSet]:
    """A Graph of a symmetric sparse matrix, whose entries other than 0 are edges; or a GraphSet of a list of them.

    Entries that differ from each other are attributes of edges with ``columns="floats"``, and left out with
    ``ignore="weight"``.
    """
    return _one_or_many(matrices, _how(ignore, columns))


def from_graph6(text: Union[str, bytes]) -> Graph:
    """A graph from nauty's graph6 (or sparse6) code.

    >>> import tyche
    >>> tyche.from_graph6("Bw").to_graph6()
    'Bw'
    """
    code = text.encode("utf-8", "backslashreplace") if isinstance(text, str) else bytes(text)
    given = GraphSet(_library.handle("tyche_set_parse", code, len(code), b"graph6", b"sparse6" if code[:1] == b":" else b"graph6"))
    if len(given) != 1:
        raise InputError(f"expected the code of one graph, found {len(given)}")
    return given[0]


def to_graph6(graph: Any) -> str:
    """nauty's graph6 code: structure alone."""
    own = as_graph(graph)
    return str(_library.handle("tyche_graph6", *own._where()).info()["graph6"])


def to_networkx(graph: Any) -> "networkx.Graph":
    """A networkx.Graph: nodes 0, 1, … with ``type``, edges with ``label`` where there are any (lists of several categories), ``attributes`` of both (lists),
    ``label`` and ``target`` of the graph. from_networkx reads all of it."""
    import networkx

    own = as_graph(graph)
    out = networkx.Graph()
    kinds = own.types if own.categories is None else own.categories
    out.add_nodes_from((v, {"type": kind}) for v, kind in enumerate(kinds.tolist()))
    if own.attributes is not None:
        for v, row in enumerate(own.attributes.tolist()):
            out.nodes[v]["attributes"] = row
    for name, values in (("node_label", own.node_labels), ("node_target", own.node_targets)):
        for v, row in enumerate([] if values is None else values.tolist()):
            out.nodes[v][name] = None if row == MISSING else row
    both, once = own.edge_index, own.edge_index[0] < own.edge_index[1]
    labels = own.edge_labels if own.edge_labels.any() and own.weights is None else None
    labels = labels if own.edge_categories is None else own.edge_categories
    for at in np.flatnonzero(once):
        said: Dict[str, Any] = {} if labels is None else {"label": labels[at].tolist()}
        if own.weights is not None:
            said["weight"] = float(own.weights[at])
        if own.edge_attributes is not None:
            said["attributes"] = own.edge_attributes[at].tolist()
        out.add_edge(int(both[0, at]), int(both[1, at]), **said)
    if own.label is not None:
        out.graph["label"] = own.label
    if own.target is not None:
        out.graph["target"] = own.target.tolist()
    return out


def to_scipy(graph: Any) -> "scipy.sparse.csr_matrix":
    """The adjacency matrix, of ones or of weights."""
    import scipy.sparse

    own = as_graph(graph)
    nodes = own._nodes
    starts = own.set.offsets[nodes.start:nodes.stop + 1].astype(np.int64)
    columns = own.set.neighbours[own._arcs].astype(np.int32)
    entries = np.ones(columns.size, np.int8) if own.weights is None else np.array(own.weights)
    return scipy.sparse.csr_matrix((entries, columns, starts - (starts[0] if starts.size else 0)),
                                   shape=(own.num_nodes, own.num_nodes))


def to_pyg(graph: Any) -> Any:
    """A torch_geometric.data.Data: x (attributes, or else the types as one column), edge_index, y, tyche_id.

    Where nodes have attributes and types, the types are under ``tyche_types``; where edges have attributes and labels, the
    labels are under ``tyche_edge_labels``; where the graph has a label and targets, these are under ``tyche_target``.
    ``tyche_id`` is the graph's number in its
    set, by which the transforms of tyche.pyg draw.
    """
    import torch
    from torch_geometric.data import Data

    own = as_graph(graph)
    data = Data(edge_index=torch.from_numpy(np.array(own.edge_index)))
    kinds = own.types if own.categories is None else own.categories
    types = torch.from_numpy(kinds.astype(np.int64)).reshape(own.num_nodes, -1)
    if own.attributes is None:
        data.x = types
    else:
        data.x = torch.from_numpy(np.array(own.attributes))
        data.tyche_types = types
    labels = None
    if own.weights is not None:
        data.edge_weight = torch.from_numpy(np.array(own.weights))
    elif own.edge_labels.any() or own.edge_categories is not None:
        kinds = own.edge_labels if own.edge_categories is None else own.edge_categories
        labels = torch.from_numpy(kinds.astype(np.int64)).reshape(len(kinds), -1)
    if own.edge_attributes is not None:
        data.edge_attr = torch.from_numpy(np.array(own.edge_attributes))
        if labels is not None:
            data.tyche_edge_labels = labels
    elif labels is not None:
        data.edge_attr = labels
    if own.label is not None:
        data.y = torch.tensor([own.label])
    if own.target is not None:
        target = torch.from_numpy(np.array(own.target)).reshape(1, -1)
        if own.label is None:
            data.y = target
        else:
            data.tyche_target = target
    if own.node_labels is not None:
        data.y = torch.from_numpy(np.where(own.node_labels == MISSING, -1, own.node_labels).astype(np.int64))
    elif own.node_targets is not None:
        data.y = torch.from_numpy(np.array(own.node_targets))
    if own.node_parts is not None:
        for number, name in enumerate(("train_mask", "val_mask", "test_mask"), 1):
            mask = torch.from_numpy(np.array(own.node_parts.T == number))
            setattr(data, name, mask[:, 0] if mask.shape[1] == 1 else mask)
    data.tyche_id = torch.tensor([own.number])
    return data
