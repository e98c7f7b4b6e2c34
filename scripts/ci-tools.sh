#!/bin/sh
# What some tests ask for that a machine need not have: promtool, which judges the rules for Prometheus, and Chromium, in
# which the status page is tested. Only where CI=true and the system's packages are Debian's; says what it does. Without
# one of them its tests are skipped, and say so.
#
# promtool is taken out of its package, so nothing else of Prometheus is installed and no service is started. Chromium is
# installed, as it needs its libraries. Prints the folder for PATH.
set -u
cd "$(dirname "$0")/.."

tools=node_modules/.cache/tools
mkdir -p "$tools/bin"
printf '%s\n' "$PWD/$tools/bin"

say() { printf 'ci-tools: %s\n' "$*" >&2; }
has() { command -v "$1" >/dev/null 2>&1; }
is_root() { [ "$(id -u)" = 0 ]; }

[ "${CI:-}" = true ] || exit 0
has apt-get || { say 'no apt-get here: tests that need promtool or Chromium are skipped where these are missing'; exit 0; }

# Once, and only where something has to be fetched.
update_lists() {
  is_root && [ -z "${updated:-}" ] || return 0
  updated=yes
  apt-get update -qq >/dev/null 2>&1 || say 'some package lists are not up to date; trying all the same'
}

take_promtool() {
  unpacked=$(mktemp -d) || return 1
  # The user that apt-get drops to must be able to write there.
  chmod 777 "$unpacked"
  (cd "$unpacked" && apt-get download -qq prometheus >/dev/null 2>&1 && dpkg-deb -x prometheus_*.deb .) &&
    cp "$unpacked/usr/bin/promtool" "$tools/bin/promtool" &&
    "$tools/bin/promtool" --version >/dev/null 2>&1
  status=$?
  rm -rf "$unpacked"
  [ "$status" = 0 ] || rm -f "$tools/bin/promtool"
  return "$status"
}

if ! has promtool && [ ! -x "$tools/bin/promtool" ]; then
  say "taking promtool out of Debian's package prometheus"
  update_lists
  take_promtool || say 'it could not be had: what promtool judges is skipped'
fi

if ! has chromium && ! has chromium-browser && ! has google-chrome; then
  if is_root; then
    say 'installing chromium with apt-get'
    update_lists
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1 ||
      say 'it could not be had: the tests in a browser are skipped'
  else
    say 'chromium is missing, and installing it needs root: the tests in a browser are skipped'
  fi
fi
