"""Networks that are described, and networks that are exported."""
import json
import subprocess
import sys

import numpy as np
import pytest

import tyche

SMALL = dict(epochs=2, folds=2, seed=3, engine="reference")


def sage(width, layers):
    net = tyche.Network()
    h = net.linear(net.input(), width)
    for _ in range(layers):
        h = net.activate(net.linear(net.concat(h, net.aggregate(h, "neighbours", "mean")), width), "elu")
    g = net.dropout(net.activate(net.linear(net.readout(h, "max"), width), "elu"), 0.5)
    net.linear(net.activate(net.linear(g, 32), "elu"), "classes")
    return net


def same_bits(a, b):
    return all(np.array_equal(x.state_dict()[n], y.state_dict()[m]) for x, y in zip(a.models, b.models)
               for n, m in zip(x.state_dict(), y.state_dict()))


def test_sage_in_ten_lines_is_the_model_sage(exp, tmp_path):
    net = sage(8, 2)
    own = tyche.train(exp, network=net, **SMALL)
    known = tyche.train(exp, model="sage", width=8, layers=2, **SMALL)
    assert own.config["model"] == known.config["model"]
    assert same_bits(own, known)
    net.save(tmp_path / "sage.toml")
    assert same_bits(tyche.train(exp, network=tmp_path / "sage.toml", **SMALL), known)


def of_no_kind(width=6):
    """Maxima over neighbours, which no model of the table has."""
    net = tyche.Network()
    h = net.linear(net.input(), width)
    h = net.activate(net.linear([(h,), (net.aggregate(h, "neighbours", "max"),)], width), "tanh")
    net.linear(net.readout(h, "mean"), "classes")
    return net


def test_a_network_of_no_kind_is_trained_saved_and_asked(exp, tmp_path):
    clf = tyche.GraphClassifier(network=of_no_kind(), epochs=2, engine="reference").fit(exp)
    assert clf.model_.config["model"]["kind"] == "network"
    clf.save(tmp_path / "own.safetensors")
    again = tyche.GraphClassifier.load(tmp_path / "own.safetensors")
    assert np.array_equal(again.predict_proba(exp), clf.predict_proba(exp))
    sizes = np.diff(exp.ptr.astype(float))
    assert tyche.GraphRegressor(network=of_no_kind(), epochs=2, engine="reference").fit(exp, sizes).predict(exp).shape == (len(exp),)


def test_what_is_wrong_is_said_by_line(exp):
    net = sage(8, 1)
    net.step("activate", activation="gelu")
    with pytest.raises(tyche.InputError, match="network: line [0-9]+: step activate.3: activation: unknown activation 'gelu'"):
        tyche.train(exp, network=net, **SMALL)
    with pytest.raises(tyche.InputError, match="width is 32, but the network's description says 8"):
        tyche.train(exp, network=sage(8, 1), width=32, **SMALL)
    with pytest.raises(tyche.InputError, match="model"):
        tyche.train(exp, network=sage(8, 1), model="gin", **SMALL)


def test_pairs_are_told_apart_by_a_network_that_is_described():
    told = tyche.distinguish(["EhEG", "EwCW"], network=of_no_kind(), epochs=2, draws=8, engine="reference")
    assert told["pairs"] == 1 and not told


# ---- export

def lines_of(graphs, extra=None):
    out = []
    for i in range(len(graphs)):
        graph = graphs[i]
        item = {"nodes": [int(t) for t in graph.types], "edges": [[int(u), int(v)] for u, v in graph.edges]}
        out.append({**item, **(extra(i) if extra else {})})
    return out


def asked(folder, lines, tmp_path, key="logits"):
    path = tmp_path / "graphs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    said = subprocess.run([sys.executable, str(folder / "model.py"), str(path)], check=True, capture_output=True, text=True)
    return np.array([json.loads(line)[key] for line in said.stdout.splitlines()])


