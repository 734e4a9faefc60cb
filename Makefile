# Every target works from a bare checkout: the virtual environment is made on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What each target needs: the command line alone, or everything that tests and checks use.
CLI_READY := $(VENV)/.cli-ready
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.docs-ready
PYTEST := $(BIN)/python -m pytest -q
# Neighbouring tests run in one process, so that what they share is made once.
PARALLEL := -n auto --dist worksteal
# A test that hangs fails; no test takes a minute.
PATIENT := --timeout 300

# Environments of their own: the lowest supported versions, PyTorch, which is large, and a built wheel
# or sdist without this checkout.
MINIMUM := .venv-minimum
TORCH := .venv-torch
WHEEL := .venv-wheel
SPHINX := $(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html

.PHONY: help setup demo test test-slow test-minimum test-torch test-wheel test-sdist packages coverage check format \
	docs docs-quick bench bench-quick paper clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: $(READY)  ## create .venv and install everything

# Installed again only when what it depends on has changed.
$(CLI_READY): EXTRA := cli
$(READY): EXTRA := dev
$(DOCS_READY): EXTRA := docs
$(CLI_READY) $(READY) $(DOCS_READY): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing decorrupt[$(EXTRA)] into $(VENV) (the first time takes about a minute)" >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[$(EXTRA)]'
	@touch $@

demo: $(CLI_READY)  ## learn ten digits from the counts of bags only, and make a page of it
	@$(BIN)/decorrupt demo --force --jobs 2

test: $(READY)  ## run the tests (the slow ones: make test-slow)
	OMP_NUM_THREADS=1 $(PYTEST) $(PARALLEL) $(PATIENT) -m "not slow"

test-slow: $(READY)  ## run the tests that take minutes
	OMP_NUM_THREADS=1 $(PYTEST) $(PARALLEL) -m slow

coverage: $(READY)  ## run the tests and report lines that no test runs; fails below the floor
	OMP_NUM_THREADS=1 $(PYTEST) $(PARALLEL) -m "not slow" --cov --cov-report=term

test-minimum: $(MINIMUM)/.ready  ## run the tests (TESTS=…) with the lowest versions that pyproject.toml allows
	OMP_NUM_THREADS=1 $(MINIMUM)/bin/python -m pytest -q $(PARALLEL) $(PATIENT) -m "not slow" $(TESTS)

$(MINIMUM)/.ready: pyproject.toml constraints.txt tools/minimum_versions.py
	test -x $(MINIMUM)/bin/python || $(PYTHON) -m venv $(MINIMUM)
	$(MINIMUM)/bin/python tools/minimum_versions.py > $(MINIMUM)/minimum.txt
	$(MINIMUM)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint $(MINIMUM)/minimum.txt --editable '.[test]'
	touch $@

test-torch: $(TORCH)/.ready  ## run the tests of decorrupt.torch
	OMP_NUM_THREADS=1 $(TORCH)/bin/python -m pytest -q tests/pytorch src/decorrupt/torch

$(TORCH)/.ready: pyproject.toml constraints.txt
	test -x $(TORCH)/bin/python || $(PYTHON) -m venv $(TORCH)
	$(TORCH)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[torch]' hypothesis pandas pytest
	touch $@

test-wheel: packages  ## build the wheel, install it into an empty environment and use it there
	rm -rf $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt dist/*.whl
	cd $(WHEEL) && bin/python -I ../tools/try_installed.py library
	$(WHEEL)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt "decorrupt[cli] @ file://$$(echo $(CURDIR)/dist/*.whl)"
	cd $(WHEEL) && bin/python -I ../tools/try_installed.py command-line

test-sdist: packages  ## build the sdist, install it into an empty environment and use it there
	rm -rf $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt dist/*.tar.gz
	cd $(WHEEL) && bin/python -I ../tools/try_installed.py library

packages: $(READY)  ## build wheel and sdist in dist
	rm -rf dist
	$(BIN)/python -m hatchling build

check: $(READY)  ## formatting, lint, types, import rules, size
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/size.py --walks

format: $(READY)  ## rewrite the files as ruff would have them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(DOCS_READY)  ## build the site with its gallery in docs/_build/html
	@OMP_NUM_THREADS=1 MPLBACKEND=agg $(SPHINX)
	@echo "docs/_build/html/index.html"

docs-quick: $(DOCS_READY)  ## build the site without running the examples of the gallery
	@$(SPHINX) -D plot_gallery=0
	@echo "docs/_build/html/index.html"

bench: $(READY)  ## measure the speed promises, write benchmarks/RESULTS.md
	$(BIN)/python benchmarks/run.py

bench-quick: $(READY)  ## the quick benchmarks: fails if a ratio misses its bar by more than half
	$(BIN)/python benchmarks/run.py --quick

paper: $(READY)  ## run or resume the paper's experiments (hours; $$DECORRUPT_DATA) and write their report
	$(BIN)/python -m reproduction run -o results/paper/records.jsonl
	$(BIN)/python -m reproduction report results/paper/records.jsonl -o results/paper/report.md

clean:  ## remove the environment and all caches
	rm -rf docs/_build docs/gallery docs/api
	rm -rf $(VENV) $(MINIMUM) $(TORCH) $(WHEEL) .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist
