# `make run`: from nothing to a trained model. `make test`: every test. Both make their own environment.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
CONFIG ?= configs/quickstart.yaml
RUN_DIR ?= reports/quickstart-$(shell date +%Y%m%d-%H%M%S)
RUN_DIR := $(RUN_DIR)
TESTS ?= tests
# Tests wait more than they compute: twice as many as there are cores. WORKERS=0: one after the other.
WORKERS ?= $(shell echo $$(( $$(nproc) * 2 )))

.PHONY: help run test zoo compat mutants drills cluster-test lint check install install-test
.DEFAULT_GOAL := help

help: ## what can be made
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/'

# One stamp for each set of extras; it is renewed when what they install changes.
$(VENV)/.installed-%: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "python 3.11 or newer is needed, $(PYTHON) is %d.%d: make PYTHON=/path/to/python3.11" % sys.version_info[:2])'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing .[$*] into $(VENV) (some minutes the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$*]'
	@touch $@

install: $(VENV)/.installed-train

install-test: $(VENV)/.installed-train,test

run: install ## data, preflight, latent cache, training on 2 ranks, evaluation with plots
	$(BIN)/ups data generate --config $(CONFIG)
	$(BIN)/ups-doctor preflight $(CONFIG) --set output.dir=$(RUN_DIR)
	$(BIN)/ups train $(CONFIG) --set output.dir=$(RUN_DIR) --no-preflight
	$(BIN)/ups evaluate $(RUN_DIR)/checkpoints/best.pt
	@echo
	@echo "report      $$(ls -td reports/*-preflight | head -1)/report.md"
	@echo "plots       $(RUN_DIR)/plots"
	@echo "checkpoint  $(RUN_DIR)/checkpoints/best.pt"

test: install-test ## every test; TESTS=tests/agent for some of them
	@$(BIN)/python -m compileall -q diagnostics ups  # the tests start thousands of processes, also where Python keeps nothing
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(TESTS) || { code=$$?; [ $$code -eq 1 ] || exit $$code; \
	  echo; echo "what failed beside others, once more and alone: a test that passes now needs a quieter machine than it should"; \
	  $(BIN)/python -m pytest --last-failed --last-failed-no-failures none -n 0 $(TESTS); }

zoo: $(VENV)/.installed-train,test,zoo ## the doctor's score over the fault zoo; ONLY='NAME ...' for some programs
	$(BIN)/python tests/zoo/score.py $(if $(ONLY),--only $(ONLY))

compat: $(VENV)/.installed-train,test,zoo ## one program of each class run by another Python with its torch; JOB_PYTHON=/path/to/python
	$(BIN)/python tests/zoo/score.py --quick --no-bare --python $(JOB_PYTHON)

mutants: install-test ## the score on programs of others with faults put in; N=200 SEED=1 KEEP=DIR
	$(BIN)/python tests/mutants/score.py --n $(or $(N),40) --seed $(or $(SEED),1) --jobs $(or $(JOBS),2) $(if $(KEEP),--keep $(KEEP))

drills: $(VENV)/.installed-train,test,zoo ## signals at random moments, hostile outputs and records, last words, handled failures, every mode of the trainer with each rank failing; SEED=2 for others
	$(BIN)/python tests/benchmarks/interrupt_drill.py --moments 50 --seed $(or $(SEED),1)
	$(BIN)/python tests/benchmarks/output_fuzz.py --minutes 2 --seed $(or $(SEED),1)
	$(BIN)/python tests/benchmarks/record_fuzz.py --minutes 2 --seed $(or $(SEED),1)
	$(BIN)/python tests/benchmarks/last_word.py
	$(BIN)/python tests/benchmarks/clean_ends.py
	$(BIN)/python tests/benchmarks/recovery/kill_drill.py
	$(BIN)/python tests/zoo/handled.py
	$(BIN)/python tests/benchmarks/training/modes.py --drills

cluster-test: install-test ## failures on a real Slurm of NODES nodes on this machine; needs root and apt-get install slurm-wlm munge
	@$(BIN)/python tests/benchmarks/cluster/cluster_test.py --nodes $(or $(NODES),2) || { code=$$?; [ $$code -eq 77 ] || exit $$code; }

lint: install-test ## ruff, mypy, codespell
	$(BIN)/ruff check diagnostics ups tests
	$(BIN)/ruff format --check diagnostics ups tests
	$(BIN)/mypy
	$(BIN)/codespell diagnostics ups tests configs *.md

check: lint test ## everything CI runs
