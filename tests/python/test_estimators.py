"""Estimators: the program's bits, scikit-learn's protocol, errors, stopping."""
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tyche

SMALL = dict(width=8, layers=2, epochs=3, seed=4, device="cpu", recipe="paper")


@pytest.fixture(scope="module")
def fitted(exp):
    return tyche.GraphClassifier(random="colours", **SMALL).fit(exp)


@pytest.mark.parametrize("options", [dict(rni=0.5), dict(random="colours", depth=2), dict(model="gin", rni=0.25)])
def test_fit_and_predict_give_the_programs_bits(program, tmp_path, options):
    program("generate", "exp", "--pairs", 10, "--seed", 3, "--out", tmp_path / "exp")
    words = [word for name, value in {**SMALL, **options}.items() for word in (f"--{name}", value)]
    program("train", "--data", tmp_path / "exp", "--folds", 1, "--out", tmp_path / "run", *words)
    graphs = tyche.datasets.read(tmp_path / "exp")
    clf = tyche.GraphClassifier(**SMALL, **options).fit(graphs)
    clf.model_.save(tmp_path / "own.safetensors")
    theirs = tmp_path / "run/fold-0/last.safetensors"
    assert (tmp_path / "own.safetensors").read_bytes() == theirs.read_bytes()
    said = program("predict", "--checkpoint", theirs, "--data", tmp_path / "exp", "--draws", 3, "--device", "cpu",
                   json_out=True)["predictions"]
    assert clf.predict(graphs, draws=3).tolist() == [p["label"] for p in said]
    best = clf.predict_proba(graphs, draws=3).max(axis=1)
    assert best.tolist() == [p["probability"] for p in said]


def test_the_parameters_are_the_programs_options():
    known = {tyche._estimators.RENAMED.get(field["name"], field["name"]) for field in tyche.about()["train"]}
    of_the_call = {"device", "engine_path", "precision", "cache", "threads", "progress"}
    of_folds = tyche._estimators.OF_FOLDS
    assert set(tyche.GraphClassifier._names()) - of_the_call == known - of_folds - tyche._estimators.NOT_OF_CLASSIFIERS
    assert set(tyche.GraphRegressor._names()) - of_the_call == known - of_folds - tyche._estimators.NOT_OF_REGRESSORS


def test_regression_gives_the_programs_bits(program, exp, tmp_path):
    sizes = np.stack([np.diff(exp.ptr.astype(float)), np.arange(len(exp)) / 7], axis=1)
    targets = exp.with_labels(None).with_targets(sizes)
    targets.write(tmp_path / "sizes", "tu")
    read = tyche.datasets.read(tmp_path / "sizes")
    assert np.allclose(read.targets, sizes)
    words = [word for name, value in SMALL.items() for word in (f"--{name}", value)]
    program("train", "--data", tmp_path / "sizes", "--folds", 1, "--out", tmp_path / "run", "--target", "attributes", *words)
    reg = tyche.GraphRegressor(**SMALL).fit(read)
    reg.model_.save(tmp_path / "own.safetensors")
    theirs = tmp_path / "run/fold-0/last.safetensors"
    assert (tmp_path / "own.safetensors").read_bytes() == theirs.read_bytes()
    said = program("predict", "--checkpoint", theirs, "--data", tmp_path / "sizes", "--device", "cpu", json_out=True)
    assert np.array_equal(reg.predict(read), [p["values"] for p in said["predictions"]])
    assert np.array_equal(tyche.GraphRegressor.load(theirs).set_params(device="cpu").predict(read), reg.predict(read))


def test_regression_of_given_numbers(exp):
    sizes = np.diff(exp.ptr.astype(float))
    reg = tyche.GraphRegressor(loss="huber", readout="sum", **{**SMALL, "epochs": 30, "lr": 5e-3}).fit(exp, sizes)
    assert reg.predict(exp).shape == (len(exp),) and reg.score(exp, sizes) > 0
    pytest.importorskip("sklearn")
    from sklearn.base import clone, is_regressor
    from sklearn.model_selection import cross_val_score

    assert is_regressor(reg) and clone(reg).loss == "huber"
    assert cross_val_score(tyche.GraphRegressor(**SMALL), exp, sizes, cv=2, scoring="r2").shape == (2,)
    with pytest.raises(tyche.InputError, match="no real targets"):
        tyche.GraphRegressor().fit(exp)
    with pytest.raises(tyche.InputError, match="one row for each"):
        tyche.GraphRegressor().fit(exp, [1.0, 2.0])


