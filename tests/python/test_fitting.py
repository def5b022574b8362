"""What fit is told beside the graphs: weights, a part to choose by, splits; what comes back from a file."""
import inspect
import json
import os
import subprocess

import numpy as np
import pytest

import tyche

SMALL = dict(width=8, layers=2, epochs=3, seed=4, device="cpu", lr=1e-2)


@pytest.fixture(scope="module")
def sizes(exp):
    return np.diff(exp.ptr.astype(float))


def parameters(estimator):
    return {name: np.array(value) for name, value in estimator.model_.state_dict().items()}


def same(a, b):
    a, b = parameters(a), parameters(b)
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


# ---- from a file

#: A value for each parameter that is not its default, and what must be said with it.
OTHER = {
    "model": ("gin", {}), "random": ("marks", {}), "depth": (2, dict(random="marks")), "rni": (0.25, {}),
    "rni_dist": ("uniform", dict(rni=0.5)), "width": (6, {}), "layers": (1, {}), "activation": ("tanh", {}),
    "aggregation": ("sum", {}), "readout": ("mean", {}), "dropout": (0.125, {}),
    "node_layers": (2, dict(model="gcn123")), "pair_layers": (1, dict(model="gcn123")),
    "two_sets": ("all", dict(model="gcn123")), "mlp_depth": (1, dict(model="ppgn")),
    "norm": ("batch", {}), "residual": (True, {}), "virtual_node": (True, {}), "embed_categories": (3, {}), "global_term": (True, dict(model="local2")),
    "roots": (2, dict(model="subgraph")), "eval_roots": (3, dict(model="subgraph")),
    "distance_cut": (3, dict(model="folklore2")), "node_readout": (True, dict(model="ppgn")),
    "node_readout": (True, dict(model="ppgn")), "norm": ("batch", {}), "residual": (True, dict(layers=2)),
    "virtual_node": (True, dict(layers=2)), "embed_categories": (3, {}), "roots": (2, dict(model="subgraph")), "eval_roots": (2, dict(model="subgraph")),
    "global": (True, dict(model="local2")), "distance_cut": (1, dict(model="subgraph")), "no_edge_features": (True, {}),
    "epochs": (2, {}), "batch": (7, {}), "accumulate": (2, {}), "rate_rule": ("linear", dict(accumulate=2)),
    "lr": (3e-3, {}), "class_weights": ("balanced", {}), "loss": ("huber", {}),
    "eval_every": (2, {}), "eval_draws": (2, dict(rni=0.5)), "schedule": ("cosine", {}), "warm_up": (1, {}),
    "plateau_factor": (0.5, dict(schedule="plateau")), "plateau_patience": (1, dict(schedule="plateau")),
    "weight_decay": (0.01, {}), "clip_norm": (0.5, {}), "beta2": (0.9, {}), "adam_epsilon": (1e-6, {}), "seed": (9, {}),
    "repeat": (1, {}), "freeze": (1, {}), "average": (1, {}), "device": ("cpu", {}),
    "engine": ("reference", dict(device=None)),
    "engine_path": ("auto", {}), "precision": ("mixed", {}), "no_compress": (True, dict(model="gcn2")),
    "cache": ("", dict(model="gcn2")), "threads": (1, {}), "validation_fraction": (0.5, {}),
    "early_stopping": (True, dict(validation_fraction=0.5)), "select_by": ("loss", dict(validation_fraction=0.5)),
    "patience": (2, dict(early_stopping=True, validation_fraction=0.5)),
    "progress": (False, {}), "recipe": ("own", {}), "no_standardise": (True, dict(recipe="own")),
    "counts": ("cycle3,path3", {}), "target_columns": ("0", {}), "no_scale_targets": (True, {}),
}


def a_network():
    net = tyche.Network()
    net.linear(net.readout(net.linear(net.input(), 4), "mean"), "classes")
    return net


TINY = dict(width=4, layers=1, epochs=1, seed=4, device="cpu", batch=6)


