#!/bin/sh
# check_wheel.sh WHEEL|TREE: installs a wheel, or by pip the source tree, into an empty virtual environment, away from the
# tree and without network, and uses it. NumPy is Debian's, by way of a folder that holds nothing else.
set -eu
wheel="$(realpath "${1:?usage: check_wheel.sh WHEEL|TREE}")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m venv "$work/venv"
mkdir "$work/numpy"
ln -s /usr/lib/python3/dist-packages/numpy "$work/numpy/numpy"
cd "$work"
# pip may take what it built of this version before.
venv/bin/pip install --quiet --no-cache-dir --no-index --no-deps "$wheel"
env -u TYCHE_LIBRARY -u LD_LIBRARY_PATH PYTHONPATH="$work/numpy" venv/bin/python - <<'PY'
import pathlib, re, sys
import numpy
maps = lambda: {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
before = maps()
import tyche
beside = pathlib.Path(tyche.__file__).parent / "_lib"
assert [path.name for path in beside.iterdir()] == ["libtyche_c.so"], list(beside.iterdir())
glibc = re.compile(r"/(lib(c|m|dl|rt|pthread)|ld-linux.*)\.so|/lib-dynload/")  # and Python's own modules
foreign = {name for name in maps() - before if str(beside) not in name and not glibc.search(name)}
assert not foreign, f"loaded beside the library: {foreign}"
exp = tyche.datasets.exp(pairs=10)
clf = tyche.GraphClassifier(random="colours", width=8, layers=2, epochs=2).fit(exp)
assert tyche.wl(exp, pairs=True, dim=2)[0] and clf.predict(exp, draws=2).shape == (20,)
try:
    tyche.from_graph6("?not graph6")
except tyche.InputError as error:  # an exception crosses the library and becomes a status
    assert "graph6" in str(error), error
else:
    raise AssertionError("a bad graph6 string was taken")
print(f"the wheel works: tyche {tyche.__version__}, Python {sys.version.split()[0]}")
PY
