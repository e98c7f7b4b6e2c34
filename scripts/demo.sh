#!/bin/sh
# Runs the demo for make, which passes on every signal but one: a SIGINT that is sent to make alone, and not by Ctrl-C to
# all of us, makes it wait for a child that has heard nothing. Linux shows such a make; elsewhere this changes nothing.
set -eu
cd "$(dirname "$0")/.."

demo=$$
make=$PPID

# It neither catches nor ignores SIGINT any more (bit 2 of the masks), or it has ended.
is_interrupted() {
  ! grep -Eqs '^Sig(Ign|Cgt):.*[2367abef]$' "/proc/$make/status"
}

watch() {
  while kill -0 "$demo"; do
    if is_interrupted; then
      # After Ctrl-C the demo is about to end by itself, and a second signal would force it.
      sleep 5
      kill -INT "$demo"
      return
    fi
    sleep 1
  done
}

case "$(cat "/proc/$make/comm" 2>/dev/null || true)" in
  make | gmake) watch </dev/null >/dev/null 2>&1 & ;;
esac
exec node_modules/.bin/node src/main.ts demo "$@"
