"""What may come in and must not: an InputError that names the graph, never a wrong answer, never a crash."""
import os
import pathlib
import random
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

import tyche

SMALL = dict(width=8, layers=1, epochs=2, device="cpu")
PAIR = np.array([[0, 1], [1, 0]])


def data(**fields):
    """Something with edge_index, as PyTorch Geometric's Data has it."""
    return types.SimpleNamespace(**{"edge_index": PAIR, "num_nodes": 2, **fields})


@pytest.mark.parametrize("fields, words", [
    (dict(edge_index=np.array([[0, np.nan], [1, 0]])), "edge_index: expected whole numbers, found nan"),
    (dict(edge_index=np.array([[0, 0.5], [1, 0]])), "edge_index: expected whole numbers, found 0.5"),
    (dict(edge_index=np.array([["0", "1"], ["1", "0"]])), "edge_index: expected numbers"),
    (dict(edge_index=[[0, 1], [1]]), "edge_index: expected an array of numbers"),
    (dict(edge_index=[[None, 1], [1, None]]), "edge_index: expected numbers, found None"),
    (dict(edge_index=None), "edge_index is None"),
    (dict(edge_index=np.zeros((3, 2), int)), "edge_index: expected two rows"),
    (dict(edge_index=np.array([[2**63, 1], [1, 2**63]], np.uint64)), "edge_index: expected numbers from"),
    (dict(edge_index=PAIR.astype(complex)), "edge_index: expected numbers"),
    (dict(num_nodes=10**30), "number of nodes: expected 0 to"),
    (dict(num_nodes=-1), "number of nodes: expected 0 to"),
    (dict(num_nodes=2.7), "number of nodes: expected a whole number"),
    (dict(num_nodes="two"), "number of nodes: expected a whole number"),
    (dict(x=np.array([-1, 2])), "types: expected numbers from 0"),
    (dict(x=np.array(["C", "O"])), "x: expected numbers, found 'C'"),
    (dict(x=[[1], [1, 2]]), "x: expected an array of numbers"),
    (dict(x=np.ones((2, 1, 2))), "x: expected one row for each"),
    (dict(edge_attr=np.ones((3, 2))), "3 rows of edge attributes, expected 2"),
    (dict(edge_attr=np.ones((2, 1, 2))), "edge_attr: expected one row for each"),
    (dict(y="sat"), "y: expected numbers, found 'sat'"),
    (dict(y=2**40), "label: expected"),
])
def test_the_graph_of_a_list_that_is_wrong_is_named(fields, words):
    fine = {key: {"x": [1, 2], "y": 0, "edge_attr": np.ones((2, 2))}[key] for key in fields if key in ("x", "y", "edge_attr")}
    with pytest.raises(tyche.InputError, match="graph 1: " + words) as caught:
        tyche.from_pyg([data(**fine), data(**fields)])
    assert caught.value.graph == 1


def test_columns_that_differ_between_graphs_name_the_first_that_differs():
    with pytest.raises(tyche.InputError, match="graph 2: 3 columns of attributes, graphs before it have 2") as caught:
        tyche.from_pyg([data(x=np.ones((2, k))) for k in (2, 2, 3)])
    assert caught.value.graph == 2


def test_attributes_of_networkx_that_are_no_numbers():
    networkx = pytest.importorskip("networkx")

    def with_attribute(kind, value):
        graph = networkx.path_graph(2)
        {"node": lambda: networkx.set_node_attributes(graph, value, "type"),
         "edge": lambda: networkx.set_edge_attributes(graph, value, "label"),
         "graph": lambda: graph.graph.update(label=value)}[kind]()
        return graph

    for kind, words in [("node", "types: expected numbers, found 'C'"), ("edge", "edge labels: expected numbers, found 'C'"),
                        ("graph", "label: expected a whole number, found 'C'")]:
        with pytest.raises(tyche.InputError, match="graph 1: " + words) as caught:
            tyche.as_set([with_attribute(kind, 1), with_attribute(kind, "C")])
        assert caught.value.graph == 1


