#!/bin/sh
# pack_and_check.sh LIBRARY FOLDER: packs the wheel of a library that was built already into FOLDER, and tries it; and lets
# pip make the same wheel by the build backend, which needs neither network nor another package.
set -eu
library="$(realpath "${1:?usage: pack_and_check.sh LIBRARY FOLDER}")"
folder="${2:?usage: pack_and_check.sh LIBRARY FOLDER}"
here="$(cd "$(dirname "$0")" && pwd)"
rm -rf "$folder"
/usr/bin/python3 "$here/../../python/build/tyche_build.py" "$folder" --library "$library"
"$here/check_wheel.sh" "$folder"/tyche-*.whl
/usr/bin/python3 -m venv "$folder/venv"
TYCHE_LIBRARY="$library" "$folder/venv/bin/pip" wheel --quiet --no-index --no-deps -w "$folder/by-pip" "$here/../.."
cmp "$folder"/tyche-*.whl "$folder"/by-pip/tyche-*.whl
