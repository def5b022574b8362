"""Networks as scikit-learn's estimators, by its protocol and without importing it."""
from __future__ import annotations

import inspect
import json
import os
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Type, TypeVar, Union

import numpy as np

from . import _library, _options
from ._convert import as_set
from ._errors import Error, InputError
from ._graphs import MISSING, GraphSet, numbers
from ._network import Network
from ._options import weights_of
from ._training import Model, Predictions, TrainResult, train

if TYPE_CHECKING:
    from numpy.typing import NDArray  # takes as long to import as the rest of this module

E = TypeVar("E", bound="_Estimator")
#: Options of training that are for the other task, or say which task it is.
NOT_OF_CLASSIFIERS = frozenset({"target", "loss", "target_columns", "no_scale_targets"})
NOT_OF_REGRESSORS = frozenset({"target", "class_weights"})
#: Options of parts of the data: an estimator trains on the graphs that it is given, but for a share to choose by.
OF_FOLDS = frozenset({"folds", "fold_scheme", "fold", "split", "test"})
#: Parameters that scikit-learn has another name for, or whose name is a word of Python's.
RENAMED = {"validation": "validation_fraction", "global": "global_term"}
Path = Union[str, "os.PathLike[str]"]


def _classes(given: Any, graphs: GraphSet) -> NDArray[Any]:
    """One class for each graph, or an error that says which has none."""
    try:
        out = np.asarray(given)
    except ValueError as error:  # lists of unequal lengths
        raise InputError(f"y: expected one class for each of {len(graphs)} graphs: {error}") from None
    if out.ndim != 1 or out.size != len(graphs):
        raise InputError(f"y: expected one class for each of {len(graphs)} graphs, found the shape {out.shape}")
    if out.dtype.kind == "O":
        kinds = {type(own) for own in out}
        if len(kinds) > 1 or type(None) in kinds:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise InputError(f"y: expected classes of one kind for all graphs, found {names}")
    if out.dtype.kind == "f" and np.isnan(out).any():
        bad = int(np.flatnonzero(np.isnan(out))[0])
        raise InputError(f"y: graph {bad} has no class: nan", bad)
    return out


def _bits(given: Any, graphs: GraphSet) -> NDArray[np.float32]:
    """A row of 0, 1 and NaN for each graph, or an error that says which has another."""
    if given is None:
        raise InputError("the graphs have no targets: give them as y")
    out = numbers(given, "y").astype(np.float32)
    if out.ndim != 2 or len(out) != len(graphs) or out.shape[1] == 0:
        raise InputError(f"y: expected a row of 0 and 1 for each of {len(graphs)} graphs, found the shape {out.shape}")
    bad = np.argwhere(~np.isnan(out) & (out != 0) & (out != 1))
    if len(bad):
        g, c = (int(place) for place in bad[0])
        raise InputError(f"y: graph {g}, column {c} is {out[g, c]}; expected 0, 1, or NaN where it is not known", g)
    return out


class NotFittedError(Error, ValueError, AttributeError):
    """fit() or load() comes first."""


