#!/bin/sh
# `npm version X --no-git-tag-version` runs this after it has changed package.json: the other places that name the version, and
# a section of the changelog with what was unreleased.
set -eu
cd "$(dirname "$0")/.."

# change FILE COMMAND...
change() {
  file=$1
  shift
  "$@" <"$file" >"$file.new"
  mv "$file.new" "$file"
}

version=$(sed -n 's/^  "version": "\([^"]*\)",$/\1/p' package.json)
change CHANGELOG.md awk -v section="## $version ($(date -u +%F))" '{ print } /^## Unreleased$/ { print ""; print section }'
change Dockerfile sed "s/\(image\.version=\)\"[^\"]*\"/\1\"$version\"/"
change deploy/kubernetes/kustomization.yaml sed "s/^\( *newTag: \).*/\1$version/"
