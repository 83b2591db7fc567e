# The tasks of this project; `make` alone lists them.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BROWSER_TESTS := tests/browser
AXE := $(BROWSER_TESTS)/node_modules/.installed
JOBS ?= $(shell env -u OMP_NUM_THREADS nproc 2> /dev/null || getconf _NPROCESSORS_ONLN)
# Commands that tests start as processes would compile all of fcpair anew where no bytecode may be written.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --no-loadscope-reorder --durations 25
export HF_HUB_OFFLINE = 1

.DEFAULT_GOAL := help
.PHONY: help venv demo axe docs test test-slow test-long test-exchange lint types bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: $(STAMP) ## make the virtual environment and install fcpair with what its tests need

$(STAMP): setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip -c constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[offline,web,texts,postgres,dev]'
	@touch $(STAMP)

demo: $(STAMP) ## the whole road on the example corpus, down to the tiers and a report in demo/
	@rm -rf demo && mkdir demo
	$(BIN)/fcpair run examples/recipe.toml --study demo/study.db
	$(BIN)/fcpair agreement --study demo/study.db
	$(BIN)/fcpair partition --study demo/study.db
	$(BIN)/fcpair partition --study demo/study.db --tier gold --out demo/gold.csv
	$(BIN)/fcpair evaluate --study demo/study.db --figures demo/figures
	$(BIN)/fcpair report --study demo/study.db --out demo/report.html
	@echo
	@echo "Open demo/report.html in a browser; demo/gold.csv is the Gold partition, demo/figures has the figures."
	@echo
	@echo "The finished study in the browser, as its lead sees it: start the server with"
	@echo "  $(BIN)/fcpair serve --study demo/study.db"
	@echo "and open the link of lea:"
	@$(BIN)/fcpair people add lea --role lead --study demo/study.db

axe: $(AXE)
	@test -e $(AXE)

# Without it, the tests of the pages that need it are skipped, and say so.
$(AXE): $(BROWSER_TESTS)/package.json $(BROWSER_TESTS)/package-lock.json
	@if ! command -v npm > /dev/null; then \
	  echo "npm is not there, so axe-core is not installed: install nodejs and npm to test the pages with it"; \
	elif npm ci --prefix $(BROWSER_TESTS) --ignore-scripts --no-audit --no-fund < /dev/null; then \
	  touch $@; \
	else \
	  echo "npm could not install axe-core, which tests of the pages need"; \
	fi

test: $(STAMP) ## the tests that need no browser, no database server and no cluster; FCPAIR_DATA names the folder with the real data
	$(PYTEST) -m "not slow and not long and not exchange"

test-slow: $(STAMP) $(AXE) ## the tests that need these, or take seconds
	$(PYTEST) -m "slow and not long"

test-long: $(STAMP) $(AXE) ## the same checks with more looks, sizes, seeds, pages and kills, and properties with more examples
	$(PYTEST) -m "long or hypothesis" --hypothesis-profile thorough

test-exchange: $(STAMP) ## the real annotation tools, from PyPI into FCPAIR_EXCHANGE (~/.cache/fcpair/exchange), answered over HTTP
	$(BIN)/python -m pytest -m exchange tests/exchange

lint: $(STAMP) ## style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) ## mypy, strict
	$(BIN)/mypy

docs: $(STAMP) ## the site, from docs/ into build/site; warnings and dead links are errors
	$(BIN)/python -m sphinx -W --keep-going -n -q -d build/doctrees docs build/site
	@echo "Open build/site/index.html in a browser."

bench: test-long ## test-long, then measured ratios, outside the test suite; needs FCPAIR_DATA
	$(BIN)/python -m benchmarks

clean: ## remove what was made, the environment included
	rm -rf $(VENV) $(BROWSER_TESTS)/node_modules demo build docs/project docs/reference/commands dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