class _Estimator:
    """Parameters by signature, as scikit-learn's clone, pipelines and searches expect them."""

    _estimator_type: str

    # ---- parameters

    @classmethod
    def _names(cls) -> List[str]:
        of = inspect.signature(cls.__init__).parameters.values()
        return [own.name for own in of if own.name != "self" and own.kind is not own.VAR_KEYWORD]

    def _take(self, given: Dict[str, Any]) -> None:
        """The parameters of a constructor's call, those under other names too (``learning_rate``, ``hidden``)."""
        others = given.pop("others")
        for name in self._names():
            setattr(self, name, given[name])
        for name, value in others.items():
            own = self._settled(name)
            if getattr(self, own) is not None:
                raise InputError(f"{own} is said twice, once as {name}")
            setattr(self, own, value)

    def _settled(self, name: str) -> str:
        """The parameter that a name stands for."""
        own = next(iter(_options.settled({name: None})))
        own = RENAMED.get(own, own)
        if own in self._names():
            return own
        raise _options.unknown(type(self).__name__, name, self._names())

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The parameters as they were given."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self: E, **params: Any) -> E:
        """Sets some of the parameters."""
        for name, value in params.items():
            setattr(self, self._settled(name), value)
        return self

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.get_params().items() if v is not None)
        return f"{type(self).__name__}({given})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        """For scikit-learn 1.6 and later; earlier ones look at _estimator_type."""
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        classifier = self._estimator_type == "classifier"
        return Tags(estimator_type=self._estimator_type, target_tags=TargetTags(required=False),
                    classifier_tags=ClassifierTags() if classifier else None,
                    regressor_tags=None if classifier else RegressorTags(),
                    input_tags=InputTags(two_d_array=False), non_deterministic=False)

    # ---- what is trained

    model_: Model
    result_: TrainResult

    def _options(self) -> Dict[str, Any]:
        """What training is told: the program's options."""
        out = {name: value for name, value in self.get_params().items() if name != "progress"}
        if out["validation_fraction"] is not None and not out["early_stopping"] and out["select_by"] is None:
            out["select_by"] = "loss"  # a part that is set aside chooses the epoch
        if out["early_stopping"] or out["select_by"] not in (None, "none"):
            out["fold_scheme"] = "stratified"
        return out

    def _fit(self, graphs: GraphSet, sample_weight: Any, **more: Any) -> None:
        self.result_ = train(graphs, progress=getattr(self, "progress", None), folds=1, sample_weight=sample_weight,
                             **self._options(), **more)
        self.model_ = self.result_.models[0]
        self.n_iter_ = self.model_.epoch

    def _fitted(self) -> Model:
        if not hasattr(self, "model_"):
            raise NotFittedError(f"this {type(self).__name__} is not trained yet: fit() or load() comes first")
        return self.model_

    def _said(self, X: Any, draws: int, seed: Optional[int]) -> Predictions:
        return self._fitted().predict(X, draws, seed=seed, device=getattr(self, "device", None),
                                      threads=getattr(self, "threads", None) or 0)

    def transform(self, X: Any, draws: int = 16, *, seed: Optional[int] = None) -> NDArray[np.float32]:
        """What the network makes of each graph before its last layers, the mean over ``draws``: graphs × width. So
        scikit-learn goes on from here."""
        return np.array(self._fitted().embed(X, draws=draws, seed=seed, threads=getattr(self, "threads", None) or 0))

    def fit_transform(self, X: Any, y: Any = None, draws: int = 16, **fit: Any) -> Any:
        """fit(), then transform() of the same graphs."""
        own: Any = self
        return own.fit(X, y, **fit).transform(X, draws)

    def _memo(self) -> Dict[str, str]:
        """What a file keeps beside the network."""
        given = {name: value for name, value in self.get_params().items() if value is not None}
        return {"params": _library.options(**given).decode()}

    def save(self, path: Path) -> None:
        """Writes the network as safetensors, with the parameters: what ``tyche predict --checkpoint`` and PyTorch read."""
        self._fitted()._save_with(path, self._memo())

    @classmethod
    def _of(cls: Type[E], model: Model) -> E:
        """An estimator of a model, with the parameters that it was saved with; else those that would train it again."""
        if "params" in model._memo:
            given = json.loads(model._memo["params"])
        else:
            given = {RENAMED.get(name, name): value for name, value in model._asked.items()}
        out = cls(**{name: value for name, value in given.items() if name in cls._names()})
        out.model_ = model
        out.n_iter_ = model.epoch
        return out

    def torch_state_dict(self) -> Any:
        """The parameters as PyTorch's state_dict, under the names a module of the same shape has (docs/models.md)."""
        return self._fitted().torch_state_dict()

    def _repr_html_(self) -> str:
        curves = self.result_._repr_svg_() if hasattr(self, "result_") else ""
        return f"<code>{repr(self).replace('&', '&amp;').replace('<', '&lt;')}</code>{curves}"


