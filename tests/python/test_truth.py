"""Scores are of the part they are called by: of graphs that training did not see, or said to be of training graphs."""
import numpy as np
import pytest

import tyche

SMALL = dict(width=8, layers=2, epochs=3, seed=4, rni=0.5, device="cpu")


def test_fit_calls_a_score_over_its_training_graphs_that(exp):
    sizes = np.diff(exp.ptr.astype(float))
    regressor = tyche.GraphRegressor(**SMALL).fit(exp, sizes)
    last = regressor.result_.history[-1]
    assert "train_r2" in last and "train_mae" in last and not any(name.startswith("test_") for name in last)
    assert "train_r2_mean" in regressor.result_.summary and "test_r2_mean" not in regressor.result_.summary
    assert repr(regressor.result_).startswith("TrainResult(3 epochs: train mae ")
    classifier = tyche.GraphClassifier(**SMALL).fit(exp)
    assert not any(name.startswith("test_") for name in classifier.result_.history[-1])
    assert "train accuracy" in repr(classifier.result_) and "test" not in repr(classifier.result_)


@pytest.mark.parametrize("test", ["epochs", "end"])
def test_results_are_the_summarys_at_the_chosen_epoch(exp, tmp_path, test):
    result = tyche.train(exp, folds=3, select_by="loss", validation=0.2, test=test, folder=tmp_path / "run",
                         **{**SMALL, "epochs": 6})
    mean, std = result.summary["test_accuracy_mean"], result.summary["test_accuracy_std"]
    number = f"{100 * mean:.2f} ± {100 * std:.2f}"
    assert f"test accuracy {number} %" in repr(result)
    assert f"| test accuracy, % | {number} |" in tyche.report(tmp_path / "run")
    for fold, model in zip(result.summary["folds"], result.models):
        assert model.epoch == fold["best_epoch"] == fold["tested_epoch"]
        said = model.predict(exp)
        assert said.accuracy == said.parts["test"]["accuracy"] == fold["test_accuracy"]
        assert sum(part["graphs"] for part in said.parts.values()) == len(exp)


def test_parts_of_data_are_known_by_their_graphs(exp):
    model = tyche.train(exp[:12], folds=1, **SMALL).models[0]
    assert set(model.predict(exp[:4]).parts) == {"train"}
    both = model.predict(exp[10:14])
    assert {name: part["graphs"] for name, part in both.parts.items()} == {"new": 2, "train": 2}
    assert both.accuracy == both.parts["new"]["accuracy"]
