# Ricochet: `make` lists the targets. Every target sets up what it needs first.
VENV ?= .venv
# python3.11, for which requirements.lock is made, else another that the project takes.
ifndef PYTHON
PYTHON := $(firstword $(foreach name,python3.11 python3 python3.12 python3.13,$(shell \
	$(name) -c 'import sys; (3, 11) <= sys.version_info[:2] <= (3, 13) and print(sys.executable)' 2>/dev/null)))
endif
ifeq ($(PYTHON),)
$(error found no Python 3.11, 3.12 or 3.13, expected one on the path or PYTHON=/path/to/python)
endif
PYTEST = $(VENV)/bin/python -m pytest
# Believes no remote.
DVC = $(VENV)/bin/python -P -m ricochet.tasks.recordings.dvc_program
WORKERS ?= 2
# Annotations of the science are checked as its own tests run, an int passing for a float; that takes
# two to five times as long, so CI checks those of the shelves, `make proofs` those of the systems.
TYPED = --jaxtyping-packages="ricochet.models,beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
SHELVES = $(filter-out tests/models/systems tests/models/__pycache__,$(patsubst %/.,%,$(wildcard tests/models/*/.))) \
	$(wildcard tests/models/test_*.py)
OTHERS = $(filter-out tests/models tests/__pycache__,$(patsubst %/.,%,$(wildcard tests/*/.))) $(wildcard tests/test_*.py) \
	tests/models/systems
# Where the long tests are; the others need not be imported for them. They wait much of their time,
# so there is one worker more.
SLOW = $(sort $(shell grep -rl --include="test_*.py" "mark\.slow" tests))
# Whose loops take three to sixty times as long with every call checked, which is too long.
LOOPS = drawers/tracking/test_follower drawers/kinematics/test_scene drawers/belief/test_weighing \
	air_hockey/puck/test_flights air_hockey/puck/test_recorded_modes air_hockey/test_simulator_contacts \
	air_hockey/test_agent air_hockey/arm/test_sampling_mpc air_hockey/shots/test_angle_policies \
	batting/planning/test_rate batting/impacts/test_misfits bouncing_ball/listening/test_bounce_chains
UNTYPED = $(LOOPS:%=tests/models/systems/%.py)
MOTIONS = tests/models/inference/test_methods_on_motions.py
# Where tests keep their folders: in memory, of which they take less than 1 GB, since databases wait for
# a disk; where 8 GB are free and programs of tests may run there, which containers forbid.
MEMORY := $(shell awk '$$1 == "MemAvailable:" && $$2 > 8000000 { free = 1 } \
	$$2 == "/dev/shm" && $$4 !~ /noexec/ { open = 1 } END { if (free && open) print "/dev/shm" }' \
	/proc/meminfo /proc/mounts 2>/dev/null)
digest = $(shell $(PYTHON) -c 'import hashlib, pathlib; print(hashlib.sha256(pathlib.Path("$(1)").read_bytes()).hexdigest()[:16])')
PACKAGES = $(VENV)/.packages-$(call digest,requirements.lock)
PROJECT = $(VENV)/.project-$(call digest,pyproject.toml)

# Nothing phones home, and small tensors in loops are fastest on one thread.
export PREFECT_SERVER_ANALYTICS_ENABLED = false
export DO_NOT_TRACK = true
export MLFLOW_DISABLE_TELEMETRY = true
export DVC_NO_ANALYTICS = 1
export OMP_NUM_THREADS ?= 1
# Empty: bytecode is kept. Every verb and hundreds of tests are processes that import the packages.
export PYTHONDONTWRITEBYTECODE =
export PATH := $(abspath $(VENV))/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help setup packages setup-compare setup-robot setup-media setup-docs wheel pull calibrate fast slow proofs test lint types contracts \
	check docs screenshots benchmark up figures repro format sample

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: packages ## make .venv from requirements.lock, with the `ricochet` command in it
	@if [ -e $(PROJECT) ]; then echo "setup: the ricochet command is in $(VENV), nothing installed"; \
	else $(MAKE) --no-print-directory $(PROJECT); fi

packages: ## make .venv from requirements.lock, without the project
	@if [ -e $(PACKAGES) ]; then echo "packages: $(VENV) matches requirements.lock, nothing installed"; \
	else $(MAKE) --no-print-directory $(PACKAGES); fi

# An interrupted install is taken up where it stopped: pip keeps what is complete, and a package
# whose RECORD was never written is put in again. First pip itself, at the
# version of the lock.
$(PACKAGES):
	@echo "packages: $(PYTHON) makes $(VENV): the $$(grep -c == requirements.lock) packages of requirements.lock"
	@echo "packages: about 2 GB on disk and a few minutes, once; nothing is installed outside $(VENV)"
	@$(VENV)/bin/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@find $(VENV)/lib -name '*.dist-info' ! -exec test -e '{}/RECORD' ';' -prune -exec rm -rf '{}' +
	@$(VENV)/bin/python -m pip install -qq --disable-pip-version-check $$(grep '^pip==' requirements.lock)
	$(VENV)/bin/python -m pip install -qq --no-compile -r requirements.lock
	@rm -f $(VENV)/.packages-* && touch $@

