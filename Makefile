# Everything runs from here; `make help` lists the targets. Caches live in $(CACHE), outside the checkout.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
STORAGE ?= s3
export PAIMON_OPERATOR_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/paimon-operator
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help venv lint format types imports unit test test-apiserver test-spark test-e2e generate check-generated \
        up down demo bench images jars clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)$$/  \1\t\2/' | expand -t 20

$(STAMP): pyproject.toml constraints.txt
	@echo "==> Python environment in $(VENV)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev]'
	@touch $@

venv: $(STAMP) ## Python environment with the operator and its development tools

lint: $(STAMP) ## ruff, mypy, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP) ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

unit: $(STAMP) ## Pure tests: no network, no processes, under 10 s
	$(BIN)/python -m pytest -q tests/api tests/core tests/kube tests/runtime
