# The work is in scripts/; `make help` lists the targets.

.DEFAULT_GOAL := help
.PHONY: help setup run image test test-slow coverage bench lint lock clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\): ## /  make \1\t/p' Makefile | expand -t 18

setup: ## install what is missing and build what has changed
	@scripts/setup

run: ## set up, then print what a sample of audit rules costs
	@scripts/setup
	.venv/bin/hardcost bill audit-samples --workload syscalls

image: ## set up, then make a container image with hardcost in it (ARGS: --suite trixie)
	@scripts/setup
	@scripts/container $(ARGS)

test: ## set up, then run the linters and the tests but the slow ones (ARGS: passed to pytest)
	@scripts/setup --test
	@scripts/test $(ARGS)

test-slow: ## set up, then run the tests that `make test` leaves out (ARGS: passed to pytest)
	@scripts/setup --test
	@scripts/test-slow $(ARGS)

coverage: ## set up, then say what the tests that boot nothing cover, by file and package
	@scripts/setup --test
	@scripts/coverage

bench: ## set up, then measure hardcost itself
	@scripts/setup
	.venv/bin/python -m bench.speed.overhead
	.venv/bin/python -m bench.speed.command_line

lint: ## set up, then run only the linters
	@scripts/setup --test
	@scripts/lint

lock: ## bring uv.lock up to date with pyproject.toml
	@scripts/lock

clean: ## remove everything built or installed in this folder
	rm -rf build .venv target src/hardcost/bin \
	  .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
