# Each target sets itself up from a bare machine: CPython 3.11 or newer with pip, cargo, make, gcc.
# What it needs goes into .venv and build/tools; a package index comes from pip's or uv's own configuration.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= $(shell for p in python3.11 python3 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$p && break; done)
VENV := $(CURDIR)/.venv
TOOLS := $(CURDIR)/build/tools
DONE := $(VENV)/done
UV := $(TOOLS)/bin/uv
CARGO_FUZZ := $(TOOLS)/bin/cargo-fuzz
CARGO_DENY := $(TOOLS)/bin/cargo-deny
NATIVE := src/recordmill/_core.abi3.so
RUST := Cargo.toml Cargo.lock $(shell find rust -path '*/target' -prune -o -path '*/fuzz' -prune -o \
	-type f \( -name '*.rs' -o -name Cargo.toml \) -print)
GROUPS := dev docs demo frameworks arrow browser cloud bench
SECONDS_EACH ?= 60
DEMO_OUT ?= demo-out
# `cargo check` does not link, so it needs no compiled libFuzzer. With the profile of Cargo.toml, it shares the
# dependencies that clippy has checked.
FUZZ_CHECK := CUSTOM_LIBFUZZER_PATH=$(CURDIR)/build/libfuzzer.a CARGO_PROFILE_DEV_OPT_LEVEL=1 \
	CARGO_PROFILE_DEV_DEBUG=line-tables-only
BENCH ?=
# tests/conftest.py orders the files; reordering by the number of tests would start the longest ones last.
PARALLEL ?= --numprocesses auto --dist loadfile --no-loadscope-reorder

export PATH := $(VENV)/bin:$(TOOLS)/bin:$(PATH)
export VIRTUAL_ENV := $(VENV)
export PYO3_PYTHON := $(VENV)/bin/python
export UV_PYTHON_DOWNLOADS := never
unexport PYTHONPATH PYTHONHOME CONDA_PREFIX
unexport PYTHONDONTWRITEBYTECODE # With it, each test process compiles all modules that it imports.

# uv does not read pip's configuration: hand it the index and the certificates that pip uses.
define pip_settings
export UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$${PIP_INDEX_URL:-}}"; \
: "$${UV_DEFAULT_INDEX:=$$($(PYTHON) -m pip config get global.index-url 2>/dev/null || true)}"; \
[ -n "$$UV_DEFAULT_INDEX" ] || unset UV_DEFAULT_INDEX; \
[ -z "$${PIP_CERT:-}" ] || export SSL_CERT_FILE="$${SSL_CERT_FILE:-$$PIP_CERT}"
endef

# Pins the packages of all groups and extras in the output file; versions that are already in it stay.
define compile_lock
uv pip compile --quiet --no-header --no-annotate --universal --python-version 3.11 --generate-hashes \
	--all-extras $(addprefix --group ,$(GROUPS)) pyproject.toml
endef

.PHONY: help setup demo test test-rust test-python test-deep chromium campaign coverage bench lint format completions lock docs wheel fuzz clean

help: ## Show the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(NATIVE) ## Make .venv with the native module built in release mode and all that the tests need.

demo: $(NATIVE) $(DONE)/demo ## Pack real images in all three formats, check them, train on each; leaves a report in demo-out/.
	recordmill demo --output $(DEMO_OUT) --overwrite

test: ## Run the fast tests, Rust and Python, documentation included.
	@$(MAKE) --no-print-directory --jobs=2 test-rust test-python

# The Rust tests need no Python: they are built while the native module is linked, which uses one core, and run while
# Python tests wait for processes. Their output is shown at once when they end.
test-rust:
	@mkdir -p build
	@echo "building and running the Rust tests"
	@cargo test --quiet --locked --workspace --exclude recordmill-py >build/test-rust.log 2>&1 || \
		{ cat build/test-rust.log; exit 1; }
	@cat build/test-rust.log

test-python: $(NATIVE)
	python -m pytest $(PARALLEL)

test-deep: $(NATIVE) $(DONE)/demo $(DONE)/docs $(DONE)/frameworks $(DONE)/arrow $(DONE)/browser $(DONE)/cloud chromium ## Run the tests that take minutes or need a framework.
	OMP_NUM_THREADS=1 python -m pytest -m deep $(PARALLEL)

campaign: $(NATIVE) $(DONE)/demo $(DONE)/frameworks fuzz ## Fuzz, and run the tests that take many minutes; docs/campaign.md records results.
	OMP_NUM_THREADS=1 python -m pytest -m campaign $(PARALLEL)

coverage: $(NATIVE) ## Run the fast Python tests; print the coverage of each package and the change since d92920a.
	@mkdir -p build
	coverage run -m pytest
	coverage json --quiet -o build/coverage.json
	python -m tools.coverage_by_package tests/behavior/coverage.json build/coverage.json

