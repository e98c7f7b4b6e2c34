#!/bin/sh
# The program as plain JavaScript in dist/, with the commit that it was made from, as far as git knows it. Arguments are tsc's.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/node_modules/.bin:$PATH
rm -rf dist
tsc -p tsconfig.build.json "$@"
node --input-type=module -e 'const { build } = await import("./src/version.ts"); console.log(build().revision ?? "");' >dist/REVISION