$(PROJECT):
	$(VENV)/bin/python -m pip install -qq --no-deps --no-build-isolation -e .
	@rm -f $(VENV)/.project-* && touch $@
	@echo "setup: done, the command is $(VENV)/bin/ricochet"

setup-compare: setup ## add the peers that studies are compared with (sbi, emcee, nutpie)
	$(VENV)/bin/python -m pip install -qq -r requirements-compare.lock

setup-robot: setup ## add the driver of a real arm
	$(VENV)/bin/python -m pip install -qq -r requirements-robot.lock

setup-media: setup ## add the decoder of what phones write: m4a, mp4, mov, amr
	$(VENV)/bin/python -m pip install -qq -r requirements-media.lock

setup-docs: setup ## add what builds the site (Sphinx)
	@$(VENV)/bin/python -c 'import furo, jupytext, myst_nb' 2>/dev/null \
	|| $(VENV)/bin/python -m pip install -qq -r requirements-docs.lock
	@$(VENV)/bin/python -m pip check

wheel: ## build dist/ricochet_lab-*.whl, which pip installs anywhere
	@rm -rf build  # setuptools would take up what lies there
	@if [ -x $(VENV)/bin/pip ]; \
	then $(VENV)/bin/python -m pip wheel -qq --no-deps --no-build-isolation --wheel-dir dist .; \
	else $(PYTHON) -m pip wheel -qq --no-deps --wheel-dir dist .; fi
	@ls dist/*.whl

pull: setup ## fetch the recordings that data.dvc names
	@if $(DVC) status --quiet data.dvc >/dev/null 2>&1; \
	then echo "pull: data/ matches data.dvc, nothing fetched"; \
	elif $(DVC) pull --quiet data.dvc || $(DVC) pull --quiet -r published data.dvc; \
	then echo "pull: data/ is complete"; \
	else echo "data/: found files that differ from data.dvc, expected those it names:" >&2; \
	$(DVC) data status --granular >&2; \
	echo "'$(DVC) checkout --force data.dvc' brings them back; 'ricochet calibrate' takes what is there" >&2; \
	exit 2; fi

calibrate: pull ## recordings to a registered posterior for every ball-surface pair (the main job)
	$(VENV)/bin/ricochet calibrate data/*/

fast slow proofs: export TMPDIR := $(or $(TMPDIR),$(MEMORY),/tmp)

# A file's tests run on one worker, so that what they share is made once.
fast: setup ## tests of a second or two each
	$(PYTEST) -q -n $(WORKERS) --dist loadfile $(SHELVES) --ignore=$(MOTIONS) $(TYPED)
	$(PYTEST) -q -n $(WORKERS) --dist loadfile $(OTHERS) $(MOTIONS)

slow: setup ## the long tests: studies, recovery, crashes, servers
	$(PYTEST) -q -n $(shell expr $(WORKERS) + 1) --dist loadfile -m "slow and not proof" --durations=30 --durations-min=8 $(SLOW)

test: fast slow ## all tests but the proofs

proofs: setup ## long recoveries and coverages, and the systems' annotations, by hand
	$(PYTEST) -q -n $(WORKERS) --dist loadfile tests/models/systems $(UNTYPED:%=--ignore=%) $(TYPED)
	$(PYTEST) -q -n $(WORKERS) --dist loadfile -m proof

lint: setup ## style and format
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

format: setup ## put the format right
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

types: setup ## static types
	$(VENV)/bin/mypy

contracts: setup ## the one-way rule of imports
	$(VENV)/bin/lint-imports --no-cache --no-logo

check: lint types contracts test ## what CI runs

# Offline. Warnings are errors, and so is a page that loads something from another host.
docs: setup-docs ## build the site: tutorials, notebooks, how-to, reference
	$(VENV)/bin/python -m sphinx -W --keep-going -q -E -b html -d site/doctrees docs site/html
	@echo "docs: open site/html/index.html; executed notebooks are in site/jupyter_execute"

screenshots: setup ## pictures of MLflow and Prefect, where there is a Chromium, into artifacts/screenshots
	$(VENV)/bin/python docs/screenshots.py

benchmark: setup ## measured tables of speed and accuracy beside what one would pick instead
	@for file in benchmarks/*/[a-z]*.py; do echo "== $$file"; \
	$(VENV)/bin/python -m "$$(echo $${file%.py} | tr / .)" || exit 1; done

sample: setup ## record the simulated sample anew where it is missing (then: dvc add data, dvc push)
	$(VENV)/bin/python -m ricochet.tasks.systems.bouncing_ball.sample

repro: pull ## reproduce the sample's posteriors, skipping what is unchanged
	$(DVC) repro

figures: setup ## the paper's tables and figures at reduced size
	$(VENV)/bin/ricochet study ball-inference --quick

up: setup ## MLflow, Prefect and a worker on loopback, ready to look at
	$(VENV)/bin/ricochet up
