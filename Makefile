# Everything a newcomer needs. `make test` and `make demo` set up what they use.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help setup test faults demo docs lint format options clean

help:
	@echo "make setup   make $(VENV) and install the pinned environment"
	@echo "make test    set up, then check style and types, run all tests"
	@echo "make faults  set up, then try many faults: kills, full disks, damaged files, hostile input (SHORT=1, FULL=1)"
	@echo "make demo    set up, then train five systems and write one page about them"
	@echo "make docs    set up, then build the documentation; warnings are errors"
	@echo "make format  format the code"
	@echo "make options write the tables of options after an option was added, removed or reworded"
	@echo "make clean   remove what was built, the environment too"

setup: $(READY)

# torch comes first and pinned: a bare range would take a build with several GB of CUDA packages.
$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Unbraid needs Python 3.11 to 3.13: set PYTHON=… to one."; exit 1; }
	@echo "== Setting up $(VENV) (a minute or two the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	@touch $(READY)

lint: setup
	@echo "== Checking style and types"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/pyright --warnings

test: lint
	@echo "== Running all tests"
	@$(BIN)/python -m pytest -n 2 --dist loadfile

# 10 minutes on 2 cores; SHORT=1: two minutes; FULL=1: hours, continued where it was interrupted.
faults: setup
	@echo "== Trying faults"
	@$(BIN)/python -m benchmarks.faults $(if $(FULL),--full,$(if $(SHORT),--short))

demo: setup
	@echo "== Running the demo"
	@$(BIN)/unbraid demo --out demo

docs: setup
	@echo "== Building the documentation"
	@$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

options: setup
	@$(BIN)/python benchmarks/introduced.py
	@$(BIN)/python -m unbraid.cli.option_table

format: setup
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist docs/_build .pytest_cache .ruff_cache .hypothesis demo src/*.egg-info
