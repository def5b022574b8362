"""Networks: training as ``tyche train`` does it, models, predictions."""
from __future__ import annotations

import json
import os
import pathlib
import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _library, _options
from ._convert import as_set
from ._errors import InputError
from ._progress import Bar

if TYPE_CHECKING:
    from numpy.typing import NDArray  # takes as long to import as the rest of this module

Path = Union[str, "os.PathLike[str]"]


class Predictions(NamedTuple):
    """What a network says of graphs, averaged over draws. Arrays are the library's; those of another task are None."""

    labels: Optional[NDArray[np.int32]] = None
    probabilities: Optional[NDArray[np.float64]] = None  #: graphs × classes
    deviations: Optional[NDArray[np.float64]] = None  #: of the probabilities, or values, over draws
    logits: Optional[NDArray[np.float32]] = None
    accuracy: Optional[float] = None  #: of graphs that training did not see, where there are any (and labels)
    values: Optional[NDArray[np.float64]] = None  #: of real targets: graphs × targets, in their unit
    #: Scores by the part of training that graphs were in: {"test": {"graphs": 60, "accuracy": 0.5}, "train": …, "new": …}
    parts: Optional[Dict[str, Dict[str, Any]]] = None


class Model:
    """A trained network; a checkpoint of ``tyche train``.

    ``config`` is the whole configuration, ``labels`` what the classes are called, ``epoch`` how long it was trained.
    """

    def __init__(self, handle: _library.Handle) -> None:
        self._handle = handle
        said = handle.info()
        self.config: Dict[str, Any] = said["config"]
        self.labels: List[int] = said["labels"]
        self.epoch: int = said["epoch"]
        self.fold: int = said["fold"]
        self._layout: List[Dict[str, Any]] = said["layout"]
        self._asked: Dict[str, Any] = said["options"]  # of training, that would ask for it
        self._memo: Dict[str, str] = said["memo"]  # what whoever saved it wrote beside it

    @classmethod
    def load(cls, path: Path) -> "Model":
        """A checkpoint: what save() wrote, or ``last.safetensors`` of a run of the program."""
        return cls(_library.handle("tyche_model_read", _library.path_bytes(path)))

    def save(self, path: Path) -> None:
        """Writes a safetensors file, with everything that training needs to go on."""
        self._save_with(path, self._memo)

    def _save_with(self, path: Path, memo: Dict[str, str]) -> None:
        _library.call("tyche_model_write_with", self._handle, _library.path_bytes(path), json.dumps(memo).encode())

    def predict(self, graphs: Any, draws: int = 1, *, seed: Optional[int] = None, device: Optional[str] = None,
                threads: int = 0) -> Predictions:
        """As ``tyche predict``: the mean over ``draws`` of the random inputs."""
        how = _library.options(draws=draws, seed=seed, device=device, threads=threads)
        answer = _library.handle("tyche_predict", self._handle, as_set(graphs)._handle, how, stoppable=True)
        for line in answer.info().get("warnings", []):
            warnings.warn(line, stacklevel=2)
        if not self.labels:
            return Predictions(values=answer.array("values"), deviations=answer.array("deviations"),
                               parts=answer.info()["parts"])
        return Predictions(answer.array("labels"), answer.array("probabilities"), answer.array("deviations"),
                           answer.array("logits"), answer.info().get("accuracy"), parts=answer.info()["parts"])

    def embed(self, graphs: Any, of: str = "graphs", *, draws: int = 1, seed: Optional[int] = None,
              threads: int = 0) -> NDArray[np.float32]:
        """What the network makes of graphs (its readout), or of the nodes of all graphs in order (its last layer), the
        mean over ``draws``: rows × width."""
        how = _library.options(of=of, draws=draws, seed=seed, threads=threads)
        return _library.handle("tyche_embed", self._handle, as_set(graphs)._handle, how, stoppable=True).array("values")

    def explain(self, graphs: Any, graph: int = 0, *, output: Optional[int] = None, draws: int = 16,
                seed: Optional[int] = None, device: Optional[str] = None, threads: int = 0) -> Dict[str, Any]:
        """Which nodes and edges of a graph of ``graphs`` the answer hangs on: what ``tyche explain --json`` says."""
        how = _library.options(output=output, draws=draws, seed=seed, device=device, threads=threads)
        said: Dict[str, Any] = _library.handle("tyche_explain", self._handle, as_set(graphs)._handle, graph, how,
                                               stoppable=True).info()
        return said

    def state_dict(self) -> "OrderedDict[str, NDArray[np.float32]]":
        """The parameters by the names of PyTorch's state_dict: read-only views of the library's memory."""
        flat = self._handle.array("parameters")
        out: "OrderedDict[str, NDArray[np.float32]]" = OrderedDict()
        for tensor in self._layout:
            size = int(np.prod(tensor["shape"], dtype=np.int64))
            out[tensor["name"]] = flat[tensor["offset"]:tensor["offset"] + size].reshape(tensor["shape"])
        return out

    def torch_state_dict(self) -> "OrderedDict[str, Any]":
        """The same as tensors of PyTorch's, copied."""
        import torch

        return OrderedDict((name, torch.from_numpy(np.array(value))) for name, value in self.state_dict().items())

    def __repr__(self) -> str:
        model = self.config["model"]
        size = sum(value.size for value in self.state_dict().values())
        shape = "" if model["kind"] == "network" else f", {model['layers']} layers of {model['width']}"
        return f"Model({model['kind']}{shape}, {size} parameters, epoch {self.epoch})"

    def __reduce__(self) -> Tuple[Any, ...]:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.safetensors"
            self.save(path)
            return (_model_of_bytes, (path.read_bytes(),))


