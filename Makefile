# `make run`: from nothing to trained models. `make test`: every test. Both make their own environment.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
CONFIG ?= configs/pipeline.yaml
STEADY ?= configs/pipeline_darcy.yaml
RUN_DIR ?= reports/pipeline-$(shell date +%Y%m%d-%H%M%S)
RUN_DIR := $(RUN_DIR)
TESTS ?= tests
# Tests wait more than they compute: twice as many as there are cores. WORKERS=0: one after the other.
WORKERS ?= $(shell echo $$(( $$(nproc) * 2 )))

.PHONY: help run accuracy accuracy-small test zoo compat mutants drills page-test wheel-test cluster-test lint check install install-test
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

run: install ## two pipelines: advection through four stages, Darcy with the one for steady problems; checks, training on 2 ranks, evaluation, report
	$(BIN)/ups pipeline $(CONFIG) --set output.dir=$(RUN_DIR)
	$(BIN)/ups pipeline $(STEADY) --set output.dir=$(RUN_DIR)-darcy --skip-preflight --skip-dry-run
	@echo
	@echo "preflight   $$(ls -td reports/*-preflight | head -1)/report.md"
	@echo "reports     $(RUN_DIR)/pipeline/report.md  $(RUN_DIR)-darcy/pipeline/report.md"
	@echo "plots       $(RUN_DIR)/pipeline/evaluation/plots  $(RUN_DIR)-darcy/pipeline/evaluation/plots"
	@echo "best        reports/leaderboard.jsonl  reports/promoted"

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

accuracy-small: install ## errors of every model on small data, for equal CPU seconds, into tests/benchmarks/accuracy/results; SEEDS='0 1 2'
	$(BIN)/python tests/benchmarks/accuracy/run.py --size small --seeds $(or $(SEEDS),0)

accuracy: install ## the same on more data, for hours, with three seeds
	$(BIN)/python tests/benchmarks/accuracy/run.py --size full --seeds $(or $(SEEDS),0 1 2)

drills: $(VENV)/.installed-train,test,zoo ## signals at random moments, hostile outputs and records, last words, handled failures, every mode of the trainer with each rank failing; SEED=2 for others
	$(BIN)/python tests/benchmarks/interrupt_drill.py --moments 50 --seed $(or $(SEED),1)
	$(BIN)/python tests/benchmarks/output_fuzz.py --minutes 2 --seed $(or $(SEED),1)
	$(BIN)/python tests/benchmarks/record_fuzz.py --minutes 2 --seed $(or $(SEED),1)
	$(BIN)/python tests/benchmarks/last_word.py
	$(BIN)/python tests/benchmarks/clean_ends.py
	$(BIN)/python tests/benchmarks/recovery/kill_drill.py
	$(BIN)/python tests/zoo/handled.py
	$(BIN)/python tests/benchmarks/training/modes.py --drills

page-test: install-test ## report.html in a real Chromium, with axe-core; PICTURES=DIR keeps pictures at three widths
	@test -f $(VENV)/axe/package/axe.min.js || { mkdir -p $(VENV)/axe; cd $(VENV)/axe; tar xzf $$(npm pack --silent axe-core@4.14.1); }
	AXE=$(VENV)/axe/package/axe.min.js $(BIN)/python -m pytest -q tests/benchmarks/pages

wheel-test: install-test ## wheel and sdist in bare environments without torch; PYTHONS='python3.11 python3.12'
	$(BIN)/python tests/benchmarks/install/wheel_test.py

cluster-test: install-test ## failures on a real Slurm of NODES nodes on this machine; needs root and apt-get install slurm-wlm munge
	@$(BIN)/python tests/benchmarks/cluster/cluster_test.py --nodes $(or $(NODES),2) || { code=$$?; [ $$code -eq 77 ] || exit $$code; }

lint: install-test ## ruff, mypy, codespell
	$(BIN)/ruff check diagnostics ups tests
	$(BIN)/ruff format --check diagnostics ups tests
	$(BIN)/mypy
	$(BIN)/codespell diagnostics ups tests configs *.md

check: lint test ## everything CI runs
