"""Graphs and sets of graphs: the library's memory, seen through NumPy."""
from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _library
from ._errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    import networkx
    import scipy.sparse

Index = Union[int, "np.integer[Any]"]


def numbers(values: Any, what: str) -> NDArray[Any]:
    """An array of numbers, of whatever type; a tensor of PyTorch's too. Anything else is an error that says ``what``."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    try:
        given = np.asarray(values)
    except (TypeError, ValueError) as error:  # lists of unequal lengths
        raise InputError(f"{what}: expected an array of numbers: {error}") from None
    if given.size and given.dtype.kind not in "buif":
        found = given.flat[0]
        raise InputError(f"{what}: expected numbers, found {(found.item() if isinstance(found, np.generic) else found)!r}")
    return given


def contiguous(values: Any, dtype: Any, what: str) -> NDArray[Any]:
    """An array as the library reads it. Numbers that the type cannot hold are errors."""
    given = numbers(values, what)
    kind = np.dtype(dtype).kind
    if kind in "iu" and given.size:
        if given.dtype.kind == "f":
            broken = ~(np.isfinite(given) & (given == np.floor(given)))
            if broken.any():
                raise InputError(f"{what}: expected whole numbers, found {given[broken].flat[0]}")
        limits = np.iinfo(dtype)
        low, high = int(given.min()), int(given.max())
        if low < limits.min or high > limits.max:
            raise InputError(f"{what}: expected numbers from {limits.min} to {limits.max}, found {low} to {high}")
    return np.ascontiguousarray(given, dtype=dtype)


def _contiguous(values: Any, dtype: Any, what: str) -> Optional[NDArray[Any]]:
    """The same of what may be None."""
    return None if values is None else contiguous(values, dtype, what)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _categories_before(kinds: Any, attributes: Any, name: str) -> Tuple[Any, Any, int]:
    """The first column of several, the others before the attributes, and how many those are."""
    own = None if kinds is None else numbers(kinds, name)
    if own is None or own.ndim != 2:
        return kinds, attributes, 0
    if own.shape[1] == 0 or own.dtype.kind not in "iub" or (own.size and (own.min() < 0 or own.max() >= 2**24)):
        raise InputError(f"{name}: expected whole numbers from 0 to {2**24 - 1} in every column of categories, found "
                         f"{own.dtype} of the shape {own.shape}" + (f", {own.min()} to {own.max()}" if own.size else ""))
    more = own[:, 1:].astype(np.float32)
    if attributes is not None:
        rows = numbers(attributes, "attributes").astype(np.float32)
        rows = rows.reshape(-1, 1) if rows.ndim == 1 else rows
        if rows.ndim != 2 or len(rows) != len(more):
            raise InputError(f"attributes: {rows.shape}; expected a row for each of {len(more)} rows of {name}")
        attributes = np.concatenate([more, rows], axis=1)
    return own[:, 0], more if attributes is None and more.shape[1] else attributes, own.shape[1] - 1 if len(own) else 0


class GraphSet(Sequence["Graph"]):
    """Graphs, one after another, with what is known of them.

    An index gives a Graph; a slice, a list of numbers or a mask gives a GraphSet. The arrays of the whole set are
    read-only views of the library's memory: ``ptr`` (nodes before each graph), ``offsets`` and ``neighbours`` (each
    node's neighbours, numbered within their graph), ``types``, ``edge_index`` (as PyTorch Geometric has it), ``labels``.

    >>> import tyche
    >>> exp = tyche.datasets.exp(pairs=3)
    >>> exp
    GraphSet('exp', 6 graphs, 242 nodes, 298 edges, labels)
    >>> exp[2:4].labels
    array([1, 0], dtype=int32)
    >>> exp.edge_index.shape == (2, exp.neighbours.size) == (2, 2 * exp.num_edges)
    True
    >>> exp.edge_index is exp.edge_index and not exp.edge_index.flags.writeable
    True
    """

    def __init__(self, handle: Optional[_library.Handle], owner: Optional["GraphSet"] = None,
                 numbers: Union[range, NDArray[np.uint64], None] = None) -> None:
        """Made by tyche.datasets, tyche.as_set and the like, not by hand."""
        self._own = handle
        self._owner = owner
        self._numbers = numbers
        self._arrays: Dict[str, NDArray[Any]] = {}
        self._said: Optional[Dict[str, Any]] = None
        #: Whether types are atomic numbers, so that pictures name atoms.
        self._symbols: bool = owner is not None and owner._symbols

    # ---- where it comes from

    @classmethod
    def from_arrays(cls, node_ptr: Any, edge_ptr: Any, edge_index: Any, *, both_ways: bool = True, types: Any = None,
                    labels: Any = None, attributes: Any = None, edge_labels: Any = None, edge_attributes: Any = None,
                    targets: Any = None, name: str = "graphs") -> "GraphSet":
        """Graphs from arrays, all graphs one after another; edges by node numbers within their graph.

        ``both_ways``: every edge is there twice, once each way (as in PyTorch Geometric); else once. ``types`` and
        ``edge_labels`` may have several columns: categories each (array ``categories``), the first is the type or label.

        >>> import tyche
        >>> s = tyche.GraphSet.from_arrays([0, 3, 5], [0, 3, 4], [[0, 1, 2, 0], [1, 2, 0, 1]], both_ways=False)
        >>> [g.num_edges for g in s]
        [3, 1]
        """
        types, attributes, more = _categories_before(types, attributes, "types")
        edge_labels, edge_attributes, edge_more = _categories_before(edge_labels, edge_attributes, "edge_labels")
        a: Dict[str, Optional[NDArray[Any]]] = {
            "node_ptr": _contiguous(node_ptr, np.uint64, "node_ptr"),
            "edge_ptr": _contiguous(edge_ptr, np.uint64, "edge_ptr"),
            "types": _contiguous(types, np.uint32, "types"),
            "labels": _contiguous(labels, np.int32, "labels"),
            "attributes": _contiguous(attributes, np.float32, "attributes"),
            "edge_labels": _contiguous(edge_labels, np.uint32, "edge_labels"),
            "edge_attributes": _contiguous(edge_attributes, np.float32, "edge_attributes"),
            "targets": _contiguous(targets, np.float32, "targets"),
        }
        ends = _contiguous(edge_index, np.int64, "edge_index")
        nodes_ptr, edges_ptr = a["node_ptr"], a["edge_ptr"]
        if nodes_ptr is None or edges_ptr is None or ends is None:
            raise InputError("node_ptr, edge_ptr and edge_index must be there")
        ends = ends.reshape(2, -1) if ends.size == 0 else ends
        if ends.ndim != 2 or ends.shape[0] != 2:
            raise InputError(f"edge_index: expected two rows, found the shape {ends.shape}")
        if nodes_ptr.ndim != 1 or edges_ptr.shape != nodes_ptr.shape or nodes_ptr.size == 0:
            raise InputError(
                f"node_ptr and edge_ptr: expected one more number than graphs in each, found {nodes_ptr.shape} and "
                f"{edges_ptr.shape}"
            )
        graphs, edges = nodes_ptr.size - 1, ends.shape[1]
        nodes = int(nodes_ptr[-1])
        columns: Dict[str, int] = {}
        for key, rows, what in [("types", nodes, "node"), ("labels", graphs, "graph"), ("attributes", nodes, "node"),
                                ("edge_labels", edges, "edge"), ("edge_attributes", edges, "edge"),
                                ("targets", graphs, "graph")]:
            array = a[key]
            if array is None:
                continue
            if array.shape[:1] != (rows,) or array.ndim > (2 if key in ("attributes", "edge_attributes", "targets") else 1):
                raise InputError(f"{key}: expected one row for each of {rows} {what}s, found the shape {array.shape}")
            columns[key] = 1 if array.ndim == 1 else array.shape[1]
            if array.size == 0 and key in ("attributes", "edge_attributes", "targets"):
                a[key], columns[key] = None, 0  # no rows, or no columns
            elif array.size == 0:
                a[key] = None
        from_, to = np.ascontiguousarray(ends[0]), np.ascontiguousarray(ends[1])
        c = _library.Graphs(
            size=ctypes.sizeof(_library.Graphs), graphs=graphs, nodes=nodes, edges=edges, both_ways=int(both_ways),
            from_=_library.pointer(from_), to=_library.pointer(to), name=_library.text_bytes(name, "name"),
            attribute_columns=columns.get("attributes", 0), edge_attribute_columns=columns.get("edge_attributes", 0),
            target_columns=columns.get("targets", 0),
            **{key: _library.pointer(array) for key, array in a.items()},
        )
        handle = _library.handle("tyche_set_from_arrays", ctypes.byref(c))
        return cls(_library.handle("tyche_set_categorise", handle, more, edge_more) if more + edge_more else handle)

    @property
    def _handle(self) -> _library.Handle:
        """The library's own set; that of a slice is made when it is first needed."""
        if self._own is None:
            assert self._owner is not None and self._numbers is not None
            numbers = np.ascontiguousarray(np.asarray(self._numbers, dtype=np.uint64))
            self._own = _library.handle("tyche_set_select", self._owner._handle, _library.pointer(numbers), numbers.size)
        return self._own

    # ---- what it is

    @property
    def _info(self) -> Dict[str, Any]:
        if self._said is None:
            self._said = self._handle.info()
        return self._said

    @property
    def name(self) -> str:
        """What its file or recipe is called."""
        return str((self._owner or self)._info["name"])

    @property
    def num_nodes(self) -> int:
        """Of all graphs."""
        return int(self.ptr[-1])

    @property
    def num_edges(self) -> int:
        """Of all graphs, each edge counted once."""
        return int(self.offsets[-1]) // 2

    @property
    def certificate(self) -> Optional[Dict[str, Any]]:
        """What was proved of the graphs as they were made; None where nothing was."""
        out = self._info.get("certificate")
        return out if out is None else dict(out)

    @property
    def subsets(self) -> Optional[List[str]]:
        """"EXP", "CORRUPT", …: one per graph where the data set knows it."""
        return self._info.get("subsets")

    @property
    def pair_names(self) -> Optional[List[str]]:
        """Of pairs to tell apart ("str:12"): one per two graphs, where the file has names."""
        return (self._info.get("pairs") or {}).get("names")

    @property
    def pair_categories(self) -> Optional[List[str]]:
        """Likewise the category ("Regular")."""
        return (self._info.get("pairs") or {}).get("categories")

    def __len__(self) -> int:
        if self._numbers is not None:
            return len(self._numbers)
        return int(self._info["graphs"])

    @property
    def shape(self) -> Tuple[int]:
        """(number of graphs,): what scikit-learn asks."""
        return (len(self),)

    def __repr__(self) -> str:
        parts = [_counted(len(self), "graph"), _counted(self.num_nodes, "node"), _counted(self.num_edges, "edge")]
        parts += ["labels"] if self._has("labels") else []
        parts += ["targets"] if self._has("targets") else []
        return f"GraphSet({self.name!r}, {', '.join(parts)})"

    # ---- arrays

    def _has(self, name: str) -> bool:
        return name in (self._owner or self)._info["arrays"]

    def _array(self, name: str) -> NDArray[Any]:
        if name not in self._arrays:
            if self._owner is not None and len(self) == 0:
                self._arrays[name] = self._none_of(name)
            else:
                self._arrays[name] = self._slice(name) if self._is_slice() else self._handle.array(name)
        return self._arrays[name]

    def _none_of(self, name: str) -> NDArray[Any]:
        """Of no graphs at all."""
        assert self._owner is not None
        whole = self._owner._array(name)
        if name in ("edge_index", "node_parts"):
            return whole[:, :0]
        return whole[:1] if name in ("ptr", "offsets") else whole[:0]

    def _is_slice(self) -> bool:
        """Neighbouring graphs of another set, in order: their arrays are parts of its own."""
        return isinstance(self._numbers, range) and self._numbers.step == 1 and len(self._numbers) > 0

    def _slice(self, name: str) -> NDArray[Any]:
        assert self._owner is not None and isinstance(self._numbers, range)
        whole, first, end = self._owner, self._numbers.start, self._numbers.stop
        nodes = slice(int(whole.ptr[first]), int(whole.ptr[end]))
        arcs = slice(int(whole.offsets[nodes.start]), int(whole.offsets[nodes.stop]))
        if name in ("ptr", "offsets"):
            places = whole.ptr[first:end + 1] if name == "ptr" else whole.offsets[nodes.start:nodes.stop + 1]
            out: NDArray[Any] = places - places[0]
            out.flags.writeable = False
            return out
        if name == "node_parts":
            return whole._array(name)[:, nodes]
        part = {"neighbours": arcs, "edge_labels": arcs, "edge_attributes": arcs, "types": nodes, "attributes": nodes,
                "categories": nodes, "edge_categories": arcs, "weights": arcs, "node_labels": nodes, "node_targets": nodes, "labels": slice(first, end), "targets": slice(first, end)}
        return whole.edge_index[:, arcs] if name == "edge_index" else whole._array(name)[part[name]]

    @property
    def ptr(self) -> NDArray[np.uint64]:
        """Nodes before each graph: one more number than graphs."""
        return self._array("ptr")

    @property
    def offsets(self) -> NDArray[np.uint64]:
        """Where each node's neighbours begin in ``neighbours``: one more number than nodes."""
        return self._array("offsets")

    @property
    def neighbours(self) -> NDArray[np.uint32]:
        """Each node's neighbours, ascending, by their number within the graph; every edge is there twice."""
        return self._array("neighbours")

    @property
    def types(self) -> NDArray[np.uint32]:
        """One per node."""
        return self._array("types")

    @property
    def edge_index(self) -> NDArray[np.int64]:
        """Sources and neighbours, 2 × (twice the edges): PyTorch Geometric's form, node numbers within each graph."""
        return self._array("edge_index")

    @property
    def labels(self) -> Optional[NDArray[np.int32]]:
        """One per graph, or None."""
        return self._array("labels") if self._has("labels") else None

    @property
    def targets(self) -> Optional[NDArray[np.float32]]:
        """Real numbers, graphs × columns, or None."""
        return self._array("targets") if self._has("targets") else None

    @property
    def attributes(self) -> Optional[NDArray[np.float32]]:
        """Of nodes, nodes × columns, or None."""
        return self._array("attributes") if self._has("attributes") else None

    @property
    def categories(self) -> Optional[NDArray[np.uint32]]:
        """Of nodes, nodes × columns, the type first; None where there is nothing but the type."""
        return self._array("categories") if self._has("categories") else None

    @property
    def edge_categories(self) -> Optional[NDArray[np.uint32]]:
        """In the order of ``neighbours``, the label first; None where there is nothing but the label."""
        return self._array("edge_categories") if self._has("edge_categories") else None

    @property
    def edge_labels(self) -> NDArray[np.uint32]:
        """In the order of ``neighbours``; 0 where the data has none."""
        return self._array("edge_labels")

    @property
    def edge_attributes(self) -> Optional[NDArray[np.float32]]:
        """In the order of ``neighbours``, or None."""
        return self._array("edge_attributes") if self._has("edge_attributes") else None

    @property
    def weights(self) -> Optional[NDArray[np.float32]]:
        """Of edges, in the order of ``neighbours``, or None."""
        return self._array("weights") if self._has("weights") else None

    @property
    def node_labels(self) -> Optional[NDArray[np.int32]]:
        """One per node (MISSING: none), or None."""
        return self._array("node_labels") if self._has("node_labels") else None

    @property
    def node_targets(self) -> Optional[NDArray[np.float32]]:
        """Real numbers, nodes × columns (NaN: missing), or None."""
        return self._array("node_targets") if self._has("node_targets") else None

    @property
    def node_parts(self) -> Optional[NDArray[np.uint32]]:
        """Splits × nodes: 0 in no part, 1 train, 2 validation, 3 test; or None."""
        return self._array("node_parts") if self._has("node_parts") else None

    def with_node_values(self, labels: Any = None, targets: Any = None, parts: Any = None) -> "GraphSet":
        """The same graphs with labels (MISSING: none) or real targets (NaN: missing) of all nodes, one after another, and
        ``parts`` of them as ``node_parts`` has them."""
        own = _contiguous(labels, np.int32, "labels")
        real = _contiguous(targets, np.float32, "targets")
        split = None if parts is None else _contiguous(np.atleast_2d(np.asarray(parts)), np.uint8, "parts")
        for name, array, rows in (("labels", own, 0), ("targets", real, 0), ("parts", split, 1)):
            if array is not None and array.shape[rows] != self.num_nodes:
                raise InputError(f"{name}: expected one for each of {self.num_nodes} nodes, found the shape {array.shape}")
        columns = 0 if real is None else 1 if real.ndim == 1 else real.shape[1]
        return GraphSet(_library.handle(
            "tyche_set_node_values", self._handle, None if own is None else _library.pointer(own),
            None if real is None else _library.pointer(real), self.num_nodes, columns,
            None if split is None else _library.pointer(split), 0 if split is None else len(split)))

    # ---- parts of it

    @overload
    def __getitem__(self, at: int) -> "Graph": ...

    @overload
    def __getitem__(self, at: Union[slice, Sequence[int], NDArray[Any]]) -> "GraphSet": ...

    def __getitem__(self, at: Any) -> Union["Graph", "GraphSet"]:
        if isinstance(at, tuple) and len(at) == 2 and at[1] is Ellipsis:
            at = at[0]  # as scikit-learn asks from 1.3 on
        if isinstance(at, (int, np.integer)) and not isinstance(at, (bool, np.bool_)):
            number = int(at) + (len(self) if at < 0 else 0)
            if not 0 <= number < len(self):
                raise IndexError(f"graph {int(at)} was asked for; the set has {len(self)} graphs")
            return Graph(self, number)
        chosen: Union[range, NDArray[np.uint64]]
        if isinstance(at, slice):
            chosen = range(*at.indices(len(self)))
        else:
            chosen = self._chosen(at)
        if self._owner is not None and self._numbers is not None:  # a part of a part is a part of the whole
            if isinstance(chosen, range) and isinstance(self._numbers, range):
                return GraphSet(None, self._owner, self._numbers[chosen.start:chosen.stop:chosen.step]
                                if chosen.step > 0 else np.asarray(self._numbers, np.uint64)[np.asarray(chosen, np.intp)])
            return GraphSet(None, self._owner, np.asarray(self._numbers, np.uint64)[np.asarray(chosen, np.intp)])
        return GraphSet(None, self, chosen)

    def _chosen(self, at: Any) -> NDArray[np.uint64]:
        """The graphs that a list of numbers or a mask names."""
        try:
            given = np.empty((), object) if isinstance(at, tuple) else np.asarray(at)
        except ValueError:  # lists of unequal lengths
            given = np.empty((), object)
        if given.ndim == 1 and given.size == 0:
            return np.empty(0, np.uint64)
        if given.ndim != 1 or given.dtype.kind not in "iub":
            raise InputError(f"expected a number, a slice, a list of numbers or a mask, found {at!r}")
        if given.dtype.kind == "b":
            if given.size != len(self):
                raise InputError(f"a mask of {given.size} for {len(self)} graphs; expected one for each")
            return np.flatnonzero(given).astype(np.uint64)
        whole = given.astype(np.int64)
        whole = np.where(whole < 0, whole + len(self), whole)
        if whole.min() < 0 or whole.max() >= len(self):
            bad = given[(whole < 0) | (whole >= len(self))][0]
            raise IndexError(f"graph {bad} was asked for; the set has {len(self)} graphs")
        return whole.astype(np.uint64)

    def __iter__(self) -> Iterator["Graph"]:
        for number in range(len(self)):
            yield Graph(self, number)

    def with_labels(self, labels: Any) -> "GraphSet":
        """The same graphs with these labels (None: without)."""
        own = _contiguous(labels if labels is not None else [], np.int32, "labels")
        assert own is not None
        if own.ndim != 1 or own.size not in (0, len(self)):
            raise InputError(f"{own.size} labels for {len(self)} graphs; expected one for each")
        return GraphSet(_library.handle("tyche_set_relabel", self._handle, _library.pointer(own), own.size))

    def with_targets(self, targets: Any) -> "GraphSet":
        """The same graphs with these real targets: one number per graph, or a row of them (NaN: missing)."""
        own = _contiguous(targets, np.float32, "targets")
        if own is None or own.ndim not in (1, 2) or len(own) != len(self) or own.size == 0:
            found = None if own is None else own.shape
            raise InputError(f"targets: expected one row for each of {len(self)} graphs, found the shape {found}")
        columns = 1 if own.ndim == 1 else own.shape[1]
        return GraphSet(_library.handle("tyche_set_retarget", self._handle, _library.pointer(own), len(own), columns))

    def write(self, path: Union[str, "os.PathLike[str]"], format: str = "gin") -> None:
        """Writes a file (or folder) in one of the formats of docs/formats.md."""
        _library.call("tyche_set_write", self._handle, _library.path_bytes(path),
                      _library.text_bytes(format, "format"))

    def to_networkx(self) -> "List[networkx.Graph]":
        """One NetworkX graph per graph."""
        return [graph.to_networkx() for graph in self]

    def to_pyg(self) -> List[Any]:
        """One PyTorch Geometric Data per graph, each with its ``tyche_id``."""
        return [graph.to_pyg() for graph in self]

    def _repr_svg_(self) -> str:
        from . import _display

        return _display.graphs_svg(list(self[:4]))

    def __reduce__(self) -> Tuple[Any, ...]:
        keep = ("types", "labels", "attributes", "edge_labels", "edge_attributes", "targets")
        arrays = {name: np.array(self._array(name)) for name in keep if self._has(name) or name in ("types", "edge_labels")}
        for kinds, first in (("categories", "types"), ("edge_categories", "edge_labels")):
            if self._has(kinds):
                arrays[first] = np.array(self._array(kinds))
        arrays["edge_index"] = np.array(self.edge_index)
        edge_ptr = self.offsets[self.ptr.astype(np.int64)]
        values = {name: np.array(self._array("node_" + name)) for name in ("labels", "targets", "parts")
                  if self._has("node_" + name)}
        return (_rebuilt, (np.array(self.ptr), np.array(edge_ptr), arrays, self.name, values, self.weights is not None))