@pytest.mark.parametrize("kind", [tyche.GraphClassifier, tyche.GraphRegressor])
def test_every_parameter_comes_back_from_a_file(kind, tmp_path):
    from sklearn.base import clone

    exp = tyche.datasets.exp(pairs=6, seed=3)
    y = exp.labels if kind is tyche.GraphClassifier else np.diff(exp.ptr.astype(float))
    names = [own.name for own in inspect.signature(kind.__init__).parameters.values()
             if own.name != "self" and own.kind is not own.VAR_KEYWORD]
    kind(**TINY).fit(exp, y).save(tmp_path / "start.safetensors")
    known = {**OTHER, "start_from": (str(tmp_path / "start.safetensors"), {}),
             "cache": (str(tmp_path / "cache"), dict(model="gcn2")),
             "network": (a_network(), dict(width=None, layers=None))}
    for name in names:
        assert name in known, f"{name}: say here what else it can be"
        value, needed = known[name]
        params = {**TINY, **needed, name: value}
        if name in ("no_compress", "cache", "node_layers", "pair_layers", "two_sets", "mlp_depth"):
            params["width"] = 2
        own = kind(**params).fit(exp, y)
        assert getattr(own, name) == value
        own.save(tmp_path / "a.safetensors")
        loaded = kind.load(tmp_path / "a.safetensors")
        assert loaded.get_params() == own.get_params(), name
        if name in ("dropout", "network", "schedule", "beta2", "early_stopping", "weight_decay"):
            assert same(clone(loaded).fit(exp, y), own), name


@pytest.mark.parametrize("how", [dict(), dict(model="gin", dropout=0.25, no_edge_features=True),
                                 dict(schedule="cosine", warm_up=1, weight_decay=0.1, clip_norm=0.5, beta2=0.9, rni=0.5),
                                 dict(random="colours", activation="relu", schedule="plateau", plateau_factor=0.5)])
def test_a_clone_of_what_the_program_trained_trains_the_same_bits(how, program, exp, sizes, tmp_path):
    from sklearn.base import clone

    graphs = exp.with_labels(None).with_targets(sizes)
    graphs.write(tmp_path / "data", "tu")
    words = []
    for name, value in {**SMALL, **how}.items():
        words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [value])
    program("train", "--data", tmp_path / "data", "--folds", 1, "--target", "attributes", "--out", tmp_path / "run", *words)
    theirs = tyche.GraphRegressor.load(tmp_path / "run/fold-0/last.safetensors")
    again = clone(theirs).fit(tyche.datasets.read(tmp_path / "data"))
    assert same(again, theirs)
    for name, value in how.items():
        assert theirs.get_params()[name] == value


def test_a_file_keeps_words_for_classes_and_its_seal(exp, tmp_path):
    words = np.where(exp.labels == 1, "sat", "unsat")
    tyche.GraphClassifier(dropout=0.25, **SMALL).fit(exp, words).save(tmp_path / "a.safetensors")
    again = tyche.GraphClassifier.load(tmp_path / "a.safetensors")
    assert again.classes_.tolist() == ["sat", "unsat"] and again.dropout == 0.25
    content = bytearray((tmp_path / "a.safetensors").read_bytes())
    content[-5] ^= 1
    (tmp_path / "b.safetensors").write_bytes(content)
    with pytest.raises(tyche.InputError, match="b.safetensors"):
        tyche.GraphClassifier.load(tmp_path / "b.safetensors")


def test_columns_of_targets_are_chosen_and_scored(exp, sizes):
    rows = np.stack([sizes, 2 * sizes, -sizes], axis=1)
    graphs = exp.with_labels(None).with_targets(rows)
    own = tyche.GraphRegressor(target_columns=[2, 0], counts="cycle4", **SMALL).fit(graphs)
    assert own.n_targets_ == 2 and own.predict(graphs).shape == (len(graphs), 2)
    assert own.score(graphs) == own.score(exp, rows[:, [2, 0]])
    assert own.model_.config["data"]["counts"] == "cycle4"
    with pytest.raises(tyche.InputError, match="target column 3"):
        tyche.GraphRegressor(target_columns=3, **SMALL).fit(graphs)


# ---- weights

def test_weights_of_one_change_nothing(exp, sizes):
    ones = np.ones(len(exp))
    plain, weighted = (tyche.GraphClassifier(rni=0.5, **SMALL).fit(exp, sample_weight=w) for w in (None, ones))
    assert same(plain, weighted) and plain.model_.config == weighted.model_.config
    plain, weighted = (tyche.GraphRegressor(**SMALL).fit(exp, sizes, sample_weight=w) for w in (None, ones))
    assert same(plain, weighted)


