# shellcheck shell=sh
# . tests/install/bare.sh: a bare Debian 12 (debootstrap, minbase) to try things in. To be sourced by a script of its own that runs
# as root:
#
#   begin_apart "$@"      # first of all: begins the script again where what it mounts is seen by nobody else and goes with it
#   work_apart            # "$work", a folder that goes with the script, mounts and all
#   bare_root FOLDER      # a fresh root in FOLDER, with the system's own folders mounted
#   inside COMMAND...     # in it, with an empty environment but for the ways to the network
#
# build-check/bare keeps the root as debootstrap made it and the packages that apt has fetched, for the next time; TYCHE_BARE names
# another folder.
bare_kept="${TYCHE_BARE:-$(cd "$(dirname "$0")/../.." && pwd)/build-check/bare}"
bare_mounted=""

begin_apart() {
  [ "$(id -u)" = 0 ] || { echo "$0: a root of its own needs root" >&2; exit 2; }
  command -v debootstrap >/dev/null || { echo "$0: debootstrap is missing (apt-get install debootstrap)" >&2; exit 2; }
  [ -n "${TYCHE_APART:-}" ] || TYCHE_APART=yes exec unshare --mount --propagation private "$0" "$@"
}

work_apart() {
  work="$(mktemp -d)"
  trap 'for at in $bare_mounted; do umount "$at" || true; done; rm -rf --one-file-system "$work"' EXIT
  trap 'exit 130' INT TERM
}

bare_root() {
  bare="$1"
  mkdir -p "$bare" "$bare_kept/archives/partial"
  if [ ! -e "$bare_kept/root.tar" ]; then
    mirror="$(sed -n 's/^URIs: *//p' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -n 1)"
    rm -rf "$bare_kept/made"
    debootstrap --variant=minbase bookworm "$bare_kept/made" ${mirror:+"$mirror"} >"$bare_kept/log" 2>&1 ||
      { tail -n 20 "$bare_kept/log" >&2; return 1; }
    tar -C "$bare_kept/made" -cf "$bare_kept/root.tar.new" .
    mv "$bare_kept/root.tar.new" "$bare_kept/root.tar"
    rm -rf "$bare_kept/made"
  fi
  tar -C "$bare" -xf "$bare_kept/root.tar"
  # apt and npm inside as outside: the same sources and ways to them. What clears apt's packages away stays outside.
  for file in /etc/apt/apt.conf.d/*; do
    case "$file" in */docker-*) ;; *) cp -a "$file" "$bare/etc/apt/apt.conf.d/" ;; esac
  done
  if [ -e /etc/apt/sources.list.d/debian.sources ]; then
    cp /etc/apt/sources.list.d/debian.sources "$bare/etc/apt/sources.list.d/"
    : >"$bare/etc/apt/sources.list"
  fi
  mkdir -p "$bare/usr/etc"
  for file in /etc/resolv.conf /etc/hosts /etc/npmrc /usr/etc/npmrc; do
    [ -f "$file" ] || continue
    mkdir -p "$bare$(dirname "$file")"
    cp -L "$file" "$bare$file"
  done
  # Authorities of this machine's own: Debian's ca-certificates takes them over when it is installed.
  mkdir -p "$bare/usr/local/share/ca-certificates"
  cp -L /usr/local/share/ca-certificates/*.crt "$bare/usr/local/share/ca-certificates/" 2>/dev/null || true
  for at in proc dev dev/pts; do
    mount --bind "/$at" "$bare/$at"
    bare_mounted="$bare/$at $bare_mounted"
  done
  mount --bind "$bare_kept/archives" "$bare/var/cache/apt/archives"
  bare_mounted="$bare/var/cache/apt/archives $bare_mounted"
}

inside() {
  env | sed -n -e 's/^\([a-zA-Z_]*_proxy\|[A-Z_]*_PROXY\|npm_config_[a-z_]*\)=.*/\1/p' >"$bare_kept/names"
  [ -z "${NODE_EXTRA_CA_CERTS:-}" ] || set -- NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$@"
  set -- "HOME=$HOME" LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"
  while read -r name; do eval "set -- \"\$name=\${$name}\" \"\$@\""; done <"$bare_kept/names"
  chroot "$bare" env -i "$@"
}
