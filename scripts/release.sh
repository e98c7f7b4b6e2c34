#!/bin/sh
# Checks the tree, runs every test, and builds the image for all platforms, with a list of what is in it (SBOM) and how it was
# built (provenance). Checks who signed the packages, and lists them beside the image (CycloneDX). Prints what it would publish; publishes only with --publish.
#   scripts/release.sh --image registry.example.com/team/tocsin [--publish | --dry-run]
# --dry-run checks the tree and prints the commands. Needs docker with buildx; for the other platform's programs once:
#   docker run --privileged --rm tonistiigi/binfmt --install all
set -eu
cd "$(dirname "$0")/.."

PLATFORMS=linux/amd64,linux/arm64
# The default builder of Docker knows neither several platforms nor SBOMs.
BUILDER=tocsin-release

say() { printf 'release: %s\n' "$*"; }
fail() { printf 'release: %s\n' "$*" >&2; exit 1; }

image=
mode=build
while [ $# -gt 0 ]; do
  case $1 in
    --image) [ $# -gt 1 ] || fail '--image needs a name'; image=$2; shift ;;
    --publish) mode=publish ;;
    --dry-run) mode=dry-run ;;
    *) fail "unknown: $1 (known: --image NAME, --publish, --dry-run)" ;;
  esac
  shift
done
# Docker takes a name without a registry for one of its own.
case $image in
  '') fail 'name the image with its registry: --image registry.example.com/team/tocsin' ;;
  *.*/* | *:*/*) ;;
  *) fail "$image names no registry: --image registry.example.com/team/tocsin" ;;
esac

version=$(sed -n 's/^  "version": "\([^"]*\)",$/\1/p' package.json)
[ -n "$version" ] || fail 'package.json names no version'
[ -z "$(git status --porcelain)" ] || fail 'the tree has changes that are not committed'
# Something has to stand between its heading and the next one.
awk -v version="$version" '
  /^## / { here = ($2 == version) ; next }
  here && NF { found = 1 }
  END { exit !found }
' CHANGELOG.md || fail "CHANGELOG.md says nothing about $version: it needs a section \"## $version\""
revision=$(git rev-parse HEAD)
tagged=$(git rev-parse -q --verify "refs/tags/v$version^{commit}" || true)
[ -z "$tagged" ] || [ "$tagged" = "$revision" ] || fail "v$version is another commit already: $tagged"

run() {
  if [ "$mode" = dry-run ]; then printf '+ %s\n' "$*"; else "$@"; fi
}

tags=$version
# What comes before a release (1.0.0-rc.1) is nobody's latest.
case $version in *-*) ;; *) tags="$tags latest" ;; esac
archive=dist/tocsin-$version.oci.tar
if [ "$mode" = build ]; then set -- --output "type=oci,dest=$archive"; else set -- --push; fi
for tag in $tags; do set -- --tag "$image:$tag" "$@"; done

run .ci/run
# A registry that gives no signatures, or is not asked, is no reason to hold up a release; a wrong signature is.
if [ "$mode" = dry-run ]; then
  run npm audit signatures --json
elif signatures=$(npm audit signatures --json 2>/dev/null); then
  say 'every package is signed by its registry'
else
  case $signatures in
    *'"invalid"'*) fail 'packages without a valid signature: npm audit signatures' ;;
    *) say 'the signatures of the packages were not checked: the registry gave none' ;;
  esac
fi
if [ "$mode" = dry-run ] || ! docker buildx inspect "$BUILDER" >/dev/null 2>&1; then
  run docker buildx create --name "$BUILDER" --driver docker-container
fi
[ "$mode" = dry-run ] || mkdir -p dist
# The time of the commit, so that a second build gives the same image.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
run docker buildx build --builder "$BUILDER" --platform "$PLATFORMS" --sbom=true --provenance=mode=max \
  --build-arg "REVISION=$revision" "$@" .

packages=dist/tocsin-$version.cdx.json
if [ "$mode" = dry-run ]; then
  printf '+ %s\n' "npm sbom --sbom-format cyclonedx --omit dev --package-lock-only >$packages"
else
  npm sbom --sbom-format cyclonedx --omit dev --package-lock-only >"$packages"
  say "the list of its packages is in $packages"
fi

case $mode in
  publish) say 'published:' ;;
  *) say 'would publish, with --publish:' ;;
esac
for tag in $tags; do say "  $image:$tag ($PLATFORMS)"; done
[ "$mode" != build ] || say "the image, not published, is in $archive"
[ -n "$tagged" ] || say "then tag the commit: git tag -a v$version -m v$version $revision && git push origin v$version"
