"""Sets of graphs: views without copies, parts, files, errors."""
import gc
import pickle

import numpy as np
import pytest

import tyche


def address(array):
    return array.__array_interface__["data"][0]


def test_set_arrays_are_views_of_the_librarys_memory(exp):
    for name in ("ptr", "offsets", "neighbours", "types", "edge_index", "labels"):
        again = exp._handle.array(name)
        assert address(getattr(exp, name)) == address(again), name
        assert not getattr(exp, name).flags.writeable and not getattr(exp, name).flags.owndata
    with pytest.raises(ValueError):
        exp.neighbours[0] = 1


def test_graphs_and_slices_share_that_memory(exp):
    g = exp[3]
    first = int(exp.offsets[int(exp.ptr[3])])
    assert address(g.edge_index) == address(exp.edge_index) + 8 * first
    part = exp[2:6]
    assert address(part.neighbours) == address(exp.neighbours) + 4 * int(exp.offsets[int(exp.ptr[2])])
    assert address(part.edge_index) == address(exp.edge_index) + 8 * int(exp.offsets[int(exp.ptr[2])])
    assert np.array_equal(part[1].edge_index, g.edge_index) and part.ptr[0] == 0 and part.offsets[0] == 0
    assert np.array_equal(part[1:3].labels, exp.labels[3:5])


def test_a_view_keeps_the_memory_alive():
    gc.collect()  # what tests before this one left in cycles
    before = tyche._library.live_handles()
    graphs = tyche.datasets.exp(pairs=2)
    expected = np.array(graphs.neighbours)
    view = graphs.neighbours
    del graphs
    gc.collect()
    assert np.array_equal(view, expected)
    assert tyche._library.live_handles() == before + 1
    del view
    gc.collect()
    assert tyche._library.live_handles() == before


def test_parts_by_number_list_and_mask(exp):
    assert exp[-1].num_nodes == exp[len(exp) - 1].num_nodes
    chosen = exp[[5, 0, 5]]
    assert [g.label for g in chosen] == [exp[5].label, exp[0].label, exp[5].label]
    assert np.array_equal(chosen[0].edge_index, exp[5].edge_index)
    mask = exp.labels == 1
    assert set(exp[mask].labels.tolist()) == {1} and len(exp[mask]) == mask.sum()
    assert len(exp[::2]) == len(exp) // 2 and len(exp[::-1]) == len(exp) and len(exp[[]]) == 0
    assert np.array_equal(exp[::-1][0].edge_index, exp[len(exp) - 1].edge_index)
    assert [g.num_nodes for g in exp[4:12][[1, 3]]] == [exp[5].num_nodes, exp[7].num_nodes]
    assert np.array_equal(exp[np.array([3, 1]), ...].labels, exp[[3, 1]].labels)  # as scikit-learn asks from 1.3 on
    assert exp[:0].labels.shape == (0,) and exp[:0].ptr.tolist() == [0] and exp[:0].edge_index.shape == (2, 0)
    for wrong in (len(exp), -len(exp) - 1):
        with pytest.raises(IndexError):
            exp[wrong]
    with pytest.raises(IndexError):
        exp[[0, len(exp)]]


def test_generating_and_reading_give_what_the_program_gives(program, tmp_path):
    program("generate", "exp", "--pairs", 7, "--seed", 2, "--out", tmp_path / "exp")
    read, made = tyche.datasets.read(tmp_path / "exp"), tyche.datasets.exp(pairs=7, seed=2)
    for name in ("ptr", "offsets", "neighbours", "types", "edge_index", "labels"):
        assert np.array_equal(getattr(read, name), getattr(made, name)), name
    kept = tyche.datasets.exp(pairs=7, seed=2, folder=tmp_path / "own")
    assert (tmp_path / "own/graphs.txt").read_bytes() == (tmp_path / "exp/graphs.txt").read_bytes()
    assert np.array_equal(kept.neighbours, made.neighbours)


def test_every_data_set_is_made():
    assert set(tyche.datasets.cexp(pairs=4, seed=1).subsets) == {"EXP", "CORRUPT"}
    assert len(tyche.datasets.sparse_exp(pairs=2)) == 4
    ladder = tyche.datasets.tseitin(pairs=2, base_nodes=4)
    assert not tyche.wl(ladder[0], ladder[1], dim=2)
    csl = tyche.datasets.csl(copies=2)
    assert sorted(set(csl.labels.tolist())) == list(range(10))


def test_a_set_is_written_and_read_back(exp, tmp_path):
    exp.write(tmp_path / "exp.txt")
    again = tyche.datasets.read(tmp_path / "exp.txt")
    assert np.array_equal(again.neighbours, exp.neighbours) and np.array_equal(again.labels, exp.labels)
    with pytest.raises(tyche.InputError):
        exp.write(tmp_path / "x", "no such format")


def test_a_set_survives_pickling(exp):
    again = pickle.loads(pickle.dumps(exp[4:9]))
    part = exp[4:9]
    for name in ("ptr", "offsets", "neighbours", "types", "labels"):
        assert np.array_equal(getattr(again, name), getattr(part, name)), name


