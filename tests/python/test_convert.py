"""Conversions both ways."""
import pickle
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


@pytest.fixture
def rich():
    """Two graphs with everything that a set can hold."""
    ends = np.array([[0, 1, 1, 2, 0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 1, 0, 2, 1, 3, 2]])
    edges = np.array([3, 3, 0, 0, 1, 1, 2, 2, 4, 4])
    return tyche.GraphSet.from_arrays(
        [0, 3, 7], [0, 4, 10], ends, types=[1, 0, 2, 0, 0, 1, 5], attributes=np.arange(14).reshape(7, 2) / 4, labels=[1, 0],
        edge_labels=edges, edge_attributes=edges.reshape(-1, 1) / 8, targets=[[0.5, 2.0], [np.nan, -1.0]])


def test_everything_comes_back_from_networkx(rich):
    pytest.importorskip("networkx")
    back = tyche.from_networkx(rich.to_networkx())
    for name in ("ptr", "neighbours", "types", "edge_labels", "attributes", "edge_attributes", "labels"):
        assert np.array_equal(getattr(back, name), getattr(rich, name)), name
    assert np.array_equal(back.targets, rich.targets, equal_nan=True)


def test_networkx_keeps_weights_and_features():
    networkx = pytest.importorskip("networkx")
    g = networkx.Graph(y=2.5)
    g.add_node("a", charge=0.5, pos=[1.0, 2.0], aromatic=True)
    g.add_node("b", charge=-0.5, pos=[3.0, 4.0], aromatic=False)
    g.add_node("c", charge=0.0, pos=[5.0, 6.0], aromatic=False)
    g.add_edge("a", "b", weight=0.25)
    g.add_edge("b", "c", weight=4.0)
    own = tyche.from_networkx(g)
    assert own.attributes.tolist() == [[1, 0.5, 1, 2], [0, -0.5, 3, 4], [0, 0, 5, 6]]  # aromatic, charge, pos
    assert own.weights.tolist() == [0.25, 0.25, 4.0, 4.0] and own.target.tolist() == [2.5]
    less = tyche.from_networkx(g, ignore=("weight", "pos", "aromatic"))
    assert less.weights is None and less.edge_attributes is None and less.attributes.tolist() == [[0.5], [-0.5], [0.0]]
    # A network that is asked to learn sees them, too.
    assert tyche.as_set([g]).attributes.shape == (3, 4)


def nodes_of(**attributes):
    import networkx

    g = networkx.path_graph(3)
    for name, values in attributes.items():
        for v, value in enumerate(values):
            if value is not None:
                g.nodes[v][name] = value
    return g


@pytest.mark.parametrize("attributes, words", [
    (dict(name=["C", "N", "O"]), "nodes have name: expected numbers.*ignore=\\('name',\\) leaves it out"),
    (dict(atom=[6, 7, 8]), "'atom' of nodes is a whole number.*types='atom'.*columns='floats'.*ignore=\\('atom',\\)"),
    (dict(charge=[0.5, None, 1.0]), "'charge' is on 2 of 3 nodes.*ignore"),
    (dict(y=[0.5, 1.0, 2.0]), "'y' is of each node.*node_label.*ignore=\\('y',\\)"),
    (dict(label=[0, 1, 0]), "'label' is of each node.*ignore=\\('label',\\)"),
    (dict(mixed=[[1.0], [1.0, 2.0], [3.0]]), "nodes have mixed.*ignore"),
])
def test_networkx_names_what_it_cannot_keep(attributes, words):
    pytest.importorskip("networkx")
    with pytest.raises(tyche.InputError, match=words):
        tyche.from_networkx(nodes_of(**attributes))
    assert tyche.from_networkx(nodes_of(**attributes), ignore=list(attributes)).attributes is None


def test_networkx_takes_whole_numbers_as_it_is_told():
    networkx = pytest.importorskip("networkx")
    g = nodes_of(atom=[6, 7, 8])
    networkx.set_edge_attributes(g, {(0, 1): 1, (1, 2): 2}, "bond")
    with pytest.raises(tyche.InputError, match="'bond' of edges is a whole number.*edge_labels='bond'"):
        tyche.from_networkx(g, types="atom")
    own = tyche.from_networkx(g, types="atom", edge_labels="bond")
    assert own.types.tolist() == [6, 7, 8] and own.edge_labels.tolist() == [1, 1, 2, 2]
    own = tyche.from_networkx(g, columns="floats")
    assert own.attributes.tolist() == [[6], [7], [8]] and own.edge_attributes.tolist() == [[1], [1], [2], [2]]
    with pytest.raises(tyche.InputError, match="columns: expected 'floats'"):
        tyche.from_networkx(g, columns="ints")
    g = networkx.path_graph(2)
    g.graph["energy"] = 1.5
    with pytest.raises(tyche.InputError, match="'energy' is a number of the graph"):
        tyche.from_networkx(g)
    assert tyche.from_networkx(g, ignore="energy").num_edges == 1
    assert tyche.from_networkx(networkx.path_graph(2)).num_edges == 1


def test_networkx_graphs_of_one_set_have_the_same_attributes():
    pytest.importorskip("networkx")
    one, other = nodes_of(mass=[1.0, 2.0, 3.0]), nodes_of(size=[1.0, 2.0, 3.0])
    with pytest.raises(tyche.InputError, match="graph 1: attributes of nodes are size; graph 0 has mass"):
        tyche.from_networkx([one, other])
    with pytest.raises(tyche.InputError, match="graph 1: attributes of nodes are none; graph 0 has mass"):
        tyche.from_networkx([one, nodes_of()])


ENDS = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])