class GraphClassifier(_Estimator):
    """A network that classifies graphs: ``tyche train --folds 1``, to the same bits, as a scikit-learn estimator.

    Parameters are the options of ``tyche train`` by their names; None is the program's default (``tyche train --help``,
    or tyche.about()["train"]). What matters most: ``model`` (gcn, gin, gcn2, gcn3, gcn123, ppgn), ``random`` (features,
    marks, colours, …) with ``rni`` (the share of random features) or ``depth``, ``layers``, ``width``, ``epochs``,
    ``lr``, ``seed``, ``device`` (cpu, cuda, auto). ``network``: a tyche.Network, or a file of one, instead of a ``model``
    and its sizes. ``progress``: a bar (None: where somebody may look). Other common names
    are taken for them (``learning_rate``, ``hidden``, ``batch_size``, ``random_state``, …).

    ``early_stopping`` sets ``validation_fraction`` of the graphs aside (0.1; of every class its share), ends once they
    have not become better for ``patience`` epochs, and keeps the epoch that was best by ``select_by`` (their loss; or
    accuracy, f1, roc_auc, …). With ``select_by`` or ``validation_fraction`` alone all epochs are trained, and the best
    is kept.

    X is a GraphSet, a part of one, or a list of graphs in any form that tyche.as_set takes; y the classes, by default
    the labels of the graphs. A matrix y of 0 and 1 (NaN: not known) is several labels per graph: each column is learned
    by itself (the binary loss), predict() gives such a matrix, predict_proba() the chance of every 1.

    >>> import tyche
    >>> exp = tyche.datasets.exp(pairs=10)
    >>> clf = tyche.GraphClassifier(random="colours", width=16, layers=2, epochs=5, device="cpu").fit(exp)
    >>> clf.predict(exp[:2]).shape, clf.predict_proba(exp[:2], draws=16).shape
    ((2,), (2, 2))
    >>> clf.classes_
    array([0, 1], dtype=int32)
    """

    _estimator_type = "classifier"

    def __init__(self, model: Optional[str] = None, *, random: Optional[str] = None, depth: Union[int, str, None] = None,
                 rni: Optional[float] = None, rni_dist: Optional[str] = None, width: Optional[int] = None,
                 layers: Optional[int] = None, activation: Optional[str] = None, aggregation: Optional[str] = None,
                 readout: Optional[str] = None, dropout: Optional[float] = None, node_layers: Optional[int] = None,
                 pair_layers: Optional[int] = None, two_sets: Optional[str] = None, mlp_depth: Optional[int] = None,
                 norm: Optional[str] = None, residual: Optional[bool] = None, virtual_node: Optional[bool] = None,
                 embed_categories: Optional[int] = None,
                 global_term: Optional[bool] = None, roots: Union[int, str, None] = None,
                 eval_roots: Union[int, str, None] = None, distance_cut: Optional[int] = None,
                 node_readout: Optional[bool] = None,
                 network: Union[Network, Path, None] = None, no_edge_features: Optional[bool] = None,
                 no_standardise: Optional[bool] = None, counts: Optional[str] = None, recipe: Optional[str] = None,
                 epochs: Optional[int] = None, batch: Optional[int] = None,
                 accumulate: Optional[int] = None, rate_rule: Optional[str] = None,
                 lr: Optional[float] = None, start_from: Optional[Path] = None, freeze: Optional[int] = None,
                 average: Optional[int] = None, class_weights: Optional[str] = None, eval_every: Optional[int] = None,
                 eval_draws: Optional[int] = None, schedule: Optional[str] = None, warm_up: Optional[int] = None,
                 plateau_factor: Optional[float] = None, plateau_patience: Optional[int] = None,
                 weight_decay: Optional[float] = None, clip_norm: Optional[float] = None, beta2: Optional[float] = None,
                 adam_epsilon: Optional[float] = None, seed: Optional[int] = None, repeat: Optional[int] = None,
                 device: Optional[str] = None, engine: Optional[str] = None, engine_path: Optional[str] = None,
                 precision: Optional[str] = None, no_compress: Optional[bool] = None, cache: Optional[str] = None,
                 threads: Optional[int] = None,
                 early_stopping: Optional[bool] = None, validation_fraction: Optional[float] = None,
                 patience: Optional[int] = None, select_by: Optional[str] = None,
                 progress: Optional[bool] = None, **others: Any) -> None:
        self._take(dict(locals()))

    class_weights: Optional[str]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "GraphClassifier":
        """Trains. Afterwards: ``classes_``, ``model_`` (a tyche.Model) and ``result_`` (its curves).

        ``sample_weight``: how many graphs each counts as in the loss, times its class's weight where there is one.
        """
        graphs = as_set(X)
        self.classes_: Any
        if y is not None and np.ndim(y) == 2:
            wanted = _bits(y, graphs)
            self.classes_ = [np.array([0, 1])] * wanted.shape[1]
            self._fit(graphs.with_labels(None).with_targets(wanted), sample_weight, loss="binary")
            return self
        if y is None and graphs.labels is None:
            raise InputError("the graphs have no labels: give them as y")
        given = _classes(graphs.labels if y is None else y, graphs)
        self.classes_, numbers = np.unique(given, return_inverse=True)
        # Whole numbers are labels as they are, so that files say what the program's would.
        whole = given.dtype.kind in "iub" and np.all(np.abs(self.classes_.astype(np.int64)) < 2**31)
        labels = given.astype(np.int32) if whole else numbers.astype(np.int32)
        if graphs.labels is None or not np.array_equal(graphs.labels, labels):
            graphs = graphs.with_labels(labels)
        self._fit(graphs, sample_weight)
        return self

    def predict_proba(self, X: Any, draws: int = 16, *, seed: Optional[int] = None) -> NDArray[np.float64]:
        """The probability of every class, averaged over ``draws`` of the random inputs: graphs × classes.

        ``predict(X, draws=16)`` is the most probable class of these.
        """
        said = self._said(X, draws, seed)
        return np.array(said.probabilities if self.model_.labels else said.values, dtype=np.float64)

    def predict(self, X: Any, draws: int = 1, *, seed: Optional[int] = None) -> NDArray[Any]:
        """The most probable class of every graph, as ``tyche predict --draws`` says it: of one draw, where nobody asks
        for more."""
        said = self._said(X, draws, seed)
        if not self.model_.labels:
            return (np.asarray(said.values) >= 0.5).astype(np.int64)
        places = np.searchsorted(np.asarray(self.model_.labels), np.asarray(said.labels))
        return np.asarray(self.classes_[places])

    def score(self, X: Any, y: Any = None, draws: int = 1, *, sample_weight: Any = None) -> float:
        """The share of graphs (or of their weights) whose class is right; y by default the labels of the graphs. Of several
        labels per graph those count where all that are known are right, as in scikit-learn; y by default the targets."""
        model = self._fitted()
        graphs = as_set(X)
        if not model.labels:
            wanted = _bits(graphs.targets if y is None else y, graphs)
            right = ((self.predict(graphs, draws) == wanted) | np.isnan(wanted)).all(axis=1)
            weights = None if sample_weight is None else weights_of(sample_weight, len(graphs))
            return float(np.average(right, weights=weights))
        if y is None and graphs.labels is None:
            raise InputError("the graphs have no labels: give them as y")
        truth = _classes(graphs.labels if y is None else y, graphs)
        if len(graphs) == 0:
            raise InputError("there are no graphs to score")
        weights = None if sample_weight is None else weights_of(sample_weight, len(graphs))
        return float(np.average(self.predict(graphs, draws) == truth, weights=weights))

    def _memo(self) -> Dict[str, str]:
        out = super()._memo()
        if self.model_.labels and self.classes_.tolist() != self.model_.labels:
            out["classes"] = json.dumps(self.classes_.tolist())
        return out

    @classmethod
    def load(cls: Type["GraphClassifier"], path: Path) -> "GraphClassifier":
        """A trained classifier from what save() or ``tyche train`` wrote."""
        model = Model.load(path)
        bits = not model.labels and model.config["training"]["loss"] == "binary"
        if not model.labels and not bits:
            raise InputError(f"{path}: a model of real targets; GraphRegressor loads it")
        out = cls._of(model)
        if bits:
            out.classes_ = [np.array([0, 1])] * int(model.config["model"]["classes"])
            return out
        classes = model._memo.get("classes")
        out.classes_ = np.asarray(json.loads(classes)) if classes else np.asarray(model.labels, np.int32)
        return out