@pytest.mark.parametrize("engine", ["cpu", "reference"])
def test_a_graph_of_weight_two_is_a_graph_twice(exp, sizes, engine):
    """The loss of the first epoch, seen before the only step of a full batch."""
    part, y = exp[:8], sizes[:8]
    twice = [0] * 6 + [1, 2, 3, 3, 3, 5, 6, 7]
    weights = np.bincount(twice, minlength=8).astype(float)
    how = {**SMALL, "device": None, "engine": engine, "dropout": 0.0, "batch": 100, "epochs": 1}
    for kind, targets in ((tyche.GraphClassifier, part.labels), (tyche.GraphRegressor, y)):
        own = kind(**how).fit(part, targets, sample_weight=weights)
        other = kind(**how).fit(part[twice], np.asarray(targets)[twice])
        loss, expected = (e.result_.history[0]["train_loss"] for e in (own, other))
        assert loss == pytest.approx(expected, rel=1e-5) and loss > 0
        plain = kind(**how).fit(part, targets).result_.history[0]["train_loss"]
        assert abs(plain - loss) > 1e-4 * abs(loss)


def test_weights_lead_where_they_should():
    """Wrong labels without weight do no harm."""
    graphs = [tyche.from_edges(n, [(i, i + 1) for i in range(n - 1)] + ([(0, n - 1)] if n % 2 else []))
              for n in list(range(4, 16)) * 2]
    truth = np.array([g.num_nodes % 2 for g in graphs])
    said, weights = truth.copy(), np.ones(len(graphs))
    said[12:] = 1 - truth[12:]
    weights[12:] = 0
    clf = tyche.GraphClassifier(aggregation="sum", readout="sum", dropout=0.0,
                                **{**SMALL, "epochs": 120}).fit(graphs, said, sample_weight=weights)
    assert clf.score(graphs, truth) > 0.8
    assert clf.score(graphs, said, sample_weight=weights) == clf.score(graphs[:12], truth[:12])


def test_scikit_learn_passes_weights_on(exp, sizes):
    pytest.importorskip("sklearn")
    from sklearn.model_selection import cross_val_score

    weights = np.linspace(0.5, 2, len(exp))
    scores = cross_val_score(tyche.GraphClassifier(**SMALL), exp, exp.labels, cv=2, fit_params={"sample_weight": weights}) \
        if "fit_params" in inspect.signature(cross_val_score).parameters else \
        cross_val_score(tyche.GraphClassifier(**SMALL), exp, exp.labels, cv=2, params={"sample_weight": weights})
    assert scores.shape == (2,) and np.isfinite(scores).all()


@pytest.mark.parametrize("weights, words", [([1.0], "one number for each"), ("none", "expected numbers"),
                                            (np.full(24, -1.0), "graph 0 has -1.0; expected a finite number from 0 on"),
                                            (np.full(24, np.nan), "graph 0 has nan"), (np.zeros(24), "all weights are 0"),
                                            (np.full(24, 1e300), "graph 0 has 1e\\+300"),
                                            (np.ones((24, 1)), "found the shape \\(24, 1\\)")])
def test_weights_that_make_no_sense_are_refused(weights, words):
    graphs = tyche.datasets.exp(pairs=12, seed=3)
    for kind in (tyche.GraphClassifier, tyche.GraphRegressor):
        y = np.arange(24) % 2
        with pytest.raises(tyche.InputError, match=words):
            kind(**SMALL).fit(graphs, y, sample_weight=weights)


def test_a_run_with_weights_goes_on_only_where_they_are_given(exp, program, tmp_path):
    exp.write(tmp_path / "exp.txt")
    graphs = tyche.datasets.read(tmp_path / "exp.txt")
    tyche.train(graphs, folds=2, folder=tmp_path / "run", sample_weight=np.linspace(0.5, 1, len(graphs)),
                schedule="constant", **SMALL)
    done = subprocess.run([os.environ["TYCHE_PROGRAM"], "train", "--resume", "--epochs", "5", "--out", tmp_path / "run"],
                          capture_output=True, text=True)
    assert done.returncode == 2 and "a weight for each graph" in done.stderr


