# The tasks of this project; `make` alone lists them.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2
export HF_HUB_OFFLINE = 1

.DEFAULT_GOAL := help
.PHONY: help venv demo test lint types bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: $(STAMP) ## make the virtual environment and install fcpair with what its tests need

$(STAMP): setup.cfg pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip -c constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[offline,web,dev]'
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

test: $(STAMP) ## the whole test suite; FCPAIR_DATA names the folder with the real data
	$(BIN)/python -m pytest -n $(JOBS)

lint: $(STAMP) ## style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) ## mypy, strict
	$(BIN)/mypy

bench: $(STAMP) ## measured ratios, outside the test suite; needs FCPAIR_DATA
	$(BIN)/python -m benchmarks

clean: ## remove what was made, the environment included
	rm -rf $(VENV) demo build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
