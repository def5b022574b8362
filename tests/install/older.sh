#!/bin/sh
# older.sh FILE...: programs and wheels in a bare Debian 11 (debootstrap, minbase; glibc 2.31, Python 3.9): run, and installed
# and used. Needs root and Debian's packages. The bare root is kept in build-check/older, or TYCHE_OLD_ROOT.
set -eu
[ $# -gt 0 ] || { echo "usage: older.sh FILE..." >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "older: chroot needs root" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "older: debootstrap is missing (apt-get install debootstrap)" >&2; exit 2; }
work="$(mktemp -d)"
root="${TYCHE_OLD_ROOT:-$(cd "$(dirname "$0")/../.." && pwd)/build-check/older}"
trap 'rm -rf "$work"' EXIT
if [ ! -e "$root/complete" ]; then
  rm -rf "$root"
  mkdir -p "$root"
  mirror="$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)"
  debootstrap --variant=minbase --include=python3-minimal,python3-numpy,python3-venv,python3-pip bullseye "$root" \
    ${mirror:+"$mirror"} >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
  : >"$root/complete"
fi
inside() { chroot "$root" env HOME=/root LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
for file in "$@"; do
  rm -rf "$root/root/tried"
  mkdir -p "$root/root/tried"
  cp "$file" "$root/root/tried/"
  name="$(basename "$file")"
  case "$name" in
    *.whl)
      inside sh -euc '
        cd /root/tried
        python3 -m venv --system-site-packages venv
        venv/bin/pip install --quiet --no-index --no-deps ./*.whl
        venv/bin/python -c "
import tyche
exp = tyche.datasets.exp(pairs=10)
clf = tyche.GraphClassifier(random=\"colours\", width=8, layers=2, epochs=2).fit(exp)
assert tyche.wl(exp, pairs=True, dim=2)[0] and clf.predict(exp, draws=2).shape == (20,)
try: tyche.from_graph6(\"?not graph6\")
except tyche.InputError as error: pass
else: raise AssertionError(\"a bad graph6 string was taken\")"
      '
      ;;
    tyche)
      inside sh -euc '
        cd /root/tried
        ./tyche --version >/dev/null
        ./tyche generate exp --pairs 20 --seed 1 --out exp >/dev/null
        ./tyche train --data exp --rni 0.5 --folds 2 --epochs 2 --width 16 --layers 2 --out run --quiet >/dev/null
        ./tyche report run --out report.html >/dev/null
        ! ./tyche train --data nowhere --out other 2>/dev/null
      '
      ;;
    *) inside "/root/tried/$name" >/dev/null ;;
  esac
  echo "older: $name works with glibc $(inside ldd --version | sed -n '1s/.* //p')"
done
