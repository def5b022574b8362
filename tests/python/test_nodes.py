"""Values per node, masks and weights from Python."""
import pickle

import numpy as np
import pytest

import tyche


def paths(count=12):
    graphs, labels = [], []
    for n in range(3, 3 + count):
        graphs.append(tyche.from_edges(n, [[v, v + 1] for v in range(n - 1)]))
        labels.append([1] + [0] * (n - 2) + [1])
    return graphs, labels


def test_ends_of_paths_are_told_from_the_rest():
    graphs, labels = paths()
    clf = tyche.NodeClassifier("gin", width=8, layers=2, epochs=80, lr=0.01, device="cpu").fit(graphs, labels)
    assert clf.score(graphs, labels) == 1
    said = clf.predict(graphs)
    assert [len(own) for own in said] == [g.num_nodes for g in graphs]
    assert clf.predict(graphs[0]).tolist() == labels[0]
    assert clf.predict_proba(graphs[1], draws=2).shape == (graphs[1].num_nodes, 2)
    again = tyche.NodeClassifier("gin", width=8, layers=2, epochs=80, lr=0.01, device="cpu", threads=2).fit(graphs, labels)
    assert np.array_equal(again.predict_proba(graphs[0]), clf.predict_proba(graphs[0]))


def test_nodes_have_rows_of_numbers():
    paths = [tyche.from_edges(4, [[0, 1], [1, 2], [2, 3]]), tyche.from_edges(3, [[0, 1], [1, 2]])]
    clf = tyche.NodeClassifier("gin", width=8, layers=2, epochs=1, device="cpu")
    both = clf.fit_transform(paths, [[1, 0, 0, 1], [1, 0, 1]])
    assert [len(own) for own in both] == [4, 3] and both[0].shape[1] == both[1].shape[1]
    assert np.array_equal(clf.transform(paths[1]), both[1]), "one graph, one array"


def test_only_nodes_of_the_mask_train(tmp_path):
    graph = tyche.from_edges(6, [[v, v + 1] for v in range(5)])
    mask = [True, True, True, False, False, False]
    how = dict(model="gin", width=8, layers=2, epochs=3, device="cpu")
    one = tyche.NodeClassifier(**how).fit(graph, ["a", "b", "a", "a", "a", "a"], mask=mask)
    two = tyche.NodeClassifier(**how).fit(graph, ["a", "b", "a", "b", "b", "b"], mask=mask)
    assert np.array_equal(one.predict_proba(graph), two.predict_proba(graph))
    assert one.classes_.tolist() == ["a", "b"]
    one.save(tmp_path / "model.safetensors")
    loaded = tyche.NodeClassifier.load(tmp_path / "model.safetensors")
    assert np.array_equal(loaded.predict_proba(graph), one.predict_proba(graph))


def test_numbers_of_nodes():
    graphs, _ = paths()
    degrees = [np.bincount(g.edges.ravel(), minlength=g.num_nodes).astype(float) for g in graphs]
    reg = tyche.NodeRegressor("gin", width=16, layers=2, epochs=200, lr=0.01, device="cpu").fit(graphs, degrees)
    assert reg.score(graphs, degrees) > 0.95
    values, spread = reg.predict(graphs[0], return_std=True)
    assert values.shape == spread.shape == (3,)


def test_what_does_not_fit_is_said():
    graphs, labels = paths(2)
    with pytest.raises(tyche.InputError, match="each of 3 nodes of graph 0, found 2"):
        tyche.NodeClassifier().fit(graphs, [[0, 1], [0, 1, 1, 0]])
    with pytest.raises(tyche.InputError, match="give them as y"):
        tyche.NodeClassifier().fit(graphs)
    with pytest.raises(tyche.InputError, match="an array for each of 2 graphs"):
        tyche.NodeClassifier().fit(graphs, [[0, 1, 1]])
    with pytest.raises(tyche.InputError, match="not read out"):
        tyche.NodeClassifier(readout="sum").fit(graphs, labels)


class Data:
    """As PyTorch Geometric has it."""

    def __init__(self, **given):
        self.__dict__.update(given)


def test_masks_and_labels_of_pyg_are_kept():
    data = Data(edge_index=np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), y=np.array([0, 1, -1]), num_nodes=3,
                train_mask=np.array([True, False, False]), val_mask=np.array([False, True, False]),
                test_mask=np.array([False, False, True]), edge_weight=np.array([0.5, 0.5, 2, 2], np.float32))
    graph = tyche.from_pyg(data)
    assert graph.node_labels.tolist() == [0, 1, tyche.MISSING]
    assert graph.node_parts.tolist() == [[1, 2, 3]]
    assert graph.weights.tolist() == [0.5, 0.5, 2, 2]
    back = pickle.loads(pickle.dumps(tyche.as_set([graph])))
    assert back.node_labels.tolist() == [0, 1, tyche.MISSING] and back.weights.tolist() == [0.5, 0.5, 2, 2]
    assert back.node_parts.tolist() == [[1, 2, 3]]
    data.test_mask = np.array([True, False, False])
    with pytest.raises(tyche.InputError, match="test_mask: node 0 is in two masks"):
        tyche.from_pyg(data)
    data.test_mask = np.array([True, False])
    with pytest.raises(tyche.InputError, match=r"test_mask: expected a row per node \(3\), found the shape \(2,\)"):
        tyche.from_pyg(data)
    data.test_mask, y = None, data.y
    data.y = np.array([0, 1])
    with pytest.raises(tyche.InputError, match=r"y: there are masks of nodes, .* found the shape \(2,\)"):
        tyche.from_pyg(data)
    data.y, data.edge_weight = y, np.array([0.5, 0.5, np.inf, 2], np.float32)
    with pytest.raises(tyche.InputError, match="edge 2 has the weight inf"):
        tyche.from_pyg(data)


def test_weights_of_networkx_and_scipy_are_kept():
    networkx = pytest.importorskip("networkx")
    graph = networkx.path_graph(3)
    graph.edges[0, 1]["weight"], graph.edges[1, 2]["weight"] = 0.25, 3.0
    own = tyche.from_networkx(graph)
    assert own.weights.tolist() == [0.25, 0.25, 3, 3]
    assert own.to_networkx().edges[1, 2]["weight"] == 3
    scipy = pytest.importorskip("scipy.sparse")
    matrix = scipy.csr_matrix(np.array([[0, 0.25, 0], [0.25, 0, 3], [0, 3, 0]]))
    assert tyche.from_scipy(matrix).weights.tolist() == [0.25, 0.25, 3, 3]
    assert (own.to_scipy() != matrix).nnz == 0
    other = networkx.path_graph(3)
    networkx.set_edge_attributes(other, 1.5, "weight")
    assert tyche.wl(own, other).distinguished


def test_a_split_of_nodes_is_taken_and_masks_are():
    graph = tyche.as_set([tyche.from_edges(8, [[v, (v + 1) % 8] for v in range(8)])])
    how = dict(target="node-labels", model="gin", epochs=2, width=8, layers=2, device="cpu")
    split = {"unit": "nodes", "train": [0, 1, 2, 3], "validation": [4, 5], "test": [6, 7]}
    said = tyche.train(graph.with_node_values(labels=[0, 1] * 4), split=split, **how)
    masked = tyche.train(graph.with_node_values(labels=[0, 1] * 4, parts=[1, 1, 1, 1, 2, 2, 3, 3]), **how)
    assert said.curve("train_loss").tolist() == masked.curve("train_loss").tolist()
    with pytest.raises(tyche.InputError, match="node 8 is out of range"):
        tyche.train(graph.with_node_values(labels=[0, 1] * 4), split={**split, "test": [8]}, **how)
