#!/bin/sh
# tests/install/package.sh DEB: the package in a bare Debian 12 (debootstrap, minbase): installed with apt, used, removed, and
# what is left looked for. Needs root and Debian's packages; takes some minutes. TYCHE_ROOT=FOLDER keeps the bare root there
# and uses it again.
set -eu
deb="$(realpath "${1:?usage: package.sh DEB}")"
[ "$(id -u)" = 0 ] || { echo "package: chroot needs root" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "package: debootstrap is missing (apt-get install debootstrap)" >&2; exit 2; }
work="$(mktemp -d)"
root="$work/root"
bare="${TYCHE_ROOT:-$work/bare}"
mounted=""
clean() {
  for at in $mounted; do umount "$at" || true; done
  rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM
if [ ! -e "$bare/etc/debian_version" ]; then
  mirror="$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)"
  debootstrap --variant=minbase bookworm "$bare" "${mirror:-http://deb.debian.org/debian}" >"$work/log" 2>&1 ||
    { tail -n 20 "$work/log" >&2; exit 1; }
fi
cp -a "$bare" "$root"
# apt inside as outside: the same sources and ways to them.
cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
if [ -e /etc/apt/sources.list.d/debian.sources ]; then
  cp /etc/apt/sources.list.d/debian.sources "$root/etc/apt/sources.list.d/"
  : >"$root/etc/apt/sources.list"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
for at in proc dev dev/pts; do
  mount --bind "/$at" "$root/$at"
  mounted="$root/$at $mounted"
done
inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive HOME=/root LC_ALL=C.UTF-8 "$@"; }
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
MANWIDTH=80 inside man tyche-train >"$work/page"
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
