# Two commands on a fresh machine: `make demo` and `make test`. Both install what is missing and say so.
.DEFAULT_GOAL := help
# Where setup puts a redis-server that it could not install.
export PATH := $(PATH):$(CURDIR)/node_modules/.cache/redis/bin
.PHONY: help packages setup demo init check test fault soak bench growth format pictures pin pack release clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

packages:
	@sh scripts/setup.sh packages

setup: packages ## install npm packages, and redis-server where it is missing
	@sh scripts/setup.sh

demo: setup ## the whole system on this machine, live; Ctrl-C ends it
	@exec sh scripts/demo.sh $(ARGS)

init: setup ## asks for your service, its channels and a fallback, tries each answer, and writes config/tocsin.yaml
	@node_modules/.bin/node src/main.ts init $(ARGS)
	@echo; echo 'In this terminal, first: alias tocsin="$(CURDIR)/node_modules/.bin/node $(CURDIR)/src/main.ts"'

check: packages ## lint, format and types
	@npm run --silent check

test: setup check ## lint, types and every test
	@npm test --silent -- $(ARGS)

fault: setup ## real daemons and a real Redis through every fault: what is lost, what comes twice; takes a while
	@node_modules/.bin/node test/fault/run.ts $(ARGS)

soak: setup ## 20 alerts a second for half an hour: memory, Redis and latency as they go
	@node_modules/.bin/node test/fault/soak.ts $(ARGS)

bench: setup ## speed and memory beside yardsticks; twenty minutes, ARGS=--quick seven
	@node_modules/.bin/node bench/main.ts $(ARGS)

growth: setup ## what an alert and a protocol cost from 1,000 to 100,000 of them; a quarter of an hour
	@node_modules/.bin/node bench/growth.ts $(ARGS)

format: packages ## format the code
	@npm run --silent format

pictures: packages ## every kind of message as its readers see it, drawn into docs/images/messages; needs Chromium
	@node_modules/.bin/node scripts/pictures.ts $(ARGS)

pin: packages ## write digests of base images and missing package hashes into the files that name them
	@NODE_USE_ENV_PROXY=1 node_modules/.bin/node scripts/pin.ts

pack: packages ## the npm package, and a tarball that runs as it is unpacked, in release/; ARGS="x64 arm64"
	@sh scripts/pack.sh $(ARGS)

release: packages ## test, make all of a release in release/, and say what would be published; ARGS="--image NAME"
	@sh scripts/release.sh $(ARGS)

clean: ## remove installed packages and the demo's data
	rm -rf node_modules data dist release
