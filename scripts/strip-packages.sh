#!/bin/sh
# Takes out of node_modules what nobody reads in an image or a tarball: sources, typings and source maps (Node runs no
# TypeScript there), tests and examples. They only make it larger, and more to look through for whoever scans it.
#   scripts/strip-packages.sh [DIRECTORY]
set -eu
cd "${1:-.}"
find node_modules -type f -regex '.*\.\([cm]?ts\|tsx\|[cm]?[jt]s\.map\)' -delete
find node_modules -depth -type d -regex '.*/\(tests?\|__tests__\|examples?\|benchmarks?\)' -exec rm -rf {} +
# The compiler is an optional peer of a package, and comes along; nobody compiles there.
rm -rf node_modules/typescript node_modules/@typescript node_modules/.bin/tsc
