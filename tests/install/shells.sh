#!/bin/bash
# tests/install/shells.sh PROGRAM: what `tyche completion` prints, as bash runs it; zsh and fish look at theirs, and groff and
# mandoc at the pages of `tyche manual`, wherever they are installed.
set -u
program="$(realpath "${1:?usage: shells.sh PROGRAM}")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() { echo "shells: $*" >&2; failed=1; }

mkdir results
touch graphs.g6 readme
"$program" completion bash >tyche.bash || exit 1
# shellcheck disable=SC1091
source ./tyche.bash
# expect 'ANSWER WORDS' TYPED WORDS: the last word typed is the one to complete.
expect() {
  local wanted="$1"
  shift
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _tyche
  [ "${COMPREPLY[*]}" = "$wanted" ] || fail "'$*' gave '${COMPREPLY[*]}', expected '$wanted'"
}
expect 'reproduce report' tyche rep
expect 'elu tanh relu' tyche train --activation ''
expect 'tanh' tyche train --activation = t
expect 'elu tanh relu' tyche train --activation =
expect '--activation' tyche train --act
expect 'tu,graph6' tyche generate exp --format tu,gr
expect 'exp cexp sparse-exp sparse-cexp tseitin csl counting triangle lcc orbits matching' tyche generate ''
expect '--graph' tyche theory check --gr
expect 'gcn2 gcn3 gcn123' tyche bench sets --model ''
expect 'check compile' tyche theory c
expect 'results' tyche train --out r
expect 'graphs.g6' tyche wl gr
expect 'table1 tanh tanh-rates' tyche reproduce ta
expect 'quick' tyche reproduce table1 --profile q
expect '' tyche train --epochs ''
expect '' tyche nonsense --x

"$program" completion zsh >_tyche
"$program" completion fish >tyche.fish
"$program" manual --out man1
if command -v zsh >/dev/null; then zsh -n _tyche || fail "zsh finds fault with its script"; fi
if command -v fish >/dev/null; then
  fish -n tyche.fish || fail "fish finds fault with its script"
  asked="$(fish -c "source tyche.fish; complete -C 'tyche train --activation t'" 2>&1 | cut -f 1)"
  [ "$asked" = tanh ] || fail "fish completes 'tyche train --activation t' to '$asked'"
  asked="$(fish -c "source tyche.fish; complete -C 'tyche bench s'" 2>&1 | cut -f 1 | sort | tr '\n' ' ')"
  [ "$asked" = "scaling sets " ] || fail "fish completes 'tyche bench s' to '$asked'"
fi
for page in man1/*.1; do
  if command -v groff >/dev/null; then
    said="$(groff -man -ww -z -Tutf8 "$page" 2>&1)"
    [ -z "$said" ] || fail "$said"
  fi
  if command -v mandoc >/dev/null; then
    said="$(mandoc -Tlint -Wwarning "$page" | grep -v 'cannot parse date\|missing date')"
    [ -z "$said" ] || fail "$said"
  fi
done
[ "$failed" = 0 ] && echo "shells: completions and pages are good"
exit "$failed"
