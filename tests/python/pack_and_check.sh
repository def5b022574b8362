#!/bin/sh
# pack_and_check.sh LIBRARY FOLDER: packs the wheel of a library that was built already into FOLDER, and tries it.
set -eu
library="${1:?usage: pack_and_check.sh LIBRARY FOLDER}"
folder="${2:?usage: pack_and_check.sh LIBRARY FOLDER}"
here="$(dirname "$0")"
rm -rf "$folder"
/usr/bin/python3 "$here/../../python/build/tyche_build.py" "$folder" --library "$library"
"$here/check_wheel.sh" "$folder"/tyche-*.whl
