#!/bin/sh
# The program as plain JavaScript in dist/, with the commit that it was made from, as far as git knows it. Arguments are
# rolldown's.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/node_modules/.bin:$PATH
rolldown -c "$@" >/dev/null
node --input-type=module -e 'const { build } = await import("./src/version.ts"); console.log(build().revision ?? "");' >dist/REVISION