bench: $(NATIVE) $(DONE)/bench ## Measure against the peers, with the options in BENCH; see docs/performance.md.
	python -m benches $(BENCH)

lint: $(NATIVE) $(CARGO_DENY) ## Check style, types, dependencies and the stub of the native module; change nothing.
	ruff check .
	ruff format --check .
	mypy
	python -m mypy.stubtest recordmill._core --mypy-config-file tools/stubtest.ini --allowlist tools/stubtest.allow --ignore-unused-allowlist
	cargo fmt --all --check
	cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
	cargo deny --locked check --hide-inclusion-graph bans licenses sources
	@$(pip_settings); cp requirements.lock build/; $(compile_lock) --output-file build/requirements.lock >/dev/null
	diff <(grep == requirements.lock) <(grep == build/requirements.lock) || { echo "run: make lock" >&2; exit 1; }
	export $(FUZZ_CHECK); \
	for crate in core image py; do cargo check --quiet --locked --target-dir target --manifest-path rust/$$crate/fuzz/Cargo.toml; done

format: $(DONE)/dev ## Rewrite Python and Rust in the house style.
	ruff check --fix .
	ruff format .
	cargo fmt --all

completions: $(DONE)/dev ## Write the completion scripts of the command line to completions/.
	python -m tools.completions

lock: $(DONE)/dev ## Update requirements.lock to the newest versions that pyproject.toml allows.
	@$(pip_settings); $(compile_lock) --upgrade --output-file requirements.lock >/dev/null

docs: $(DONE)/docs ## Build the documentation into site/.
	NO_MKDOCS_2_WARNING=1 mkdocs build --quiet --strict

wheel: $(DONE)/dev ## Build a wheel, install it with NumPy alone into an empty environment, and try it.
	rm -rf dist
	maturin build --release --locked --out dist
	@$(pip_settings); \
	empty=$$(mktemp -d); trap 'rm -rf "$$empty"' EXIT; \
	uv venv --quiet --python $(VENV)/bin/python "$$empty/venv"; \
	uv pip install --quiet --python "$$empty/venv/bin/python" dist/*.whl; \
	cd "$$empty" && venv/bin/python -I $(CURDIR)/tools/smoke_wheel.py

fuzz: $(CARGO_FUZZ) $(DONE)/dev ## Fuzz every parser, and the native module, for SECONDS_EACH (60) seconds each.
	python -m tools.fuzz_seeds unpack
	@export RUSTC_BOOTSTRAP=1; \
	for crate in rust/core rust/image rust/py; do \
		cd "$(CURDIR)/$$crate"; \
		for target in $$(cargo fuzz list); do \
			echo "fuzz: $$target, $(SECONDS_EACH) s"; \
			cargo fuzz run "$$target" -- -max_total_time=$(SECONDS_EACH) -rss_limit_mb=2048 -timeout=10 || exit 1; \
		done; \
	done

clean: ## Remove everything that the other targets made.
	rm -rf .venv build dist site target demo-out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf rust/*/fuzz/target $(NATIVE)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --target needs neither the venv module nor leave to write beside the system's packages.
$(UV):
	@test -n "$(PYTHON)" || { echo "no CPython 3.11 or newer on PATH; name one: make PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m pip install --quiet --upgrade --target $(TOOLS) uv==0.13.9

$(VENV)/bin/python: | $(UV)
	$(UV) venv --quiet --allow-existing --python "$(PYTHON)" $(VENV)

$(addprefix $(DONE)/,$(GROUPS)): $(DONE)/%: pyproject.toml requirements.lock | $(VENV)/bin/python
	@echo "installing the group $* of pyproject.toml"
	@$(pip_settings); uv pip install --quiet -r pyproject.toml --group $* --constraint requirements.lock \
		--extra image $(if $(filter demo,$*),--extra keras)
	@mkdir -p $(@D) && touch $@

$(NATIVE): $(RUST) pyproject.toml $(DONE)/dev
	@echo "building recordmill._core in release mode"
	@$(pip_settings); maturin develop --quiet --uv --release
	@touch $@

chromium:
	@command -v chromium >/dev/null && exit; \
	echo "installing Chromium, in which the tests open the viewer"; \
	sudo=$$([ "$$(id -u)" = 0 ] || echo sudo -n); \
	$$sudo apt-get -qq update && $$sudo apt-get -qq install --no-install-recommends --yes chromium >/dev/null || \
		{ echo "Chromium is missing; run: sudo apt-get install chromium" >&2; exit 1; }

$(CARGO_FUZZ):
	cargo install --quiet --locked --root $(TOOLS) cargo-fuzz

# Without optimization: it builds in half the time and runs for a second.
$(CARGO_DENY):
	CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --debug --no-default-features --root $(TOOLS) cargo-deny@0.20.2