def test_a_model_answers_where_its_split_was_in_memory_alone(exp, tmp_path):
    half = len(exp) // 2
    run = tyche.train(exp, split={"train": range(half), "test": range(half, len(exp))}, **SMALL)
    run.models[0].save(tmp_path / "model.safetensors")
    assert len(tyche.Model.load(tmp_path / "model.safetensors").predict(exp).labels) == len(exp)


# ---- a part to choose by

def test_early_stopping_keeps_the_best_epoch_of_a_part_set_aside(exp):
    clf = tyche.GraphClassifier(random="colours", early_stopping=True, validation_fraction=0.25, patience=3,
                                **{**SMALL, "epochs": 200, "lr": 2e-2}).fit(exp)
    assert "validation_loss" in clf.result_.history[0]
    losses = clf.result_.curve("validation_loss")[0]
    assert len(losses) < 200 and clf.n_iter_ == int(np.nanargmin(losses)) + 1
    assert clf.model_.config["folds"]["validation"] == 0.25 and clf.model_.config["folds"]["scheme"] == "stratified"


def test_a_fraction_or_a_measure_alone_choose_among_all_epochs(exp, sizes):
    reg = tyche.GraphRegressor(validation_fraction=0.2, **{**SMALL, "epochs": 12}).fit(exp, sizes)
    losses = reg.result_.curve("validation_loss")[0]
    assert len(losses) == 12 and reg.n_iter_ == int(np.nanargmin(losses)) + 1
    reg = tyche.GraphRegressor(select_by="mae", **SMALL).fit(exp, sizes)
    assert reg.model_.config["folds"]["validation"] == 0.1
    plain = tyche.GraphRegressor(**SMALL).fit(exp, sizes)
    assert "validation_loss" not in plain.result_.history[0] and plain.n_iter_ == 3
    with pytest.raises(tyche.InputError, match="patience"):
        tyche.GraphRegressor(patience=3, **SMALL).fit(exp, sizes)


def test_the_spread_over_draws(exp, sizes):
    reg = tyche.GraphRegressor(rni=0.5, **SMALL).fit(exp, sizes)
    values, spread = reg.predict(exp, return_std=True)
    assert values.shape == spread.shape == (len(exp),) and (spread > 0).all()
    assert np.array_equal(values, reg.predict(exp, draws=16))
    draws = np.stack([reg.model_.predict(exp, draws=k, device="cpu").values[:, 0] * k for k in range(1, 5)])
    singles = np.diff(np.concatenate([np.zeros((1, len(exp))), draws]), axis=0)  # what each draw says
    assert np.allclose(reg.predict(exp, draws=4, return_std=True)[1], singles.std(axis=0), rtol=1e-4, atol=1e-6)
    quiet = tyche.GraphRegressor(**SMALL).fit(exp, np.stack([sizes, -sizes], axis=1))
    values, spread = quiet.predict(exp, return_std=True)
    assert values.shape == spread.shape == (len(exp), 2) and not spread.any()
    with pytest.raises(tyche.InputError, match="one draw has no spread"):
        reg.predict(exp, draws=1, return_std=True)


# ---- splits

def test_a_split_is_a_file_a_dict_or_arrays(exp, tmp_path):
    n = len(exp)
    train, validation, test = list(range(0, n - 10)), list(range(n - 10, n - 5)), list(range(n - 5, n))
    (tmp_path / "split.json").write_text(json.dumps({"train": train, "validation": validation, "test": test}))
    mask = np.zeros((3, n), bool)
    mask[0, train] = mask[1, validation] = mask[2, test] = True
    ways = [tmp_path / "split.json", str(tmp_path / "split.json"),
            {"train": np.array(train), "valid": validation, "test": range(n - 5, n)}, (train, validation, np.array(test)),
            [{"train": train, "val": validation, "test": test}], tuple(mask),
            [dict(train=mask[0], validation=mask[1], test=mask[2])]]
    runs = [tyche.train(exp, split=way, select_by="loss", **SMALL) for way in ways]
    for run in runs:
        assert len(run.folds) == 1 and run.config["folds"]["split_hash"] == runs[0].config["folds"]["split_hash"]
        assert np.array_equal(run.curve("test_accuracy"), runs[0].curve("test_accuracy"))
    torch = pytest.importorskip("torch")
    tensors = tyche.train(exp, split={"train": torch.tensor(train), "valid": torch.tensor(validation),
                                      "test": torch.tensor(test)}, select_by="loss", **SMALL)  # as OGB has it
    assert tensors.config["folds"]["split_hash"] == runs[0].config["folds"]["split_hash"]


