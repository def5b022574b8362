"""Embeddings, explanations, comparisons and fine-tuning from Python."""
import numpy as np

import tyche

EXP = tyche.datasets.exp(pairs=10, seed=1)


def test_transform_gives_a_row_per_graph_that_goes_on():
    clf = tyche.GraphClassifier(width=8, layers=2, epochs=2, device="cpu").fit(EXP)
    rows = clf.transform(EXP)
    assert rows.shape == (20, 8) and np.allclose(rows[::2], rows[1::2], atol=1e-5), "pairs look alike"
    random = tyche.GraphClassifier(random="colours", width=8, layers=2, epochs=2, device="cpu").fit(EXP)
    assert not np.allclose(random.transform(EXP)[::2], random.transform(EXP)[1::2], atol=1e-4)
    assert clf.model_.embed(EXP, of="nodes").shape == (EXP.num_nodes, 8)
    why = clf.model_.explain(EXP, 3)
    assert len(why["nodes"]) == EXP[3].num_nodes and len(why["edges"]) == EXP[3].num_edges


def test_compare_says_what_it_found(tmp_path):
    found = tyche.compare(EXP, tmp_path / "cmp", budget_epochs=10, models=["gcn"], folds=2, device="cpu")
    assert not found and found["best"] == found["baseline"] and "Nothing beats" in str(found)
    assert {"name", "score", "low", "high", "seconds", "command"} <= set(found["rows"][0])


def test_start_from_goes_on_with_a_model(tmp_path):
    first = tyche.GraphClassifier(width=8, layers=2, epochs=2, device="cpu").fit(EXP)
    first.save(tmp_path / "m.safetensors")
    second = tyche.GraphClassifier(start_from=tmp_path / "m.safetensors", freeze=1, epochs=1, device="cpu").fit(EXP)
    before, after = first.model_.state_dict(), second.model_.state_dict()
    names = list(before)
    assert np.array_equal(before[names[0]], after[names[0]]), "frozen"
    assert not np.array_equal(before[names[-1]], after[names[-1]])