@pytest.mark.parametrize("arguments, graph, words", [
    (dict(node_ptr=[0, 2, 4], edge_ptr=[0, 1, 2], edge_index=[[0, 0], [1, 7]]), 1, "joins 0 and 7"),
    (dict(node_ptr=[0, 2, 4], edge_ptr=[0, 1, 2], edge_index=[[0, -1], [1, 0]]), 1, "joins -1 and 0"),
    (dict(node_ptr=[0, 2], edge_ptr=[0, 1], edge_index=[[1], [1]]), 0, "loops"),
    (dict(node_ptr=[0, 3], edge_ptr=[0, 2], edge_index=[[0, 1], [1, 0]]), 0, "2 times"),
    (dict(node_ptr=[0, 3], edge_ptr=[0, 1], edge_index=[[0], [1]], both_ways=True), 0, "none back"),
    (dict(node_ptr=[0, 3], edge_ptr=[0, 2], edge_index=[[0, 1], [1, 0]], both_ways=True, edge_labels=[1, 2]), 0, "one way"),
    (dict(node_ptr=[0, 3], edge_ptr=[0, 0], edge_index=[[], []], types=[1]), None, "one row for each of 3 nodes"),
    (dict(node_ptr=[0, 3], edge_ptr=[0, 5], edge_index=[[0], [1]]), 0, "edge_ptr"),
    (dict(node_ptr=[0, 10**12], edge_ptr=[0, 0], edge_index=[[], []]), None, "GB"),
    (dict(node_ptr=[0, 2], edge_ptr=[0, 1], edge_index=[[0.5], [1]]), None, "whole numbers"),
])
def test_wrong_arrays_are_input_errors_that_name_the_graph(arguments, graph, words):
    with pytest.raises(tyche.InputError, match=words) as caught:
        tyche.GraphSet.from_arrays(**{"both_ways": False, **arguments})
    assert caught.value.graph == graph
    assert isinstance(caught.value, ValueError)


def test_dirty_files_are_cleaned_on_request(tmp_path):
    (tmp_path / "loop.txt").write_text("1\n3 0\n0 1 0\n0 1 2\n0 1 1\n")  # node 0 is its own neighbour
    with pytest.raises(tyche.InputError, match="the option clean"):
        tyche.datasets.read(tmp_path / "loop.txt", "gin")
    assert tyche.datasets.read(tmp_path / "loop.txt", "gin", clean=True)[0].edges.tolist() == [[1, 2]]


def test_what_cannot_be_read_is_said():
    with pytest.raises(tyche.IoError, match="/no/such"):
        tyche.datasets.read("/no/such/file.g6")
    with pytest.raises(tyche.InputError, match="did you mean"):
        tyche.train(tyche.datasets.exp(pairs=2), wdith=3)
    with pytest.raises(tyche.InputError):
        tyche.datasets.exp(pairs=-3)


def test_edge_labels_attributes_and_targets_are_kept():
    s = tyche.GraphSet.from_arrays([0, 3], [0, 2], [[2, 0], [1, 1]], both_ways=False, edge_labels=[7, 4],
                                   edge_attributes=[[0.5], [1.5]], targets=[[1.0, 2.0]], attributes=[[1], [2], [3]])
    assert s.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert s.edge_labels.tolist() == [4, 4, 7, 7] and s.edge_attributes[:, 0].tolist() == [1.5, 1.5, 0.5, 0.5]
    assert s.targets.tolist() == [[1, 2]] and s[0].attributes.tolist() == [[1], [2], [3]]


def test_packed_files_are_read_written_and_made_of_others(tmp_path):
    graphs = tyche.datasets.counting(graphs=30, seed=3)
    graphs.write(tmp_path / "set.tyche", "packed")
    graphs.write(tmp_path / "set.jsonl", "jsonl")
    packed = tyche.pack(tmp_path / "set.jsonl", tmp_path / "other.tyche")
    assert (tmp_path / "set.tyche").read_bytes() == (tmp_path / "other.tyche").read_bytes()
    for read in (packed, tyche.datasets.read(tmp_path / "set.tyche")):
        assert len(read) == 30 and read._info["hash"] == graphs._info["hash"]
        assert np.array_equal(read.neighbours, graphs.neighbours) and np.array_equal(read.targets, graphs.targets)
    (tmp_path / "loop.jsonl").write_text('{"nodes": 2, "edges": [[0, 0], [0, 1]]}\n')
    with pytest.raises(tyche.InputError, match="loop.jsonl: line 1"):
        tyche.pack(tmp_path / "loop.jsonl", tmp_path / "other.tyche")
    assert len(tyche.datasets.read(tmp_path / "other.tyche")) == 30  # what was there is there
    assert tyche.pack(tmp_path / "loop.jsonl", tmp_path / "other.tyche", clean=True)[0].edges.tolist() == [[0, 1]]
    (tmp_path / "set.tyche").write_bytes((tmp_path / "set.tyche").read_bytes()[:-9])
    with pytest.raises(tyche.InputError, match="set.tyche: .*cut short"):
        tyche.datasets.read(tmp_path / "set.tyche")
