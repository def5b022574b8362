#!/bin/sh
# check_wheel.sh WHEEL: installs a wheel into an empty virtual environment, away from the tree, and uses it. NumPy is Debian's
# (nothing can be downloaded here), by way of a folder that holds nothing else.
set -eu
wheel="$(realpath "${1:?usage: check_wheel.sh WHEEL}")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m venv "$work/venv"
mkdir "$work/numpy"
ln -s /usr/lib/python3/dist-packages/numpy "$work/numpy/numpy"
cd "$work"
venv/bin/pip install --quiet --no-index --no-deps "$wheel"
env -u TYCHE_LIBRARY -u LD_LIBRARY_PATH PYTHONPATH="$work/numpy" venv/bin/python - <<'PY'
import ctypes, pathlib, sys
import numpy
maps = lambda: {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
# What Python has loaded already (Debian's, expat) serves us too: a process has one library of a name.
before = {pathlib.Path(name).name.split(".so")[0] for name in maps()}
import tyche
beside = pathlib.Path(tyche.__file__).parent / "_lib"
loaded = maps()
for library in beside.glob("*.so*"):
    if library.name.split(".so")[0] in before: continue
    assert str(library) in loaded, f"{library.name} travels, but another one is used"
foreign = [name for name in loaded if ("bliss" in name or "gmp" in name or "fmt" in name) and str(beside) not in name]
assert not foreign, foreign
assert not [name for name in loaded if "libblis" in name], "threadpoolctl would take this for BLIS"
exp = tyche.datasets.exp(pairs=10)
clf = tyche.GraphClassifier(random="colours", width=8, layers=2, epochs=2).fit(exp)
assert tyche.wl(exp, pairs=True, dim=2)[0] and clf.predict(exp, draws=2).shape == (20,)
print(f"the wheel works: tyche {tyche.__version__}, Python {sys.version.split()[0]}, {len(list(beside.glob('*.so*')))} libraries")
PY