class GraphRegressor(_Estimator):
    """A network that predicts real numbers of graphs: ``tyche train --target attributes --folds 1``, to the same bits.

    Parameters as of GraphClassifier, with ``loss`` (squared, absolute, huber) instead of ``class_weights``. y: one number
    per graph or a row of them (NaN: missing), by default the targets of the graphs; ``target_columns`` ([0, 3]) says
    which of its columns are learned.

    >>> import numpy, tyche
    >>> exp = tyche.datasets.exp(pairs=5)
    >>> sizes = numpy.diff(exp.ptr.astype(float))
    >>> reg = tyche.GraphRegressor(width=8, layers=2, epochs=3, device="cpu").fit(exp, sizes)
    >>> reg.predict(exp[:2]).shape
    (2,)
    """

    _estimator_type = "regressor"

    def __init__(self, model: Optional[str] = None, *, random: Optional[str] = None, depth: Union[int, str, None] = None,
                 rni: Optional[float] = None, rni_dist: Optional[str] = None, width: Optional[int] = None,
                 layers: Optional[int] = None, activation: Optional[str] = None, aggregation: Optional[str] = None,
                 readout: Optional[str] = None, dropout: Optional[float] = None, node_layers: Optional[int] = None,
                 pair_layers: Optional[int] = None, two_sets: Optional[str] = None, mlp_depth: Optional[int] = None,
                 norm: Optional[str] = None, residual: Optional[bool] = None, virtual_node: Optional[bool] = None,
                 embed_categories: Optional[int] = None,
                 global_term: Optional[bool] = None, roots: Union[int, str, None] = None,
                 eval_roots: Union[int, str, None] = None, distance_cut: Optional[int] = None,
                 node_readout: Optional[bool] = None,
                 network: Union[Network, Path, None] = None, no_edge_features: Optional[bool] = None,
                 no_standardise: Optional[bool] = None, counts: Optional[str] = None,
                 target_columns: Union[str, int, Sequence[int], None] = None, no_scale_targets: Optional[bool] = None,
                 recipe: Optional[str] = None,
                 epochs: Optional[int] = None, batch: Optional[int] = None,
                 accumulate: Optional[int] = None, rate_rule: Optional[str] = None,
                 lr: Optional[float] = None, start_from: Optional[Path] = None, freeze: Optional[int] = None,
                 average: Optional[int] = None, loss: Optional[str] = None, eval_every: Optional[int] = None,
                 eval_draws: Optional[int] = None, schedule: Optional[str] = None, warm_up: Optional[int] = None,
                 plateau_factor: Optional[float] = None, plateau_patience: Optional[int] = None,
                 weight_decay: Optional[float] = None, clip_norm: Optional[float] = None, beta2: Optional[float] = None,
                 adam_epsilon: Optional[float] = None, seed: Optional[int] = None, repeat: Optional[int] = None,
                 device: Optional[str] = None, engine: Optional[str] = None, engine_path: Optional[str] = None,
                 precision: Optional[str] = None,
                 no_compress: Optional[bool] = None, cache: Optional[str] = None, threads: Optional[int] = None,
                 early_stopping: Optional[bool] = None, validation_fraction: Optional[float] = None,
                 patience: Optional[int] = None, select_by: Optional[str] = None,
                 progress: Optional[bool] = None, **others: Any) -> None:
        self._take(dict(locals()))

    loss: Optional[str]

    def _options(self) -> Dict[str, Any]:
        return {**super()._options(), "target": "attributes"}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "GraphRegressor":
        """Trains. Afterwards: ``model_`` (a tyche.Model) and ``result_`` (its curves).

        ``sample_weight``: how many graphs each counts as in the loss.
        """
        graphs = as_set(X)
        if y is None and graphs.targets is None:
            raise InputError("the graphs have no real targets: give them as y")
        self._fit(graphs if y is None else graphs.with_targets(y), sample_weight)
        self.n_targets_ = self.model_.config["model"]["classes"]
        return self

    def _learned(self, truth: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of all columns of targets those that are learned."""
        columns = self._fitted().config["data"]["target_columns"]
        if not columns or truth.ndim != 2 or truth.shape[1] == self.n_targets_:
            return truth
        return truth[:, [int(column) for column in columns.split(",")]]

    def predict(self, X: Any, draws: Optional[int] = None, *, seed: Optional[int] = None, return_std: bool = False) -> Any:
        """The numbers of every graph, averaged over ``draws``: one per graph, or graphs × targets.

        One draw where nobody asks for more. ``return_std``: also their deviations over the draws, in the targets' unit,
        of 16 draws where nobody says how many; all 0 where nothing about the network is random.
        """
        if return_std and draws == 1:
            raise InputError("return_std: one draw has no spread; expected 2 draws or more")
        said = self._said(X, draws if draws is not None else 16 if return_std else 1, seed)
        both = [np.array(own, dtype=np.float64) for own in (said.values, said.deviations)]
        values, spread = [own[:, 0] if own.shape[1] == 1 else own for own in both]
        return (values, spread) if return_std else values

    def score(self, X: Any, y: Any = None, draws: int = 1, *, sample_weight: Any = None) -> float:
        """R², averaged over targets where there are several; y by default the targets of the graphs."""
        self._fitted()
        graphs = as_set(X)
        if y is None and graphs.targets is None:
            raise InputError("the graphs have no real targets: give them as y")
        truth = self._learned(numbers(graphs.targets if y is None else y, "y").astype(np.float64))
        if truth.ndim not in (1, 2) or len(truth) != len(graphs) or truth.size != len(graphs) * self.n_targets_:
            raise InputError(f"y: expected a row of {self.n_targets_} for each of {len(graphs)} graphs, found the shape "
                             f"{truth.shape}")
        if len(graphs) == 0:
            raise InputError("there are no graphs to score")
        truth = truth.reshape(len(graphs), -1)
        error = self.predict(graphs, draws).reshape(truth.shape) - truth
        weights = np.ones(len(graphs)) if sample_weight is None else weights_of(sample_weight, len(graphs)).astype(float)
        there = np.where(np.isnan(truth), 0, weights[:, None])
        spread = truth - np.nansum(there * truth, axis=0) / there.sum(axis=0)
        return float(np.mean(1 - np.nansum(there * error**2, axis=0) / np.nansum(there * spread**2, axis=0)))

    @classmethod
    def load(cls: Type["GraphRegressor"], path: Path) -> "GraphRegressor":
        """A trained regressor from what save() or ``tyche train`` wrote."""
        model = Model.load(path)
        if model.labels:
            raise InputError(f"{path}: a model of labels; GraphClassifier loads it")
        out = cls._of(model)
        out.n_targets_ = model.config["model"]["classes"]
        return out


def _of_nodes(y: Any, graphs: GraphSet, what: str) -> NDArray[Any]:
    """Rows of all nodes one after another, out of an array per graph (or one, of one graph)."""
    lists = list(y) if len(graphs) != 1 or (isinstance(y, (list, tuple)) and len(y) == 1 and np.ndim(y[0]) > 0) else [y]
    if len(lists) != len(graphs):
        raise InputError(f"{what}: expected an array for each of {len(graphs)} graphs, found {len(lists)}")
    for g, (own, nodes) in enumerate(zip(lists, np.diff(graphs.ptr.astype(np.int64)))):
        if len(own) != nodes:
            raise InputError(f"{what}: expected one for each of {nodes} nodes of graph {g}, found {len(own)}", g)
    return np.concatenate([np.asarray(own) for own in lists]) if lists else np.empty(0)


class _OfNodes:
    """What NodeClassifier and NodeRegressor share."""

    def _masked(self, graphs: GraphSet, mask: Any) -> NDArray[np.bool_]:
        """The nodes to train on: those of ``mask``, else those that the graphs' own masks say, else all."""
        if mask is not None:
            return _of_nodes(mask, graphs, "mask").astype(bool)
        return np.ones(graphs.num_nodes, bool) if graphs.node_parts is None else np.asarray(graphs.node_parts[0] == 1)

    def _by_graph(self, X: Any, rows: NDArray[Any]) -> Any:
        graphs = as_set(X)
        if len(graphs) == 1:
            return rows
        return np.split(rows, graphs.ptr[1:-1].astype(np.int64))

    def transform(self, X: Any, draws: int = 16, *, seed: Optional[int] = None) -> Any:
        """What the network makes of each node before its last layers, the mean over ``draws``: nodes × width, of each
        graph."""
        own: Any = self
        rows = own._fitted().embed(X, of="nodes", draws=draws, seed=seed, threads=getattr(self, "threads", None) or 0)
        return self._by_graph(X, np.array(rows))


class NodeClassifier(_OfNodes, GraphClassifier):
    """A network that classifies the nodes of graphs: ``tyche train --target node-labels --folds 1``.

    Parameters as of GraphClassifier; ``readout`` is of no use. X is one graph or a set of them; y an array of classes per
    graph (one array for one graph), by default the node labels of the graphs. Answers come in the same form.

    >>> import numpy, tyche
    >>> paths = [tyche.from_edges(4, [[0, 1], [1, 2], [2, 3]]), tyche.from_edges(3, [[0, 1], [1, 2]])]
    >>> clf = tyche.NodeClassifier("gin", width=16, layers=2, epochs=100, lr=0.01, device="cpu")
    >>> clf.fit(paths, [[1, 0, 0, 1], [1, 0, 1]]).predict(paths[0]).tolist()
    [1, 0, 0, 1]
    """

    def _options(self) -> Dict[str, Any]:
        return {**super()._options(), "target": "node-labels"}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, mask: Any = None) -> "NodeClassifier":
        """Trains on the nodes of ``mask`` (an array of truth values, of the form of y; by default the graphs' train_mask
        where they have one, else all); negative classes, and MISSING, are of nodes that have none.

        ``sample_weight``: how many graphs each counts as in the loss.
        """
        graphs = as_set(X)
        if y is None and graphs.node_labels is None:
            raise InputError("the nodes have no labels: give them as y")
        given = np.asarray(graphs.node_labels if y is None else _of_nodes(y, graphs, "y"))
        counts = self._masked(graphs, mask)
        if given.dtype.kind in "if":
            counts = counts & (np.nan_to_num(given, nan=-1) >= 0)
        self.classes_, numbers_ = np.unique(given[counts], return_inverse=True)
        labels = np.full(graphs.num_nodes, MISSING, np.int64)
        whole = given.dtype.kind in "iub"
        labels[counts] = given[counts] if whole else numbers_
        self._fit(graphs.with_node_values(labels), sample_weight)
        return self

    def predict_proba(self, X: Any, draws: int = 16, *, seed: Optional[int] = None) -> Any:
        """The probability of every class, nodes × classes, of each graph."""
        return self._by_graph(X, super().predict_proba(X, draws, seed=seed))

    def predict(self, X: Any, draws: int = 1, *, seed: Optional[int] = None) -> Any:
        """The most probable class of every node, an array of each graph."""
        return self._by_graph(X, super().predict(X, draws, seed=seed))

    def score(self, X: Any, y: Any = None, draws: int = 1, *, sample_weight: Any = None, mask: Any = None) -> float:
        """The share of nodes whose class is right, of those in ``mask`` (by default the graphs' test_mask where they have
        one, else all) that have a class."""
        if sample_weight is not None:
            raise InputError("sample_weight: nodes are scored alike")
        graphs = as_set(X)
        if y is None and graphs.node_labels is None:
            raise InputError("the nodes have no labels: give them as y")
        truth = np.asarray(graphs.node_labels if y is None else _of_nodes(y, graphs, "y"))
        counts = np.ones(len(truth), bool) if mask is None else _of_nodes(mask, graphs, "mask").astype(bool)
        if mask is None and graphs.node_parts is not None:
            counts = np.asarray(graphs.node_parts[0] == 3)
        if truth.dtype.kind in "if":
            counts = counts & (np.nan_to_num(truth, nan=-1) >= 0)
        said = np.asarray(GraphClassifier.predict(self, graphs, draws))
        return float(np.mean(said[counts] == truth[counts]))