def test_classes_of_any_kind(exp, tmp_path):
    words = np.where(exp.labels == 1, "sat", "unsat")
    clf = tyche.GraphClassifier(rni=0.5, **SMALL).fit(exp, words)
    assert clf.classes_.tolist() == ["sat", "unsat"]
    assert set(clf.predict(exp)) <= {"sat", "unsat"} and 0 <= clf.score(exp, words) <= 1
    clf.save(tmp_path / "words.safetensors")
    again = tyche.GraphClassifier.load(tmp_path / "words.safetensors")
    assert again.predict(exp, draws=2).tolist() == clf.predict(exp, draws=2).tolist()
    numbers = tyche.GraphClassifier(rni=0.5, **SMALL).fit(exp, exp.labels * 5 + 2)
    assert set(numbers.predict(exp).tolist()) <= {2, 7}


def test_probabilities_and_predictions_agree(fitted, exp):
    probabilities = fitted.predict_proba(exp, draws=16)
    assert probabilities.shape == (len(exp), 2) and np.allclose(probabilities.sum(axis=1), 1)
    assert np.array_equal(fitted.classes_[probabilities.argmax(axis=1)], fitted.predict(exp, draws=16))
    assert np.array_equal(fitted.predict_proba(exp), probabilities)  # 16 draws where nobody says how many
    assert np.array_equal(fitted.predict_proba(exp, seed=9), fitted.predict_proba(exp, seed=9))
    assert not np.array_equal(fitted.predict_proba(exp, seed=9), fitted.predict_proba(exp, seed=10))


def test_a_slice_and_a_list_are_as_good_as_a_set(fitted, exp):
    networkx = pytest.importorskip("networkx")
    whole = fitted.predict_proba(exp[:6])
    assert np.array_equal(whole, fitted.predict_proba([exp[i] for i in range(6)]))
    assert np.array_equal(whole, fitted.predict_proba(exp[:6].to_networkx()))
    from_list = tyche.GraphClassifier(random="colours", **SMALL).fit(exp.to_networkx())
    assert np.array_equal(from_list.predict_proba(exp), fitted.predict_proba(exp))
    assert networkx


def test_saved_loaded_and_pickled_it_says_the_same(fitted, exp, tmp_path):
    fitted.save(tmp_path / "a.safetensors")
    loaded = tyche.GraphClassifier.load(tmp_path / "a.safetensors").set_params(device="cpu")
    for other in (loaded, pickle.loads(pickle.dumps(fitted))):
        assert np.array_equal(other.predict_proba(exp), fitted.predict_proba(exp))
    assert loaded.random == "colours" and loaded.width == 8 and loaded.seed == 4
    assert np.array_equal(loaded.set_params(device="cpu").fit(exp).predict_proba(exp), fitted.predict_proba(exp))
    shapes = {name: value.shape for name, value in fitted.model_.state_dict().items()}
    assert shapes["head.fc3.weight"] == (2, 32) and not fitted.model_.state_dict()["head.fc3.weight"].flags.writeable


def test_torch_loads_the_state_dict(fitted):
    torch = pytest.importorskip("torch")
    state = fitted.torch_state_dict()
    assert isinstance(state["head.fc1.weight"], torch.Tensor)
    assert np.array_equal(state["head.fc1.weight"].numpy(), fitted.model_.state_dict()["head.fc1.weight"])


def test_scikit_learn_searches_clones_and_scores(exp):
    sklearn = pytest.importorskip("sklearn")
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    clf = tyche.GraphClassifier(rni=0.5, **SMALL)
    assert is_classifier(clf) and clone(clf).get_params() == clf.get_params() and clone(clf) is not clf
    scores = cross_val_score(clf, exp, exp.labels, cv=StratifiedKFold(3))
    assert scores.shape == (3,) and ((0 <= scores) & (scores <= 1)).all()
    assert cross_val_score(clf, exp, exp.labels, cv=2, scoring="roc_auc").shape == (2,)
    search = GridSearchCV(clf, {"rni": [0.25, 0.5], "layers": [1]}, cv=2).fit(exp, exp.labels)
    assert search.best_params_["layers"] == 1 and search.predict(exp[:3]).shape == (3,)
    piped = make_pipeline(FunctionTransformer(validate=False), clf).fit(exp, exp.labels)
    assert np.array_equal(piped.predict_proba(exp), clf.fit(exp).predict_proba(exp))
    assert cross_val_score(clf, exp.to_networkx(), exp.labels, cv=2).shape == (2,)
    assert sklearn


def test_scikit_learn_searches_in_processes(exp):
    pytest.importorskip("sklearn")
    from sklearn.model_selection import cross_val_score

    clf = tyche.GraphClassifier(rni=0.5, threads=1, **SMALL)
    here = cross_val_score(clf, exp, exp.labels, cv=2)
    assert np.array_equal(cross_val_score(clf, exp, exp.labels, cv=2, n_jobs=2), here)


