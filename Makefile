# Everything a newcomer needs. `make demo` and `make test` set up what they use.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
EXTRAS = $(shell $(BIN)/python -c "import tomllib; print(','.join(tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']))")
READY_TO_RUN := $(VENV)/.light
READY_TO_DEVELOP := $(VENV)/.full
PIP = $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help setup develop test faults demo docs notebooks results links lint format options release clean

help:
	@echo "make setup   make $(VENV) and install Unbraid with what it needs to run"
	@echo "make demo    set up, then train five systems and write one page about them"
	@echo "make develop set up, then install every extra and the developers' tools"
	@echo "make test    develop, then check style and types, run all tests"
	@echo "make faults  develop, then try kills, full disks, damaged files and hostile input (SHORT=1, FULL=1)"
	@echo "make lint    develop, then check style and types"
	@echo "make docs    develop, then check spelling, build the documentation, and try its code and pages"
	@echo "make notebooks develop, then execute the tutorials as notebooks, with an installed wheel"
	@echo "make results develop, then build the pages of results from their sources and rows"
	@echo "make links   develop, then check the external links of the documentation"
	@echo "make format  format the code"
	@echo "make options write the tables of options after an option was added, removed or reworded"
	@echo "make release build, check and try the wheel and the source distribution"
	@echo "make clean   remove what was built, the environment too"

setup: $(READY_TO_RUN)

develop: $(READY_TO_DEVELOP)

# torch comes first and pinned: a bare range would take a build with several GB of CUDA packages.
$(READY_TO_RUN): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Unbraid needs Python 3.11 to 3.13: set PYTHON=… to one."; exit 1; }
	@echo "== Setting up $(VENV) (a minute the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) torch
	@$(PIP) --editable .
	@touch $(READY_TO_RUN)

$(READY_TO_DEVELOP): $(READY_TO_RUN)
	@echo "== Installing the developers' tools"
	@$(PIP) --editable ".[dev]"
	@touch $(READY_TO_DEVELOP)

lint: develop
	@echo "== Checking style and types"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/pyright --warnings

# Bytecode is kept, also where the environment forbids it: without it every process compiles the package and all tests
# again, with the checks that are added to both.
#
# Types are checked beside the tests, in time that waiting tests leave, and printed after them.
test: develop
	@echo "== Checking style"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@echo "== Running all tests, and checking types beside them"
	@types=$$(mktemp); $(BIN)/pyright --warnings > $$types 2>&1 & checker=$$!; \
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder; tested=$$?; \
	wait $$checker; typed=$$?; cat $$types; rm -f $$types; exit $$((tested + typed))

# 10 minutes on 2 cores; SHORT=1: two minutes; FULL=1: an hour, continued where it was interrupted.
faults: develop
	@echo "== Trying faults"
	@$(BIN)/python -m benchmarks.faults $(if $(FULL),--full,$(if $(SHORT),--short))

demo: setup
	@echo "== Running the demo"
	@$(BIN)/unbraid demo --out demo

docs: develop
	@echo "== Building the documentation"
	@$(BIN)/typos
	@$(BIN)/python docs/executed_pages.py
	@$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "== Trying its code, links and pages"
	@$(BIN)/python -m pytest -n 2 docs/checks
	@echo "Open docs/_build/html/index.html"

# A new environment with the wheel alone, so that the notebooks run where a reader runs them.
notebooks: develop
	@echo "== Installing the wheel in build/notebooks"
	@rm -rf build/wheel-of-notebooks
	@$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel-of-notebooks .
	@test -x build/notebooks/bin/python || $(PYTHON) -m venv build/notebooks
	@build/notebooks/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	@build/notebooks/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt "$$(ls build/wheel-of-notebooks/*.whl)[onnx]"
	@build/notebooks/bin/pip install --quiet --disable-pip-version-check --no-deps --force-reinstall build/wheel-of-notebooks/*.whl
	@echo "== Executing the notebooks"
	@env -u PYTHONPATH $(BIN)/python docs/executed_pages.py --python build/notebooks/bin/python --out docs/_build/notebooks

results: develop
	@$(BIN)/python docs/build_results.py

links: develop
	@echo "== Checking external links"
	@$(BIN)/sphinx-build -b linkcheck docs docs/_build/linkcheck

options: develop
	@$(BIN)/python benchmarks/introduced.py
	@$(BIN)/python -m unbraid.cli.option_table

format: develop
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

release: develop
	@echo "== Building the distributions"
	@rm -rf dist build/tools build/wheel build/run build/source build/lib build/bdist.*
	@$(PYTHON) -m venv build/tools
	@build/tools/bin/pip install --quiet --disable-pip-version-check build twine
	@build/tools/bin/python -m build
	@build/tools/bin/twine check --strict dist/*
	@echo "== Trying the wheel in an environment of its own"
	@$(PYTHON) -m venv build/wheel
	@build/wheel/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	@build/wheel/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt dist/*.whl
	@build/wheel/bin/unbraid train beta-vae --data sprites --image-size 32 --steps 10 --out build/run
	@build/wheel/bin/unbraid evaluate build/run --metrics reconstruction,mig --num-samples 500
	@build/wheel/bin/unbraid report build/run
	@build/wheel/bin/unbraid explore build/run --no-open
	@echo "== Resolving its extras: $(EXTRAS)"
	@build/wheel/bin/pip install --quiet --disable-pip-version-check --dry-run --constraint constraints.txt "$$(ls dist/*.whl)[$(EXTRAS)]"
	@echo "== Trying the tests of the source distribution"
	@mkdir build/source && tar -xzf dist/*.tar.gz -C build/source --strip-components 1
	@cd build/source && $(abspath $(BIN))/python -m pytest -q tests/test_package.py tests/test_architecture.py tests/methods/test_beta_vae.py

clean:
	rm -rf $(VENV) build dist docs/_build .pytest_cache .ruff_cache .hypothesis demo src/*.egg-info
