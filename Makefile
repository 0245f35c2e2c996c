# `make run`: from nothing to a trained model. `make test`: every test. Both make their own environment.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
CONFIG ?= configs/quickstart.yaml
RUN_DIR ?= reports/quickstart-$(shell date +%Y%m%d-%H%M%S)
RUN_DIR := $(RUN_DIR)

.PHONY: help run test check lint install install-test golden clean

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

# A stamp a set of extras, renewed when what they install changes.
$(VENV)/.installed-%: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$*]'
	touch $@

install: $(VENV)/.installed-train

install-test: $(VENV)/.installed-train,test

run: install ## data, preflight, latent cache, training on 2 ranks, evaluation
	$(BIN)/ups data generate --config $(CONFIG)
	$(BIN)/ups-doctor preflight $(CONFIG) --set output.dir=$(RUN_DIR)
	$(BIN)/ups train $(CONFIG) --set output.dir=$(RUN_DIR) --no-preflight
	$(BIN)/ups evaluate $(RUN_DIR)/checkpoints/best.pt

test: install-test ## every test
	$(BIN)/python -m pytest $(TESTS)

lint: install-test ## ruff, mypy, codespell
	$(BIN)/ruff check diagnostics ups tests
	$(BIN)/ruff format --check diagnostics ups tests
	$(BIN)/mypy
	$(BIN)/codespell diagnostics ups tests configs README.md ARCHITECTURE.md CHANGELOG.md

check: lint test ## everything CI runs
