#!/bin/sh
# tests/docs/site.sh: script/docs builds a page for every .md file, with search, and wants nothing from the network; it never
# empties a folder that it did not make. Exit code 77 where mkdocs and its theme are not installed (script/setup --docs).
set -eu
cd "$(dirname "$0")/../.."
for package in mkdocs mkdocs-material; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || {
    echo "docs.site: left out: $package is not installed (script/setup --docs)"
    exit 77
  }
done
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
fail() {
  echo "docs.site: $1" >&2
  exit 1
}
mkdir "$work/mine"
echo keep >"$work/mine/file"
! script/docs "$work/mine" 2>"$work/said" || fail "a folder with files of others in it was taken"
grep -q 'has something else in it' "$work/said" && [ -e "$work/mine/file" ] || fail "the refusal: $(cat "$work/said")"
script/docs "$work/site"
script/docs "$work/site" >/dev/null || fail "its own folder was refused the second time"
for page in README.md HACKING.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/lab/*.md; do
  html="$work/site/$(echo "${page%.md}.html" | sed 's|README.html$|index.html|')"
  [ -e "$html" ] || fail "no page was made of $page"
  ! grep -oE '<(script|link|img)[^>]*(src|href)="(https?:)?//[^"]*' "$html" || fail "$page needs the network"
done
grep -q 'Your graphs' "$work/site/index.html" || fail "the navigation does not follow the index"
grep -q 'individualis' "$work/site/search/search_index.js" || fail "the search's index has no words"