def test_a_callback_sees_every_epoch_and_may_stop(exp):
    seen = []

    def watch(epoch):
        seen.append(epoch["epoch"])
        return len(seen) == 4

    result = tyche.train(exp, folds=1, **{**SMALL, "epochs": 50}, on_epoch=watch)
    assert seen == [1, 2, 3, 4] and result.stopped and result.models[0].epoch == 4
    assert len(result.history) == 4 and result._repr_svg_().startswith("<svg")

    def broken(epoch):
        raise RuntimeError("of the caller's own")

    with pytest.raises(RuntimeError, match="of the caller's own"):
        tyche.train(exp, folds=1, **SMALL, on_epoch=broken)


def test_a_run_is_kept_as_the_program_keeps_it(exp, program, tmp_path):
    result = tyche.train(exp, folds=2, folder=tmp_path / "run", **SMALL)
    assert (tmp_path / "run/config.toml").exists() and len(result.models) == 2
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["complete"] is True


def test_mistakes_are_input_errors(exp, fitted):
    with pytest.raises(tyche.InputError, match="ppgn"):
        tyche.GraphClassifier(model="no such").fit(exp)
    with pytest.raises(tyche.InputError, match="rni"):
        tyche.GraphClassifier(rni=2.0, **SMALL).fit(exp)
    with pytest.raises(tyche.InputError, match="y: expected one class for each"):
        tyche.GraphClassifier().fit(exp, [1, 2])
    with pytest.raises(tyche.InputError, match="no labels"):
        tyche.GraphClassifier().fit(["Bw", "BW"])
    with pytest.raises(tyche.NotFittedError):
        tyche.GraphClassifier().predict(exp)
    with pytest.raises(tyche.InputError, match="no parameter"):
        tyche.GraphClassifier().set_params(widht=3)
    with pytest.warns(UserWarning, match="1 of 2 graphs has node types that training did not see"):
        fitted.predict(tyche.as_set([exp[0], tyche.from_edges(2, [(0, 1)], types=[0, 9], label=0)]))
    with pytest.raises(tyche.InputError):
        fitted.predict(exp, draws=0)


def test_threads_train_side_by_side(exp):
    alone = tyche.GraphClassifier(rni=0.5, threads=1, **SMALL).fit(exp).predict_proba(exp)
    out = [None] * 4

    def work(i):
        out[i] = tyche.GraphClassifier(rni=0.5, threads=1, **SMALL).fit(exp).predict_proba(exp)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(alone, one) for one in out)


def test_ctrl_c_ends_training(tmp_path):
    script = ("import sys, tyche\n"
              "exp = tyche.datasets.exp(pairs=5)\n"
              "print('begun', flush=True)\n"
              "try:\n"
              "    tyche.GraphClassifier(epochs=10**6, width=8, layers=1, device='cpu').fit(exp)\n"
              "except KeyboardInterrupt:\n"
              "    print('stopped', len(tyche.colours(exp)) > 0, flush=True)\n")
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tyche.__file__).parents[1])}
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment)
    assert child.stdout.readline() == "begun\n"
    time.sleep(1.0)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=600)[0] == "stopped True\n" and child.returncode == 0


def test_importing_is_quick_and_imports_no_torch():
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tyche.__file__).parents[1])}
    script = ("import time, numpy, json, ctypes, sys\n"
              "start = time.process_time()\n"
              "import tyche\n"
              "print(time.process_time() - start)\n"
              "assert not {'torch', 'sklearn', 'networkx', 'scipy', 'tqdm'} & set(sys.modules)\n")
    times = [float(subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True,
                                  check=True).stdout) for _ in range(3)]
    assert min(times) < 0.2


def test_searches_see_no_nan_where_a_node_type_or_a_class_is_rare():
    pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

    rng = np.random.default_rng(5)
    graphs, labels = [], []
    for i in range(24):
        types = rng.integers(0, 2, 6)
        edges = [(v - 1, v) for v in range(1, 6)] + ([(0, 5)] if i % 2 else [])
        if i in (3, 20):
            types[0] = 16 + i  # each in one graph alone
        graphs.append(tyche.from_edges(6, edges, types=types))
        labels.append(7 if i == 11 else i % 2)  # and so a class
    data = tyche.as_set(graphs)
    own = dict(width=8, layers=2, epochs=2, device="cpu", threads=1)
    scores = cross_val_score(tyche.GraphClassifier(**own), data, labels, cv=KFold(3), error_score="raise")
    assert scores.shape == (3,) and np.isfinite(scores).all()
    search = GridSearchCV(tyche.GraphClassifier(**own), {"lr": [1e-3, 1e-2]}, cv=KFold(3), error_score="raise")
    assert np.isfinite(search.fit(data, labels).cv_results_["mean_test_score"]).all()
    # Nothing is lost: all graphs have an answer of the classes that were seen.
    clf = tyche.GraphClassifier(**own).fit(data[:3], [0, 1, 0])
    assert set(clf.predict(data)) <= {0, 1}
