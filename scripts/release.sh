#!/bin/sh
# Checks the tree, runs every test, and makes in release/ what a release has: the npm package, a tarball for each processor,
# the list of its packages (SBOM, CycloneDX) and checksums. With --image also the image for all platforms, with a list of what
# is in it and how it was built (provenance). Checks who signed the packages. Says what it would publish; publishes the image
# and tags the commit only with --publish.
#   scripts/release.sh [--image registry.example.com/team/tocsin] [--publish | --dry-run]
# --dry-run checks the tree and prints the commands. The image needs docker with buildx; for the other platform's programs once:
#   docker run --privileged --rm tonistiigi/binfmt --install all
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/node_modules/.bin:$PATH

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
  '') [ "$mode" != publish ] || fail 'name the image with its registry: --image registry.example.com/team/tocsin' ;;
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
' CHANGELOG.md || fail "CHANGELOG.md says nothing about $version: it needs a section \"## $version\"; \"npm version\" writes it"
revision=$(git rev-parse HEAD)
tagged=$(git rev-parse -q --verify "refs/tags/v$version^{commit}" || true)
[ -z "$tagged" ] || [ "$tagged" = "$revision" ] || fail "v$version is another commit already: $tagged"

# Why there will be no image; empty where there will be one.
without=
if [ -z "$image" ]; then
  without='--image names none'
elif [ "$mode" != dry-run ] && ! docker buildx version >/dev/null 2>&1; then
  without='docker with buildx is missing here, or does not run'
fi
# Half a release is none.
[ "$mode" != publish ] || [ -z "$without" ] || fail "the image cannot be built, so nothing is published: $without"

run() {
  if [ "$mode" = dry-run ]; then printf '+ %s\n' "$*"; else "$@"; fi
}

files=release/tocsin-$version
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

# The time of the commit, so that a second build gives the same files.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
[ "$mode" = dry-run ] || { rm -rf release && mkdir release; }
run sh scripts/pack.sh x64 arm64
if [ "$mode" = dry-run ]; then
  printf '+ %s\n' "node scripts/sbom.ts >$files.cdx.json"
else
  node scripts/sbom.ts >"$files.cdx.json"
fi

tags=$version
# What comes before a release (1.0.0-rc.1) is nobody's latest.
case $version in *-*) ;; *) tags="$tags latest" ;; esac
if [ "$mode" = build ]; then set -- --output "type=oci,dest=$files.oci.tar"; else set -- --push; fi
for tag in $tags; do set -- --tag "$image:$tag" "$@"; done
if [ -z "$without" ]; then
  if [ "$mode" = dry-run ] || ! docker buildx inspect "$BUILDER" >/dev/null 2>&1; then
    run docker buildx create --name "$BUILDER" --driver docker-container
  fi
  run docker buildx build --builder "$BUILDER" --platform "$PLATFORMS" --sbom=true --provenance=mode=max \
    --build-arg "REVISION=$revision" "$@" .
fi

if [ "$mode" = dry-run ]; then
  printf '+ %s\n' "cd release && sha256sum tocsin-$version* >SHA256SUMS"
else
  (cd release && sha256sum tocsin-"$version"* >SHA256SUMS)
fi
[ "$mode" != publish ] || [ -n "$tagged" ] || git tag -a "v$version" -m "v$version" "$revision"

case $mode in
  publish) say 'published:' ;;
  *) say 'would publish, with --publish:' ;;
esac
if [ -z "$image" ]; then say "  no image: $without"; else for tag in $tags; do say "  $image:$tag ($PLATFORMS)"; done; fi
[ "$mode" = publish ] || [ -n "$tagged" ] || say "  the tag v$version of $revision"
[ -z "$image" ] || [ -z "$without" ] || say "the image was NOT built: $without"
if [ "$mode" != dry-run ]; then
  say 'for the page of the release:'
  for file in release/*; do say "  $file"; done
fi
[ "$mode" != publish ] || say "push the tag: git push origin v$version"
