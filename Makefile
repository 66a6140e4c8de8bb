# All commands set up what they need in .venv; make setup does nothing else.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test lint check handbook

setup: $(VENV)/ready

demo: $(VENV)/ready
	$(BIN)/hybridalloc compare examples/workloads/*/ --time-limit 5 --bound-time 2

# A test on each core: so that torch's threads do not wait for each other, one each.
test: $(VENV)/ready
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

lint: $(VENV)/ready
	scripts/check format lint types

check: $(VENV)/ready
	scripts/check

# The pages, in build/handbook.
handbook: $(VENV)/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev,docs]" -c constraints.txt
	touch $@
