# Every target works from a bare checkout: the virtual environment is made on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What each target needs: the command line alone, or everything that tests and checks use.
CLI_READY := $(VENV)/.cli-ready
READY := $(VENV)/.ready
PYTEST := $(BIN)/python -m pytest -q

.PHONY: help setup demo test test-slow check format docs-cli bench clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(READY)  ## create .venv and install everything

# Installed again only when what it depends on has changed.
$(CLI_READY): EXTRA := cli
$(READY): EXTRA := dev
$(CLI_READY) $(READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing decorrupt[$(EXTRA)] into $(VENV) (the first time takes about a minute)" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[$(EXTRA)]'
	@touch $@

demo: $(CLI_READY)  ## train on breast-cancer data from label proportions only, and make a page of it
	@$(BIN)/decorrupt demo --force

test: $(READY)  ## run the tests (the slow ones: make test-slow)
	OMP_NUM_THREADS=1 $(PYTEST) -n auto -m "not slow"

test-slow: $(READY)  ## run the tests that take minutes
	OMP_NUM_THREADS=1 $(PYTEST) -n auto -m slow

check: $(READY)  ## formatting, lint, types, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## rewrite the files as ruff would have them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs-cli: $(READY)  ## write docs/cli.md from the definitions of the commands
	TYPER_USE_RICH=0 $(BIN)/typer decorrupt.app.cli.app utils docs --name decorrupt --output docs/cli.md

bench: $(READY)  ## measure the speed promises, each as a ratio within one run
	@missed=; for script in benchmarks/bench_*.py; do \
		echo "== $$script"; $(BIN)/python $$script || missed="$$missed $$script"; \
	done; test -z "$$missed" || { echo "missed:$$missed" >&2; exit 1; }

clean:  ## remove the environment and all caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
