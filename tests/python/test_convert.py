"""Conversions both ways."""
import types

import numpy as np
import pytest

import tyche


def same(a, b):
    return (np.array_equal(a.edge_index, b.edge_index) and np.array_equal(a.types, b.types) and a.label == b.label
            and np.array_equal(a.edge_labels, b.edge_labels))


def test_networkx_both_ways(exp):
    networkx = pytest.importorskip("networkx")
    for g in exp[:4]:
        assert same(tyche.from_networkx(g.to_networkx()), g)
    back = tyche.from_networkx(exp.to_networkx())
    assert np.array_equal(back.neighbours, exp.neighbours) and np.array_equal(back.labels, exp.labels)
    named = networkx.Graph([("a", "b"), ("b", "c")])
    assert tyche.from_networkx(named).edges.tolist() == [[0, 1], [1, 2]]
    labelled = networkx.Graph()
    labelled.add_edge(0, 1, label=3)
    labelled.add_edge(1, 2)
    assert tyche.from_networkx(labelled).edge_labels.tolist() == [3, 3, 0, 0]
    assert tyche.from_networkx(labelled).to_networkx().edges[0, 1]["label"] == 3
    with pytest.raises(tyche.InputError, match="graph 1.*directed"):
        tyche.as_set([named, networkx.DiGraph([(0, 1)])])
    assert tyche.from_networkx(networkx.petersen_graph()).to_networkx().number_of_edges() == 15


def test_scipy_both_ways(exp):
    sparse = pytest.importorskip("scipy.sparse")
    for g in exp[:4]:
        assert np.array_equal(tyche.from_scipy(g.to_scipy()).edge_index, g.edge_index)
    assert len(tyche.from_scipy([g.to_scipy() for g in exp[:3]])) == 3
    with pytest.raises(tyche.InputError, match="none back"):
        tyche.from_scipy(sparse.csr_matrix(np.array([[0, 1], [0, 0]])))
    with pytest.raises(tyche.InputError, match="square"):
        tyche.from_scipy(sparse.csr_matrix(np.ones((2, 3))))


def test_graph6_both_ways(exp):
    for g in exp[:4]:
        assert np.array_equal(tyche.from_graph6(g.to_graph6()).edge_index, g.edge_index)
    assert tyche.from_graph6(b"Bw").num_edges == 3 and tyche.from_graph6(":BcN").num_edges == 3
    for wrong in ("B", "\x00", "Bw\nBw", ""):
        with pytest.raises(tyche.InputError):
            tyche.from_graph6(wrong)


def data(**fields):
    """Something with edge_index, as PyTorch Geometric's Data has it."""
    return types.SimpleNamespace(**fields)


def test_anything_with_an_edge_index():
    ends = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    g = tyche.from_pyg(data(edge_index=ends, x=np.array([[4], [5], [4]]), y=np.array([1]), edge_attr=np.array([7, 7, 2, 2])))
    assert g.types.tolist() == [4, 5, 4] and g.label == 1 and g.edge_labels.tolist() == [7, 7, 2, 2]
    features = tyche.from_pyg(data(edge_index=ends, x=np.eye(3), y=np.array([0.5]), edge_attr=np.ones((4, 2))))
    assert features.attributes.shape == (3, 3) and features.target.tolist() == [0.5] and features.edge_attributes.shape == (4, 2)
    assert tyche.from_pyg(data(edge_index=np.empty((2, 0)), num_nodes=2)).num_nodes == 2
    many = tyche.from_pyg([data(edge_index=ends, x=np.eye(3))] * 3)
    assert len(many) == 3 and many.attributes.shape == (9, 3)
    with pytest.raises(tyche.InputError, match="graph 1.*none back") as caught:
        tyche.from_pyg([data(edge_index=ends, num_nodes=3), data(edge_index=ends[:, :1], num_nodes=3)])
    assert caught.value.graph == 1


def test_a_list_may_mix_forms(exp):
    networkx = pytest.importorskip("networkx")
    plain = networkx.path_graph(4)
    mixed = tyche.as_set([tyche.from_graph6("Bw"), "Bw", data(edge_index=np.array([[0, 1], [1, 0]]), num_nodes=2)])
    assert [g.num_edges for g in mixed] == [3, 3, 1]
    assert tyche.as_set(["Bw", plain]).types.tolist() == [0] * 7
    with pytest.raises(tyche.InputError, match="graph 0 has no label"):
        tyche.as_set(["Bw", exp[0]])
    with pytest.raises(tyche.InputError, match="a int is no graph"):
        tyche.as_set([3])
    assert tyche.as_set(exp) is exp and tyche.as_set([exp[3], exp[1]]).labels.tolist() == [exp[3].label, exp[1].label]
    assert len(tyche.as_set([])) == 0


def test_pyg_data_both_ways(exp):
    pytest.importorskip("torch_geometric")
    for g in exp[:4]:
        assert same(tyche.from_pyg(g.to_pyg()), g)
