"""tyche.pyg: with PyTorch Geometric where it is installed, else with a stand-in of the few classes it uses."""
import copy
import importlib
import pickle
import sys
import types

import numpy as np
import pytest

import tyche

torch = pytest.importorskip("torch")


class StandIn:
    """A module in the place of torch_geometric: Data, InMemoryDataset.collate and BaseTransform."""

    class Data:
        def __init__(self, **fields):
            self.__dict__.update(fields)

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return None

        @property
        def num_nodes(self):
            return len(self.x)

    class InMemoryDataset(torch.utils.data.Dataset):
        def __init__(self, root, transform, pre_transform):
            self.transform = transform

        @property
        def edge_index(self):
            """Of all graphs, as PyTorch Geometric's has it."""
            return torch.cat([one.edge_index for one in self.data], dim=1)

        def collate(self, items):
            return items, None

        def __len__(self):
            return len(self.data)

        def __getitem__(self, at):
            return self.data[at] if self.transform is None else self.transform(copy.copy(self.data[at]))

    class BaseTransform:
        pass


@pytest.fixture
def pyg(monkeypatch):
    try:
        import torch_geometric  # noqa: F401
    except ImportError:
        parts = {"torch_geometric": {}, "torch_geometric.data": {"Data": StandIn.Data, "InMemoryDataset": StandIn.InMemoryDataset},
                 "torch_geometric.transforms": {"BaseTransform": StandIn.BaseTransform}}
        for name, own in parts.items():
            module = types.ModuleType(name)
            module.__dict__.update(own)
            monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.delitem(sys.modules, "tyche.pyg", raising=False)
    return importlib.import_module("tyche.pyg")


def test_without_pytorch_geometric_importing_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    monkeypatch.delitem(sys.modules, "tyche.pyg", raising=False)
    with pytest.raises(ImportError, match="needs PyTorch"):
        importlib.import_module("tyche.pyg")


def test_the_data_set_is_exp(pyg):
    data = pyg.EXP(pairs=4, seed=2)
    exp = tyche.datasets.exp(pairs=4, seed=2)
    assert len(data) == 8
    for i in range(8):
        assert np.array_equal(data[i].edge_index.numpy(), exp[i].edge_index)
        assert data[i].x.reshape(-1).tolist() == exp[i].types.tolist() and int(data[i].y) == exp[i].label


def test_a_data_set_or_a_batch_is_many_graphs(pyg):
    exp = tyche.datasets.exp(pairs=4, seed=2)
    data = pyg.EXP(pairs=4, seed=2)
    assert hasattr(data, "edge_index")
    batch = types.SimpleNamespace(edge_index=data[0].edge_index, to_data_list=lambda: [data[i] for i in range(8)])
    subset = torch.utils.data.Subset(data, [3, 0])
    for given in (data, batch, tyche.from_pyg(data)):
        back = tyche.as_set(given)
        assert np.array_equal(back.neighbours, exp.neighbours) and np.array_equal(back.labels, exp.labels)
    assert [g.label for g in tyche.from_pyg(subset)] == [exp[3].label, exp[0].label]
    small = dict(rni=0.5, width=8, layers=1, epochs=1, device="cpu", recipe="paper")
    fitted = tyche.GraphClassifier(**small).fit(data)
    assert np.array_equal(fitted.predict_proba(data), tyche.GraphClassifier(**small).fit(exp).predict_proba(exp))


def test_a_batch_of_pytorch_geometrics_is_many_graphs(pyg):
    pytest.importorskip("torch_geometric.loader")
    from torch_geometric.loader import DataLoader

    exp = tyche.datasets.exp(pairs=4, seed=2)
    batches = list(DataLoader(pyg.EXP(pairs=4, seed=2), batch_size=4))
    assert [tyche.as_set(batch).labels.tolist() for batch in batches] == [exp.labels[:4].tolist(), exp.labels[4:].tolist()]
    assert np.array_equal(tyche.as_set(batches[1]).neighbours, exp[4:].neighbours)


def test_columns_are_those_of_training_whatever_the_order(pyg):
    exp = tyche.datasets.exp(pairs=4, seed=2)
    data = pyg.EXP(pairs=4, seed=2, transform=pyg.AddIndividualisedColours(seed=5))
    for call in (1, 2, 3):
        for i in np.random.RandomState(call).permutation(8):
            x = data[int(i)].x
            expected = tyche.random_columns(exp[int(i)], "colours", seed=5, epoch=call, ids=[int(i)])
            assert x.shape == (exp[int(i)].num_nodes, 17) and np.array_equal(x[:, 1:].numpy(), expected)
            assert np.array_equal(x[:, 0].numpy(), exp[int(i)].types)


def test_features_types_and_marks(pyg):
    one = tyche.datasets.exp(pairs=1)[0].to_pyg()
    noise = pyg.AddRandomFeatures(8, seed=3, types=2)(one)
    assert noise.x.shape[1] == 10 and set(noise.x[:, :2].sum(1).tolist()) == {1.0}
    marks = pyg.AddIndividualisedColours(2, random="marks")(one)
    assert marks.x.shape[1] == 3 and one.x.shape[1] == 1
    both = pyg.AddRandomFeatures(4)(pyg.AddIndividualisedColours()(one))
    assert both.x.shape[1] == 1 + 16 + 4
    with pytest.raises(tyche.InputError):
        pyg.AddIndividualisedColours(random="features")


def test_a_transform_goes_to_other_processes_with_its_counts(pyg):
    one = tyche.datasets.exp(pairs=1)[0].to_pyg()
    transform = pyg.AddIndividualisedColours(seed=1)
    first = transform(one).x
    other = pickle.loads(pickle.dumps(transform))
    assert torch.equal(other(one).x, transform(one).x)
    transform.reset()
    assert torch.equal(transform(one).x, first)