@pytest.mark.parametrize("edges", [[(0, 1, 2), (3, 4, 5)], [0, 1, 2, 3], [(0, 1), (2,)], [("a", "b")], [(0, 1.5)]])
def test_edges_are_pairs_of_whole_numbers(edges):
    with pytest.raises(tyche.InputError, match="edges: expected"):
        tyche.from_edges(6, edges)


def test_a_set_where_one_graph_is_meant(exp):
    for wrong in (lambda: tyche.wl(exp, exp), lambda: tyche.as_graph(exp), lambda: tyche.as_set([exp, exp])):
        with pytest.raises(tyche.InputError, match="a GraphSet of 40 graphs is no graph"):
            wrong()
    assert tyche.as_graph(exp[3:4]).num_nodes == exp[3].num_nodes
    both = tyche.as_set(list(exp[:2]) + list(tyche.datasets.exp(pairs=1)))
    assert len(both) == 4


def test_classes_that_are_none(exp):
    clf = tyche.GraphClassifier(rni=0.5, **SMALL).fit(exp)
    labels = exp.labels.astype(float)
    labels[7] = np.nan
    with pytest.raises(tyche.InputError, match="graph 7 has no class") as caught:
        tyche.GraphClassifier().fit(exp, labels)
    assert caught.value.graph == 7
    for mixed in (["a", None] * 20, [None] * 40):
        with pytest.raises(tyche.InputError, match="classes of one kind"):
            tyche.GraphClassifier().fit(exp, mixed)
    with pytest.raises(tyche.InputError, match="one class for each of 40 graphs"):
        clf.score(exp, [0, 1])
    with pytest.raises(tyche.InputError, match="no graphs to score"):
        clf.score(exp[:0])
    reg = tyche.GraphRegressor(**SMALL).fit(exp, np.arange(40.0))
    with pytest.raises(tyche.InputError, match="a row of 1 for each of 40 graphs"):
        reg.score(exp, [0, 1])
    with pytest.raises(tyche.InputError, match="expected numbers, found 'a'"):
        reg.fit(exp, ["a"] * 40)


def test_numbers_and_texts_that_the_library_would_cut_off(exp):
    for ids in ([-1] * 40, [0.5] * 40, [2**32] * 40):
        with pytest.raises(tyche.InputError, match="ids: expected"):
            tyche.random_columns(exp, ids=ids)
    for formula in ("exists x. E(x,x)\0", None, "\ud800"):
        with pytest.raises(tyche.InputError, match="formula"):
            tyche.theory.check(formula, exp[0])
    with pytest.raises(tyche.InputError):
        tyche.from_graph6("\ud800")
    for index in ((1, 2), 1.5, None, "a", [[0]], [[0], [1, 2]], True):
        with pytest.raises(tyche.InputError, match="expected a number, a slice"):
            exp[index]


def test_certifying_a_set_names_no_file_of_its_own(exp):
    with pytest.raises(tyche.InputError, match="exp: 3 graphs do not make pairs"):
        tyche.certify(exp[:3])


def test_parts_of_parts_are_what_lists_give(exp):
    rng = random.Random(1)

    def some(size):
        return rng.choice([None] + list(range(-size - 2, size + 3)))

    for _ in range(100):
        part, numbers = exp, list(range(len(exp)))
        for _ in range(4):
            how = rng.randrange(3)
            if how == 0:
                at = slice(some(len(numbers)), some(len(numbers)), rng.choice([None, 1, 2, -1, -2, 3]))
                part, numbers = part[at], numbers[at]
            elif how == 1:
                mask = np.array([rng.random() < 0.7 for _ in numbers], bool)
                part, numbers = part[mask], [n for n, yes in zip(numbers, mask) if yes]
            elif numbers:
                chosen = [rng.randrange(-len(numbers), len(numbers)) for _ in range(rng.randrange(5))]
                part, numbers = part[chosen], [numbers[i] for i in chosen]
        assert part.labels.tolist() == [exp[n].label for n in numbers] and len(part) == len(numbers)
        assert part.num_nodes == sum(exp[n].num_nodes for n in numbers) == len(part.types) == len(part.offsets) - 1
        assert part.edge_index.shape == (2, sum(2 * exp[n].num_edges for n in numbers))
        assert all(np.array_equal(g.edge_index, exp[n].edge_index) for g, n in zip(part, numbers))