def test_folds_of_scikit_learn_are_a_split(exp, program, tmp_path):
    pytest.importorskip("sklearn")
    from sklearn.model_selection import StratifiedKFold

    folds = StratifiedKFold(3).split(np.zeros(len(exp)), exp.labels)
    tests = np.empty(len(exp), int)
    for number, (_, test) in enumerate(StratifiedKFold(3).split(np.zeros(len(exp)), exp.labels)):
        tests[test] = number
    exp.write(tmp_path / "exp.txt")
    graphs = tyche.datasets.read(tmp_path / "exp.txt")
    run = tyche.train(graphs, split=folds, folder=tmp_path / "run", schedule="constant", **SMALL)
    again = tyche.train(graphs, split=tests, schedule="constant", **SMALL)
    assert len(run.folds) == 3 and np.array_equal(run.curve("test_accuracy"), again.curve("test_accuracy"))
    # The folder has the split, so the program goes on with it.
    program("train", "--resume", "--out", tmp_path / "run", "--epochs", 5, "--data", tmp_path / "exp.txt")
    assert len((tmp_path / "run/fold-2/metrics.jsonl").read_text().splitlines()) == 5


@pytest.mark.parametrize("split, words", [
    ({"train": [0, 1], "test": [10**6]}, "split: .*graph 1000000 is out of range"),
    ({"train": [0, 1], "test": [1, 2]}, "graph 1 is in two parts"), ({"train": [0, 1]}, "has no \"test\""),
    ({"train": [0], "tset": [1]}, "there is no part 'tset'"), ({"train": [0.5], "test": [1]}, "numbers of graphs"),
    ({"train": [0], "test": []}, "the test part is empty"), (7, "expected a file, a dict, or arrays"),
    (({0, 1}, [2]), "split"), (np.zeros(3, int), "3 numbers of folds"),
    ({"train": np.ones(3, bool), "test": [5]}, "a mask of 3"), ([], "no folds"),
])
def test_splits_that_make_no_sense_are_refused(exp, split, words):
    with pytest.raises(tyche.InputError, match=words):
        tyche.train(exp, split=split, **SMALL)


def test_a_matrix_y_is_several_labels_per_graph(tmp_path):
    exp = tyche.datasets.exp(pairs=12)
    sizes = np.diff(exp.ptr.astype(float))
    y = np.stack([sizes > np.median(sizes), np.arange(len(exp)) % 2 == 0], axis=1).astype(float)
    y[3, 1] = np.nan
    clf = tyche.GraphClassifier("gin", width=8, layers=2, epochs=30, readout="sum", lr=5e-3, device="cpu").fit(exp, y)
    chances = clf.predict_proba(exp, draws=1)
    assert chances.shape == y.shape and ((0 <= chances) & (chances <= 1)).all()
    said = clf.predict(exp)
    assert said.dtype.kind == "i" and (said == (chances >= 0.5)).all()
    assert (said[:, 0] == y[:, 0]).mean() > 0.8, "sizes can be learned"
    assert clf.score(exp, y) == np.mean(((said == y) | np.isnan(y)).all(axis=1))
    assert [own.tolist() for own in clf.classes_] == [[0, 1], [0, 1]]
    clf.save(tmp_path / "m.safetensors")
    assert np.array_equal(tyche.GraphClassifier.load(tmp_path / "m.safetensors").predict(exp), said)
    with pytest.raises(tyche.InputError, match="graph 1, column 0 is 2"):
        clf.fit(exp, np.where(np.arange(len(exp))[:, None] == 1, 2, y))
    with pytest.raises(tyche.InputError, match="class_weights|class weights"):
        tyche.GraphClassifier(class_weights="balanced", epochs=1).fit(exp, y)