def _model_of_bytes(content: bytes) -> Model:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.safetensors"
        path.write_bytes(content)
        return Model.load(path)


class TrainResult:
    """What training gave: curves, a summary, networks. In a notebook it shows its curves.

    ``folds`` has for each fold its number and the epochs as dicts; ``history`` is the epochs of the only fold (or the
    first); ``summary`` is summary.json of the program; ``stopped`` says whether a callback ended it early.
    """

    def __init__(self, said: Dict[str, Any], models: List[Model]) -> None:
        self.summary: Dict[str, Any] = said["summary"]
        self.config: Dict[str, Any] = said["config"]
        self.description: str = said["description"]
        self.engine: str = said["engine"]
        self.chosen: str = said["chosen"]  #: what the recipe chose by what the data is, and why
        self.warnings: List[str] = said["warnings"] + said["notes"]
        self.folds: List[Dict[str, Any]] = said["folds"]
        self.stopped: bool = said["stopped"]
        self.models = models

    @property
    def history(self) -> List[Dict[str, Any]]:
        """Of the first fold: one dict per epoch."""
        return list(self.folds[0]["epochs"]) if self.folds else []

    def curve(self, name: str) -> NDArray[np.float64]:
        """A measurement per fold and epoch ("train_loss", "test_accuracy"): folds × epochs, NaN where there is none."""
        longest = max((len(fold["epochs"]) for fold in self.folds), default=0)
        out = np.full((len(self.folds), longest), np.nan)
        for row, fold in zip(out, self.folds):
            for at, epoch in enumerate(fold["epochs"]):
                row[at] = np.nan if epoch.get(name) is None else epoch[name]
        return out

    def __repr__(self) -> str:
        # What summary.json and the table of the program say: of the epochs that stand for the folds.
        many = len(self.folds) > 1
        words = []
        for name in ("accuracy", "mae", "r2"):
            for part in ("test", "train"):  # of one fold of all graphs there are scores of training graphs alone
                mean, std = (self.summary.get(f"{part}_{name}_{what}") for what in ("mean", "std"))
                if mean is None:
                    continue
                share = name == "accuracy"
                shown = [f"{100 * value:.2f}" if share else f"{value:.4g}" for value in ([mean, std] if many else [mean])]
                words.append(f"{part} {name} {' ± '.join(shown)}{' %' if share else ''}")
        folds = f"{len(self.folds)} folds, " if many else ""
        return f"TrainResult({folds}{len(self.history)} epochs: {', '.join(words) or 'not tested'})"

    def _repr_svg_(self) -> str:
        from . import _display

        return _display.curves_svg(self)