def test_pyg_keeps_weights_beside_attributes():
    own = tyche.from_pyg(data(edge_index=ENDS, num_nodes=3, edge_weight=np.array([0.5, 0.5, 2.0, 2.0])))
    assert own.weights.tolist() == [0.5, 0.5, 2.0, 2.0] and own.edge_attributes is None
    both = data(edge_index=ENDS, num_nodes=3, edge_weight=np.array([0.5, 0.5, 2.0, 2.0]), edge_attr=np.ones((4, 1)))
    assert tyche.from_pyg(both).edge_attributes.tolist() == [[1]] * 4
    assert tyche.from_pyg(both).weights.tolist() == [0.5, 0.5, 2.0, 2.0]
    both.edge_attr = np.ones((4, 1), int)  # labels, beside which a weight is an attribute
    assert tyche.from_pyg(both).edge_attributes.tolist() == [[0.5], [0.5], [2.0], [2.0]]
    assert tyche.from_pyg(both, ignore="edge_weight").edge_attributes is None


@pytest.mark.parametrize("fields, words", [
    (dict(x=-np.ones((3, 9), int)), "'x' has 9 columns of whole numbers.*columns='floats'.*ignore=\\('x',\\)"),
    (dict(edge_attr=-np.ones((4, 3), int)), "'edge_attr' has 3 columns of whole numbers.*ignore=\\('edge_attr',\\)"),
    (dict(pos=np.ones((3, 3))), "'pos' has a row for each node.*ignore=\\('pos',\\)"),
    (dict(strength=np.ones(4)), "'strength' has a row for each edge"),
])
def test_pyg_names_what_it_cannot_keep(fields, words):
    item = data(edge_index=ENDS, num_nodes=3, **fields)
    for read in (tyche.from_pyg, tyche.as_set):
        with pytest.raises(tyche.InputError, match=words):
            read([item])
    assert tyche.from_pyg(item, ignore=tuple(fields)).num_nodes == 3
    if "x" in fields:
        assert tyche.from_pyg(item, columns="floats").attributes.shape == (3, 9)


def test_pyg_columns_of_whole_numbers_are_categories_and_come_back():
    x, edge_attr = np.array([[6, 0, 3], [6, 1, 1], [8, 0, 1]]), np.array([[1, 0], [1, 0], [2, 5], [2, 5]])
    own = tyche.as_set([data(edge_index=ENDS, num_nodes=3, x=x, edge_attr=edge_attr, y=np.array([1]))])
    assert own.categories.tolist() == x.tolist() and own.types.tolist() == [6, 6, 8]
    assert own.edge_categories.tolist() == edge_attr.tolist() and own.attributes is None
    assert own[0].categories.tolist() == x.tolist() and own[:1].edge_categories.shape == (4, 2)
    assert pickle.loads(pickle.dumps(own)).categories.tolist() == x.tolist()
    assert tyche.as_set([own[0], own[0]]).categories.shape == (6, 3)
    back = tyche.from_networkx(own[0].to_networkx())
    assert back.categories.tolist() == x.tolist() and back.edge_categories.tolist() == edge_attr.tolist()
    assert tyche.from_pyg(data(edge_index=ENDS, num_nodes=3, x=np.eye(3, dtype=int))).attributes.shape == (3, 3), "words"
    with pytest.raises(tyche.InputError, match="graph 0: a category of nodes is 0.5|types: expected whole numbers"):
        tyche.GraphSet.from_arrays([0, 1], [0, 0], np.empty((2, 0), int), types=np.array([[1, 0.5]]))


def test_refinement_sees_all_categories():
    twice = tyche.GraphSet.from_arrays([0, 2, 4], [0, 1, 2], [[0, 0], [1, 1]], both_ways=False,
                                       types=[[1, 2], [1, 3], [1, 3], [1, 3]])
    assert tyche.wl(twice[0], twice[1]).distinguished
    assert not tyche.wl(twice[1], twice[1]).distinguished


def test_pyg_takes_what_says_nothing_of_nodes():
    item = data(edge_index=ENDS, num_nodes=3, smiles="CCO", idx=np.array([7]), y=np.array([[0.5, 1.5, 2.5]]))
    assert tyche.from_pyg(item).target.tolist() == [0.5, 1.5, 2.5]


def test_scipy_weights_are_kept_or_left_out_by_name():
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_matrix(np.array([[0, 0.5, 0], [0.5, 0, 2], [0, 2, 0]]))
    assert tyche.from_scipy(matrix).weights.tolist() == [0.5, 0.5, 2.0, 2.0]
    assert tyche.from_scipy(matrix, columns="floats").edge_attributes.tolist() == [[0.5], [0.5], [2.0], [2.0]]
    assert tyche.from_scipy(matrix, ignore="weight").edge_attributes is None
    assert tyche.from_scipy(matrix != 0).num_edges == 2


def test_scipy_entries_that_are_zero_are_no_edges():
    sparse = pytest.importorskip("scipy.sparse")
    rows, columns = np.array([0, 1, 1, 2, 0, 2]), np.array([1, 0, 2, 1, 2, 0])
    graph = tyche.from_scipy(sparse.coo_matrix((np.array([1, 1, 1, 1, 0, 0]), (rows, columns)), shape=(3, 3)))
    assert graph.num_nodes == 3 and graph.edges.tolist() == [[0, 1], [1, 2]]


def test_everything_comes_back_from_pyg(rich):
    pytest.importorskip("torch_geometric")
    back = tyche.from_pyg(rich.to_pyg())
    for name in ("ptr", "neighbours", "types", "edge_labels", "attributes", "edge_attributes", "labels"):
        assert np.array_equal(getattr(back, name), getattr(rich, name)), name
    assert np.array_equal(back.targets, rich.targets, equal_nan=True)