KINDS = {
    "gcn": dict(model="gcn", width=8, layers=2),
    "gin": dict(model="gin", width=8, layers=2, readout="sum"),
    "sage": dict(model="sage", width=8, layers=2, engine="reference"),
    "gcn2": dict(model="gcn2", width=6, layers=1),
    "gcn3": dict(model="gcn3", width=4, layers=1),
    "gcn123": dict(model="gcn123", width=4, layers=1),
    "ppgn": dict(model="ppgn", width=6, layers=2),
    "counts": dict(model="gin", width=8, layers=2, counts="cycle3,path4,bow=DK{"),
    "standardised": dict(model="mp", width=8, layers=2, counts="star4,path2", recipe="own"),
    "own": dict(network=of_no_kind(), engine="reference"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_exported_network_answers_as_its_own(kind, tmp_path):
    pytest.importorskip("torch", reason="python3-torch is not installed")
    graphs = tyche.as_set(["EhEG", "EwCW", "DQo", "Dhc", "EEj_", "ECxw"]).with_labels([0, 1, 0, 1, 0, 1])
    trained = tyche.train(graphs, epochs=3, folds=1, lr=1e-2, **KINDS[kind])
    folder = tyche.export(trained.models[0], out=tmp_path / "net")
    expected = trained.models[0].predict(graphs).logits
    assert np.abs(asked(folder, lines_of(graphs), tmp_path) - expected).max() < 1e-5


@pytest.mark.parametrize("scale", [{}, dict(no_scale_targets=True)])
def test_an_exported_network_gives_its_columns_in_their_unit(scale, tmp_path):
    pytest.importorskip("torch", reason="python3-torch is not installed")
    rows = np.array([[0, 1000 + 10 * i, i, -i] for i in range(6)], np.float32)
    graphs = tyche.as_set(["EhEG", "EwCW", "DQo", "Dhc", "EEj_", "ECxw"]).with_targets(rows)
    trained = tyche.train(graphs, epochs=3, folds=1, lr=1e-2, model="gin", width=8, layers=2, target_columns="1,3", **scale)
    expected = trained.models[0].predict(graphs).values
    own = asked(tyche.export(trained.models[0], out=tmp_path / "net"), lines_of(graphs), tmp_path, "values")
    assert own.shape == (6, 2) and np.abs(own - expected).max() < 1e-5 * np.abs(expected).max()
    assert (own[0, 0] > 900) == (not scale)  # three epochs do not reach 1000 where nothing begins there


def test_an_exported_network_takes_its_random_inputs(tmp_path, program):
    pytest.importorskip("torch", reason="python3-torch is not installed")
    graphs = tyche.datasets.exp(pairs=2, seed=1)
    graphs.write(tmp_path / "exp", "gin")
    program("train", "--data", tmp_path / "exp", "--folds", 2, "--epochs", 1, "--width", 8, "--layers", 1, "--rni", 0.5,
            "--device", "cpu", "--out", tmp_path / "run")
    nodes = int(graphs.ptr[-1])
    drawn = np.random.default_rng(1).normal(size=(nodes, 4)).astype(np.float32)
    np.save(tmp_path / "drawn.npy", drawn)
    said = program("predict", tmp_path / "run", "--fold", 1, "--features", tmp_path / "drawn.npy", "--logits", "--device", "cpu",
                   json_out=True)
    program("export", tmp_path / "run", "--fold", 1, "--out", tmp_path / "net")
    rows = lambda i: {"random": drawn[graphs.ptr[i]:graphs.ptr[i + 1]].tolist()}
    own = asked(tmp_path / "net", lines_of(graphs, rows), tmp_path)
    assert np.abs(own - [p["logits"] for p in said["predictions"]]).max() < 1e-5
    assert asked(tmp_path / "net", lines_of(graphs), tmp_path).shape == own.shape  # drawn by itself


def test_an_exported_network_sees_types_attributes_and_labels(tmp_path, program):
    pytest.importorskip("torch", reason="python3-torch is not installed")
    draw = np.random.default_rng(2)
    lines = []
    for i in range(40):
        n = int(draw.integers(3, 7))
        edges = [[v, v + 1, int(draw.integers(0, 3))] for v in range(n - 1)]
        lines.append({"nodes": draw.integers(0, 3, n).tolist(), "edges": edges,
                      "attributes": (draw.normal(size=(n, 2)) * 5 + 3).tolist(),
                      "edge_attributes": draw.normal(size=(n - 1, 1)).tolist(), "target": [float(n), float(i)]})
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for model in ("gin", "gcn"):
        run, out = tmp_path / f"run-{model}", tmp_path / f"net-{model}"
        program("train", "--data", tmp_path / "own.jsonl", "--folds", 2, "--epochs", 2, "--width", 8, "--layers", 2, "--model",
                model, "--device", "cpu", "--out", run)
        new = [dict(line) for line in lines[:10]]
        new[0]["nodes"] = [7] * len(new[0]["nodes"])  # a type that training did not see
        (tmp_path / "new.jsonl").write_text("".join(json.dumps(line) + "\n" for line in new))
        said = program("predict", run, "--fold", 0, "--data", tmp_path / "new.jsonl", "--device", "cpu", json_out=True)
        program("export", run, "--fold", 0, "--out", out)
        values = np.array([p["values"] for p in said["predictions"]])
        assert np.abs(asked(out, new, tmp_path, "values") - values).max() < 1e-5 * max(1, np.abs(values).max())


def weighted_lines(count):
    draw = np.random.default_rng(3)
    for _ in range(count):
        n = int(draw.integers(4, 8))
        edges = [[v, v + 1] for v in range(n - 1)] + [[n - 1, 0]]
        yield {"nodes": draw.integers(0, 2, n).tolist(), "edges": edges, "weight": draw.normal(size=n).tolist(),
               "edge_attributes": draw.normal(size=(n, 1)).tolist(), "node_labels": draw.integers(0, 3, n).tolist(),
               "edge_targets": draw.normal(size=(n, 2)).tolist()}


@pytest.mark.parametrize("model, target", [("gcn", "node-labels"), ("gin", "node-labels"), ("mp", "edge-targets"), ("gcn", "edge-targets"),
                                           ("subgraph", "node-labels"), ("local2", "edge-targets")])
def test_an_exported_network_answers_for_nodes_and_edges(model, target, tmp_path, program):
    pytest.importorskip("torch", reason="python3-torch is not installed")
    lines = list(weighted_lines(20))
    if model in ("subgraph", "local2"):  # which pass nothing along edges
        lines = [{key: line[key] for key in line if key != "weight"} for line in lines]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    program("train", "--data", tmp_path / "own.jsonl", "--target", target, "--folds", 2, "--epochs", 2, "--width", 8, "--layers", 2,
            "--model", model, "--device", "cpu", "--out", tmp_path / "run")
    key, flags = ("logits", ["--logits"]) if target == "node-labels" else ("values", [])
    said = program("predict", tmp_path / "run", "--fold", 0, "--data", tmp_path / "own.jsonl", "--device", "cpu", *flags, json_out=True)
    program("export", tmp_path / "run", "--fold", 0, "--out", tmp_path / "net")
    done = subprocess.run([sys.executable, str(tmp_path / "net/model.py"), str(tmp_path / "own.jsonl")], check=True, capture_output=True,
                          text=True)
    own = np.concatenate([json.loads(line)[key] for line in done.stdout.splitlines()])
    assert np.abs(own - np.array([p[key] for p in said["predictions"]])).max() < 1e-5
