#!/bin/sh
# tests/install/package.sh DEB: the package in a bare Debian 12 (bare.sh): installed with apt, used, removed, and what is left looked
# for. Needs root and Debian's packages; takes some minutes.
set -eu
# shellcheck source=tests/install/bare.sh
. "$(dirname "$0")/bare.sh"
begin_apart "$@"
deb="$(realpath "${1:?usage: package.sh DEB}")"
work_apart
root="$work/root"
bare_root "$root"
inside apt-get update -qq
# For the check alone: to read a page, and so that apt does not miss its helper.
inside apt-get install -y -qq --no-install-recommends apt-utils man-db >/dev/null 2>&1
# Files that keep the system's own books; all others are ours to leave as they were.
list() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp -o -path ./var/lib/dpkg -o -path ./var/lib/apt \
    -o -path ./var/cache -o -path ./var/log -o -path ./root \) -prune -o -print | sort)
}
list >"$work/before"
cp "$deb" "$root/tmp/"
inside apt-get install -y -qq --no-install-recommends "/tmp/$(basename "$deb")" >/dev/null
echo "package: installed, with $(inside dpkg -l | grep -c '^ii') packages in all"

inside sh -euc '
  cd /root
  tyche --version
  tyche generate exp --pairs 20 --seed 1 --out exp
  tyche train --data exp --rni 0.5 --folds 2 --epochs 2 --width 16 --layers 2 --out run --quiet
  tyche report run --out report.html
  grep -q "<html" report.html
  printf "%s\n" "[data]" "generate = \"exp\"" "pairs = 10" "[[models]]" "name = \"GCN\"" "training.epochs = 1" \
    "folds.count = 2" >mine.toml
  tyche reproduce mine.toml --out out --quiet
  tyche report out --format md
  test -e /usr/share/bash-completion/completions/tyche
  test -e /usr/share/zsh/vendor-completions/_tyche
  test -e /usr/share/fish/vendor_completions.d/tyche.fish
  test -e /usr/share/doc/tyche/copyright
  test -e /usr/include/tyche.h
  ldconfig -p | grep -q libtyche_c.so.1
'
inside env MANWIDTH=80 man tyche-train >"$work/page"
grep -q -- '--data PATH' "$work/page" && grep -q '^EXAMPLES' "$work/page"
echo "package: man tyche-train has $(wc -l <"$work/page") lines"

inside apt-get remove -y -qq --autoremove tyche >/dev/null
list >"$work/after"
if ! diff "$work/before" "$work/after" >"$work/left"; then
  cat "$work/left" >&2
  echo "package: removal left (>) or took (<) the files above" >&2
  exit 1
fi
inside apt-get purge -y -qq tyche >/dev/null 2>&1 || true
echo "package: removed, nothing is left"
