#!/bin/sh
# Installs what is missing: npm packages (Node 24 among them) and redis-server, or with `packages` only the former.
# Looks first for what cannot be installed here, so that nothing is half done. Says what it does; does nothing twice.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# A redis-server for this checkout alone; make puts it on the PATH.
own=node_modules/.cache/redis

may_become_root() { [ "$(id -u)" = 0 ] || { has sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; }; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# How redis-server is to be had: apt, dnf, brew; unpacked: out of Debian's packages, without root.
redis_way() {
  if has apt-get && may_become_root; then echo apt
  elif has dnf && may_become_root; then echo dnf
  elif has brew; then echo brew
  elif has apt-get && has dpkg-deb; then echo unpacked
  fi
}

unpack_redis() {
  work=$(mktemp -d)
  mkdir -p "$work/lists/partial" "$work/archives/partial" "$own/bin"
  # Package lists of its own, as those of the system may be missing, and only root may write them.
  (cd "$work" && for step in update 'download redis-server redis-tools libatomic1 libjemalloc2 liblzf1'; do
    apt-get -qq -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work" -o Debug::NoLocking=1 $step || exit 1
  done) || fail "Debian's packages of Redis could not be fetched"
  for package in "$work"/*.deb; do dpkg-deb -x "$package" "$own"; done
  rm -rf "$work"
  cat >"$own/bin/redis-server" <<'RUN'
#!/bin/sh
own=$(dirname "$(dirname "$0")")
LD_LIBRARY_PATH=$(echo "$own"/usr/lib/*-linux-*) exec "$own/usr/bin/redis-server" "$@"
RUN
  chmod +x "$own/bin/redis-server"
  "$own/bin/redis-server" --version >/dev/null || fail "Debian's redis-server does not run here"
}

install_redis() {
  case "$1" in
    apt)
      say 'installing redis-server with apt-get'
      as_root apt-get update -qq || say 'some package lists are not up to date; trying all the same'
      as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends redis-server >/dev/null
      ;;
    dnf) say 'installing redis with dnf'; as_root dnf install -y -q redis ;;
    brew) say 'installing redis with brew'; brew install --quiet redis ;;
    unpacked)
      say "without root: unpacking Debian's redis-server into $own"
      unpack_redis
      ;;
  esac
}

has npm || fail 'npm is missing: install any Node.js (20 or newer); Node 24 itself comes as a package'
npm=$(npm --version 2>/dev/null) || fail "npm does not run with Node $(node --version 2>/dev/null): install Node.js 20 or newer"
[ "${npm%%.*}" -ge 7 ] || fail "npm $npm is too old: 7 or newer is needed, which comes with Node.js 16 or newer"

way=none
if [ "${1:-}" != packages ] && ! has redis-server && [ ! -x "$own/bin/redis-server" ]; then
  way=$(redis_way)
  [ -n "$way" ] || fail 'redis-server is missing, and cannot be installed from here. As root: apt-get install redis-server (Debian,
  Ubuntu), dnf install redis (Fedora), apk add redis (Alpine). Without root: build Redis and put its src/ on the PATH, or
  use the container (docker compose up)'
fi

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

[ "$way" = none ] || install_redis "$way"
