#!/bin/sh
# travels.sh STUBS FILE...: programs and libraries that travel want glibc 2.28 alone, by the versions of their symbols and by
# the loader's word where only the names of 2.28 are to be found (STUBS, cmake/portable/stubs.sh); and both would notice.
set -eu
stubs="${1:?usage: travels.sh STUBS FILE...}"
shift
look="$(dirname "$0")/../../python/build/tyche_build.py"
loader="$(echo "$stubs"/ld-linux*[0-9])"
# The loader binds every name, tells what it misses, and runs nothing.
missing() {
  LD_TRACE_LOADED_OBJECTS=1 LD_WARN=yes LD_BIND_NOW=yes "/lib64/$(basename "$loader")" --library-path "$stubs" "$1" 2>&1 |
    grep -E 'not found|undefined symbol' || true
}
for file in "$@"; do
  python3 "$look" --look "$file"
  said="$(missing "$(realpath "$file")")"
  [ -z "$said" ] || { echo "travels: with glibc 2.28 the loader says of $file: $said" >&2; exit 1; }
done
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
echo 'int main(void) { return 0; }' >"$work/new.c"
cc "$work/new.c" -o "$work/new"
if python3 "$look" --look "$work/new" 2>/dev/null; then
  echo "travels: a program for this system's own glibc passed as one for 2.28" >&2; exit 1
fi
[ -n "$(missing "$work/new")" ] || { echo "travels: the loader does not notice what glibc 2.28 lacks" >&2; exit 1; }
# What 2.28 lacks does not even link.
echo 'int epoll_pwait2(void); int main(void) { return epoll_pwait2(); }' >"$work/lacks.c"
if cc "$work/lacks.c" "-L$stubs" -o "$work/lacks" 2>/dev/null; then
  echo "travels: a function of glibc 2.35 was linked" >&2; exit 1
fi
echo "travels: $# files"
