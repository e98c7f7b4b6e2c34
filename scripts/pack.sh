#!/bin/sh
# Makes what is unpacked elsewhere, in release/: the npm package, and a tarball for Linux with the packages and the Node that
# it was tested with, so that a machine needs neither npm nor a Node of its own.
#   scripts/pack.sh [x64] [arm64]      default: the processor of this machine
# PACK_GZIP: gzip's level, as -1 where it has to be fast; default: its own.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/node_modules/.bin:$PATH

say() { printf 'pack: %s\n' "$*"; }
fail() { printf 'pack: %s\n' "$*" >&2; exit 1; }

[ -d node_modules ] || fail 'the packages are not installed: make setup'
tar --version 2>/dev/null | grep -q GNU || fail 'GNU tar is needed, as tar in PATH'
[ $# -gt 0 ] || set -- "$(node -p process.arch)"
for arch in "$@"; do
  case $arch in x64 | arm64) ;; *) fail "unknown processor: $arch (known: x64, arm64)" ;; esac
done
version=$(node -p 'require("./package.json").version')
# The time of the commit, so that a second build gives the same file.
time=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p release
npm pack --silent --pack-destination "$PWD/release" >/dev/null
say "release/tocsin-$version.tgz"

# Of this machine's processor it is installed already.
fetch_node() {
  name=node-linux-$1
  node_version=$(node -p 'require("./package.json").devDependencies.node')
  from=node_modules/node/node_modules/$name
  if [ ! -d "$from" ]; then
    npm install --prefix "$work/node" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error --force \
      --os=linux --cpu="$1" "$name@$node_version" >/dev/null
    from=$work/node/node_modules/$name
  fi
  mkdir -p "$2/$name/bin" "$2/.bin"
  cp "$from/package.json" "$from/LICENSE" "$2/$name/"
  cp "$from/bin/node" "$2/$name/bin/node"
  ln -sf "../$name/bin/node" "$2/.bin/node"
}

for arch in "$@"; do
  place=$work/$arch/tocsin-$version
  mkdir -p "$place"
  tar -xzf "release/tocsin-$version.tgz" -C "$place" --strip-components=1
  cp package-lock.json .npmrc "$place/"
  (cd "$place" && npm ci --omit=dev --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error \
    --os=linux --cpu="$arch" --libc=glibc >/dev/null)
  rm "$place/.npmrc"
  sh scripts/strip-packages.sh "$place"
  fetch_node "$arch" "$place/node_modules"
  tarball=release/tocsin-$version-linux-$arch.tar.gz
  tar -C "$work/$arch" --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --mode=u+rwX,go=rX -cf - \
    "tocsin-$version" | gzip -n ${PACK_GZIP:-} >"$tarball"
  rm -rf "${work:?}/$arch"
  say "$tarball"
done