class NodeRegressor(_OfNodes, GraphRegressor):
    """A network that predicts real numbers of nodes: ``tyche train --target node-targets --folds 1``.

    Parameters as of GraphRegressor. X is one graph or a set of them; y an array of numbers, or of rows of them, per graph
    (NaN: missing), by default the node targets of the graphs. Answers come in the same form.
    """

    def _options(self) -> Dict[str, Any]:
        return {**super()._options(), "target": "node-targets"}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, mask: Any = None) -> "NodeRegressor":
        """Trains on the nodes of ``mask``, as NodeClassifier does."""
        graphs = as_set(X)
        if y is None and graphs.node_targets is None:
            raise InputError("the nodes have no real targets: give them as y")
        rows = graphs.node_targets if y is None else numbers(_of_nodes(y, graphs, "y"), "y")
        given = np.array(rows, np.float32).reshape(graphs.num_nodes, -1)
        given[~self._masked(graphs, mask)] = np.nan
        self._fit(graphs.with_node_values(targets=given), sample_weight)
        self.n_targets_ = self.model_.config["model"]["classes"]
        return self

    def predict(self, X: Any, draws: Optional[int] = None, *, seed: Optional[int] = None, return_std: bool = False) -> Any:
        """The numbers of every node, an array of each graph; ``return_std``: also their deviations over the draws."""
        said = super().predict(X, draws, seed=seed, return_std=return_std)
        return tuple(self._by_graph(X, own) for own in said) if return_std else self._by_graph(X, said)

    def score(self, X: Any, y: Any = None, draws: int = 1, *, sample_weight: Any = None) -> float:
        """R² over all nodes that have targets, averaged over targets; y by default the node targets of the graphs."""
        if sample_weight is not None:
            raise InputError("sample_weight: nodes are scored alike")
        graphs = as_set(X)
        if y is None and graphs.node_targets is None:
            raise InputError("the nodes have no real targets: give them as y")
        rows = graphs.node_targets if y is None else numbers(_of_nodes(y, graphs, "y"), "y")
        truth = self._learned(np.array(rows, np.float64).reshape(graphs.num_nodes, -1))
        error = np.asarray(GraphRegressor.predict(self, graphs, draws)).reshape(truth.shape) - truth
        spread = truth - np.nanmean(truth, axis=0)
        return float(np.mean(1 - np.nansum(error**2, axis=0) / np.nansum(np.where(np.isnan(truth), np.nan, spread)**2, axis=0)))