def _rebuilt(node_ptr: Any, edge_ptr: Any, arrays: Dict[str, Any], name: str, values: Dict[str, Any] = {},
             weighted: bool = False) -> GraphSet:
    out = GraphSet.from_arrays(node_ptr, edge_ptr, name=name, **arrays)
    if weighted:
        out = GraphSet(_library.handle("tyche_set_weigh", out._handle))
    return out.with_node_values(**values) if values else out


#: The label of a node that has none.
MISSING = -2**31


class Graph:
    """One graph of a set: a view.

    >>> import tyche
    >>> g = tyche.from_graph6("Bw")
    >>> g
    Graph(3 nodes, 3 edges)
    >>> g.edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    >>> g.neighbours(0)
    array([1, 2], dtype=uint32)
    """

    __slots__ = ("set", "number")

    def __init__(self, of: GraphSet, number: int) -> None:
        self.set = of
        self.number = number

    def _where(self) -> Tuple[_library.Handle, int]:
        """The library's handle of a set that has it, and its number there."""
        of = self.set
        if of._own is None and of._owner is not None and of._numbers is not None:
            return of._owner._handle, int(of._numbers[self.number])
        return of._handle, self.number

    @property
    def _nodes(self) -> slice:
        return slice(int(self.set.ptr[self.number]), int(self.set.ptr[self.number + 1]))

    @property
    def _arcs(self) -> slice:
        nodes = self._nodes
        return slice(int(self.set.offsets[nodes.start]), int(self.set.offsets[nodes.stop]))

    @property
    def num_nodes(self) -> int:
        """How many nodes it has."""
        return int(self._nodes.stop - self._nodes.start)

    @property
    def num_edges(self) -> int:
        """Each edge counted once."""
        return int(self._arcs.stop - self._arcs.start) // 2

    def neighbours(self, node: int) -> NDArray[np.uint32]:
        """Of one node, ascending."""
        if not 0 <= node < self.num_nodes:
            raise IndexError(f"node {node} was asked for; the graph has {self.num_nodes} nodes")
        at = self._nodes.start + node
        return self.set.neighbours[int(self.set.offsets[at]):int(self.set.offsets[at + 1])]

    @property
    def types(self) -> NDArray[np.uint32]:
        """One per node."""
        return self.set.types[self._nodes]

    @property
    def edge_index(self) -> NDArray[np.int64]:
        """2 × (twice the edges), a view of the set's."""
        return self.set.edge_index[:, self._arcs]

    @property
    def edges(self) -> NDArray[np.int64]:
        """Every edge once, as (smaller, larger), ascending: edges × 2."""
        both = self.edge_index
        return np.ascontiguousarray(both[:, both[0] < both[1]].T)

    @property
    def attributes(self) -> Optional[NDArray[np.float32]]:
        """Of nodes, nodes × columns, or None."""
        return None if self.set.attributes is None else self.set.attributes[self._nodes]

    @property
    def categories(self) -> Optional[NDArray[np.uint32]]:
        """Nodes × columns, the type first; None where there is nothing but the type."""
        return None if self.set.categories is None else self.set.categories[self._nodes]

    @property
    def edge_categories(self) -> Optional[NDArray[np.uint32]]:
        """In the order of the set's ``neighbours``, the label first; None where there is nothing but the label."""
        return None if self.set.edge_categories is None else self.set.edge_categories[self._arcs]

    @property
    def edge_labels(self) -> NDArray[np.uint32]:
        """In the order of ``edge_index``."""
        return self.set.edge_labels[self._arcs]

    @property
    def edge_attributes(self) -> Optional[NDArray[np.float32]]:
        """In the order of ``edge_index``, or None."""
        return None if self.set.edge_attributes is None else self.set.edge_attributes[self._arcs]

    @property
    def weights(self) -> Optional[NDArray[np.float32]]:
        """Of edges, in the order of ``edge_index``, or None."""
        return None if self.set.weights is None else self.set.weights[self._arcs]

    @property
    def node_labels(self) -> Optional[NDArray[np.int32]]:
        """One per node (MISSING: none), or None."""
        return None if self.set.node_labels is None else self.set.node_labels[self._nodes]

    @property
    def node_targets(self) -> Optional[NDArray[np.float32]]:
        """Real numbers, nodes × columns, or None."""
        return None if self.set.node_targets is None else self.set.node_targets[self._nodes]

    @property
    def node_parts(self) -> Optional[NDArray[np.uint32]]:
        """Splits × nodes, as of a set, or None."""
        return None if self.set.node_parts is None else self.set.node_parts[:, self._nodes]

    @property
    def label(self) -> Optional[int]:
        """Its class, or None."""
        return None if self.set.labels is None else int(self.set.labels[self.number])

    @property
    def target(self) -> Optional[NDArray[np.float32]]:
        """Its real targets, or None."""
        return None if self.set.targets is None else self.set.targets[self.number]

    def to_networkx(self) -> "networkx.Graph":
        """Nodes 0, 1, … with ``type``; edges with ``label`` where the data has some; ``attributes`` of both; of the graph
        ``label`` and ``target``."""
        from . import _convert

        return _convert.to_networkx(self)

    def to_pyg(self) -> Any:
        """A PyTorch Geometric Data."""
        from . import _convert

        return _convert.to_pyg(self)

    def to_scipy(self) -> "scipy.sparse.csr_matrix":
        """The adjacency matrix, of ones."""
        from . import _convert

        return _convert.to_scipy(self)

    def to_graph6(self) -> str:
        """nauty's one-line format: structure alone."""
        from . import _convert

        return _convert.to_graph6(self)

    def __repr__(self) -> str:
        label = "" if self.label is None else f", label {self.label}"
        return f"Graph({_counted(self.num_nodes, 'node')}, {_counted(self.num_edges, 'edge')}{label})"

    def _repr_svg_(self) -> str:
        from . import _display

        return _display.graphs_svg([self])
