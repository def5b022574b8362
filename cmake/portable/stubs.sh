#!/bin/sh
# stubs.sh COMPILER VERSION FOLDER: libraries for the linker alone that have the names and versions of glibc VERSION and
# nothing newer: libc, libm, the loader, and libpthread, libdl and librt, which were apart then. They are made from this
# system's own glibc, which still has every older version of a name: of each name the newest that VERSION knows is kept.
# Linked against them a program asks for those; what VERSION does not have is an undefined reference.
set -eu
compiler="${1:?usage: stubs.sh COMPILER VERSION FOLDER}"
version="${2:?usage: stubs.sh COMPILER VERSION FOLDER}"
folder="${3:?usage: stubs.sh COMPILER VERSION FOLDER}"
mkdir -p "$folder"
found() { "$compiler" "-print-file-name=$1"; }
loader=""
for name in ld-linux-x86-64.so.2 ld-linux-aarch64.so.1; do
  [ "$(found "$name")" = "$name" ] || loader="$name"
done
[ -n "$loader" ] || { echo "stubs.sh: $compiler knows no loader of glibc's" >&2; exit 1; }

# stub LIBRARY FROM MOVED: the names of FROM; with MOVED those that came to libc from LIBRARY in 2.34 (or before, from 2.29
# on), without it those that did not.
stub() {
  LC_ALL=C readelf --wide --dyn-syms "$(found "$2")" | LC_ALL=C awk -v newest="$version" -v library="$2" -v moved="$3" \
    -v assembler="$folder/$1.s" -v script="$folder/$1.map" '
    # 2.2.5 as a number that compares.
    function rank(text, parts) { split(text, parts, "."); return parts[1] * 1000000 + parts[2] * 1000 + parts[3] }
    # Where a name of libc was before; what another library than those had is in none.
    function origin(name) {
      if (library != "libc.so.6" || !(name in later) || name == "__libc_start_main") return ""
      if (name ~ /^dl/) return "dl"
      if (name ~ /^(aio|lio|mq|shm|timer)_/) return "rt"
      return name ~ /^(__)?(pthread|sem|cnd|mtx|thrd|tss)_|^call_once$/ ? "pthread" : "elsewhere"
    }
    $5 != "GLOBAL" && $5 != "WEAK" || $7 == "UND" || $4 == "TLS" { next }
    split($8, word, /@+GLIBC_/) == 2 && word[2] ~ /^[0-9.]+$/ {
      if (rank(word[2]) > rank(newest)) { later[word[1]] = 1; next }
      if (!(word[1] in best) || rank(word[2]) > rank(best[word[1]])) {
        best[word[1]] = word[2]; type[word[1]] = $4; size[word[1]] = $3
      }
    }
    END {
      for (name in best) {
        if (origin(name) != moved) continue
        data = type[name] == "OBJECT"
        print (data ? ".bss" : ".text") "\n.globl " name "\n.type " name ", %" (data ? "object" : "function") > assembler
        if (data) print ".balign 32\n.size " name ", " size[name] > assembler
        print name ": .skip " (data ? size[name] : 4) > assembler
        names[best[name]] = names[best[name]] " " name ";"
      }
      for (one in names) print "GLIBC_" one " { global:" names[one] " };" > script
    }'
  "$compiler" -shared -nostdlib -Wl,-soname,"$1" -Wl,--version-script,"$folder/$1.map" -o "$folder/$1" "$folder/$1.s"
}
stub libc.so.6 libc.so.6 ""
stub libm.so.6 libm.so.6 ""
stub "$loader" "$loader" ""
stub libpthread.so.0 libc.so.6 pthread
stub libdl.so.2 libc.so.6 dl
stub librt.so.1 libc.so.6 rt
# -lc and -lm find these first (-L); what stays static of libc is this system's.
for name in m pthread dl rt; do ln -sf "$(cd "$folder" && ls lib$name.so.*[0-9])" "$folder/lib$name.so"; done
echo "GROUP ( $folder/libc.so.6 $(found libc_nonshared.a) AS_NEEDED ( $folder/libpthread.so.0 $folder/libdl.so.2
  $folder/librt.so.1 $folder/$loader ) )" >"$folder/libc.so"
