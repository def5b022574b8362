#!/bin/sh
# tests/install/in_bare.sh FOLDER COMMAND: a shell's COMMAND in a copy of FOLDER, in a bare Debian 12 of its own that is removed
# afterwards (bare.sh). Its exit code is the command's.
set -eu
# shellcheck source=tests/install/bare.sh
. "$(dirname "$0")/bare.sh"
begin_apart "$@"
folder="$(realpath "${1:?usage: in_bare.sh FOLDER COMMAND}")"
command="${2:?usage: in_bare.sh FOLDER COMMAND}"
work_apart
bare_root "$work"
mkdir "$work/here"
cp -a "$folder/." "$work/here/"
began="$(date +%s)"
status=0
inside sh -c "cd /here && $command" || status=$?
echo "bare: $(($(date +%s) - began)) s inside"
exit "$status"