def test_threads_use_one_set_at_once_and_hear_their_own_errors(exp):
    clf = tyche.GraphClassifier(rni=0.5, **SMALL).fit(exp)
    part = exp[2:9]
    expected = clf.predict_proba(part, 2), int(part.edge_index.sum())
    wrong = []

    def work(i):
        try:
            for _ in range(5):
                assert int(exp[2:9].edge_index.sum()) == expected[1]
                assert np.array_equal(clf.predict_proba(part, 2), expected[0])
                with pytest.raises(tyche.InputError, match=f"joins 0 and {7 + i};"):
                    tyche.from_edges(3, [(0, 7 + i)])
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def run_alone(script, timeout=120):
    """A script in a process of its own, whose signals and forks touch nobody else."""
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(tyche.__file__).parents[1]) + ":" + os.environ.get("PYTHONPATH", "")}
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", "import os, signal, sys, threading, time, tyche\n" + script],
                          capture_output=True, text=True, env=environment, timeout=timeout)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_forked_process_goes_on_by_itself():
    assert run_alone("""
exp = tyche.datasets.exp(pairs=4)
fit = lambda: tyche.GraphClassifier(rni=0.5, width=8, layers=1, epochs=1, device="cpu").fit(exp)
expected = fit().predict_proba(exp).tolist()
done = threading.Event()
def beside():
    while not done.is_set():
        fit()
thread = threading.Thread(target=beside)
thread.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(7 if fit().predict_proba(exp).tolist() == expected else 8)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done.set()
thread.join()
""").split() == ["7"] * 5


@pytest.mark.parametrize("call", [
    "tyche.datasets.exp(pairs=10**6)",
    "tyche.individualise(exp, draws=4 * 10**5, threads=1)",
    "clf.predict(exp, draws=10**7)",
    "clf.set_params(epochs=10**6).fit(exp)",
    "tyche.distinguish(exp, random='colours', epochs=10**6, device='cpu')",
])
def test_ctrl_c_ends_long_calls(call):
    said = run_alone(f"""
exp = tyche.datasets.exp(pairs=4)
clf = tyche.GraphClassifier(rni=0.5, width=8, layers=1, epochs=1, device="cpu").fit(exp)
def press():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)
try:
    threading.Thread(target=press, daemon=True).start()
    begun = time.monotonic()
    {call}
    print("not stopped")
except KeyboardInterrupt:
    took = time.monotonic() - begun
    try:
        time.sleep(0.5)
    except KeyboardInterrupt:
        pass
    print(threading.active_count() <= 2, took < 120, len(tyche.colours(exp)) == exp.num_nodes)
""", timeout=600)
    assert said == "True True True\n"


def test_ctrl_c_is_heard_by_a_call_that_is_about_to_begin():
    assert run_alone("""
from tyche._library import _beside_main
asked = threading.Event()
def work():
    time.sleep(0.5)           # Ctrl-C comes now
    asked.clear()             # a call that begins forgets what was asked before it
    if asked.wait(60): print("stopped")
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    _beside_main(work, asked.set)
except KeyboardInterrupt:
    print("raised")
""", timeout=600) == "stopped\nraised\n"


def test_a_handler_of_another_signal_may_raise():
    assert run_alone("""
class Late(Exception): pass
def late(*_): raise Late()
signal.signal(signal.SIGALRM, late)
exp = tyche.datasets.exp(pairs=4)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    tyche.GraphClassifier(width=8, layers=1, epochs=10**6, device="cpu").fit(exp)
except Late:
    print("late", threading.active_count())
""") == "late 1\n"
