#!/bin/sh
# Installs what is missing: npm packages (Node 24 among them) and redis-server, or with `packages` only the former.
# Says what it does; does nothing twice.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null 2>&1; then sudo "$@"
  else fail "redis-server is missing, and installing it needs root: $*"
  fi
}

install_redis() {
  if command -v apt-get >/dev/null 2>&1; then
    say 'installing redis-server with apt-get'
    as_root apt-get update -qq || say 'some package lists are not up to date; trying all the same'
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends redis-server >/dev/null
  elif command -v dnf >/dev/null 2>&1; then
    say 'installing redis with dnf'
    as_root dnf install -y -q redis
  elif command -v brew >/dev/null 2>&1; then
    say 'installing redis with brew'
    brew install --quiet redis
  else
    fail 'redis-server is missing, and no package manager that is known here was found: please install it'
  fi
}

command -v npm >/dev/null 2>&1 || fail 'npm is missing: install any Node.js (20 or newer); Node 24 itself comes as a package'

node_24_runs() { node_modules/.bin/node --version >/dev/null 2>&1; }

# npm writes this file last, so it tells what is installed.
installed=node_modules/.package-lock.json
if [ ! -f "$installed" ] || [ package-lock.json -nt "$installed" ] || ! node_24_runs; then
  say 'installing npm packages'
  npm ci --no-audit --no-fund --loglevel=error
  touch "$installed"
  # Its download is an install script, which npm may be told to skip, and musl, for one, has none.
  node_24_runs || fail 'the packaged Node 24 does not run here: is ignore-scripts set for npm? If not, use the container'
fi

[ "${1:-}" = packages ] || command -v redis-server >/dev/null 2>&1 || install_redis
