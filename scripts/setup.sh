#!/bin/sh
# Installs what is missing: npm packages (Node 24 among them) and redis-server. Says what it does; does nothing twice.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null 2>&1; then sudo "$@"
  else fail "needs root for: $*"
  fi
}

install_redis() {
  if command -v apt-get >/dev/null 2>&1; then
    say 'installing redis-server with apt-get'
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends redis-server >/dev/null
  elif command -v apk >/dev/null 2>&1; then
    say 'installing redis with apk'
    as_root apk add --quiet redis
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

# npm writes this file last, so it tells what is installed.
installed=node_modules/.package-lock.json
if [ ! -f "$installed" ] || [ package-lock.json -nt "$installed" ]; then
  say 'installing npm packages'
  npm ci --no-audit --no-fund --loglevel=error
  touch "$installed"
fi
[ -x node_modules/.bin/node ] || fail 'Node 24 was not installed: remove node_modules and try again'

command -v redis-server >/dev/null 2>&1 || install_redis