def train(graphs: Any, *, folder: Optional[Path] = None, on_epoch: Optional[Callable[[Dict[str, Any]], Any]] = None,
          progress: Optional[bool] = None, **options: Any) -> TrainResult:
    """``tyche train``: cross-validation of one model on labelled graphs, by the program's options.

    Options are named as the program's (``rni=0.5, epochs=100, fold=0, eval_every=5``); tyche.about()["train"] lists
    them. ``split`` is a file, or says the folds itself: a dict {"train": …, "validation": …, "test": …} of numbers of
    graphs or masks, a tuple (train, test) or (train, validation, test), a list of either (what scikit-learn's splitters
    give), or the fold that tests each graph as one array. ``sample_weight``: how many graphs each counts as in the
    loss. ``folder``: the run is kept there, as the program keeps it. ``on_epoch`` is given every epoch as a dict, and
    ends the training where it returns True. ``progress``: a bar (None: where somebody may look).

    >>> import tyche
    >>> result = tyche.train(tyche.datasets.exp(pairs=10), folds=2, epochs=3, width=8, layers=2, rni=0.5, device="cpu")
    >>> result.curve("train_loss").shape
    (2, 3)
    """
    own = as_set(graphs)
    options = _options.settled(options)
    options["split"] = _options.split_of(options.get("split"), len(own))
    if options.get("sample_weight") is not None:
        options["sample_weight"] = _options.weights_of(options["sample_weight"], len(own))
    folds = len(options["split"]) if isinstance(options["split"], list) else int(options.get("folds") or 10)
    failure: List[BaseException] = []
    stop: List[bool] = []
    bar: List[Bar] = []

    def heard(_user: Any, line: bytes) -> int:
        try:
            epoch = json.loads(line.decode())
            if not bar:
                bar.append(Bar(epoch["epochs"] * (folds if options.get("fold") is None else 1), "epoch", progress))
            bar[0].add(f"loss {epoch['train_loss']:.4f}" if epoch["train_loss"] is not None else "diverged")
            if on_epoch is not None and on_epoch(epoch):
                return 1
        except BaseException as error:  # noqa: B036 - cannot pass through the library
            failure.append(error)
            return 1
        return 1 if stop else 0

    callback = _library.EPOCH(heard)
    where = None if folder is None else _library.path_bytes(folder)
    try:
        trained = _library.handle("tyche_train", own._handle, _library.options(**options), where, callback, None,
                                  stoppable=True, stop=lambda: stop.append(True))
    finally:
        for shown in bar:
            shown.close()
    if failure:
        raise failure[0]
    said = trained.info()
    models = [Model(_library.handle("tyche_trained_model", trained, i)) for i in range(len(said["folds"]))]
    return TrainResult(said, models)


def export(run: Union[Path, Model], fold: Optional[int] = None, out: Optional[Path] = None, *,
           checkpoint: Optional[str] = None) -> pathlib.Path:
    """``tyche export``: a trained network as plain PyTorch in the new folder ``out``: model.py with a class
    Network(torch.nn.Module), weights.safetensors, README.md. ``run`` is a run's folder, a checkpoint's file, or a Model.

    >>> import tempfile, tyche
    >>> result = tyche.train(tyche.datasets.exp(pairs=5), folds=1, epochs=1, width=4, layers=1, device="cpu")
    >>> folder = tyche.export(result.models[0], out=tempfile.mkdtemp() + "/net")
    >>> sorted(path.name for path in folder.iterdir())
    ['README.md', 'model.py', 'weights.safetensors']
    """
    import tempfile

    if out is None:
        raise InputError("out: expected a new folder for the network")
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(run, Model):
            path: Path = pathlib.Path(folder) / "model.safetensors"
            run.save(path)
        else:
            path = run
        _library.call("tyche_export", _library.path_bytes(path), _library.options(fold=fold, checkpoint=checkpoint),
                      _library.path_bytes(out))
    return pathlib.Path(out)
