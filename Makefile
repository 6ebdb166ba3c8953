# The commands to know: `make run` starts the server, `make check` and `make test` judge a change.
# PYTHON=/path/to/python3.12 chooses the interpreter; anything from 3.11 on does.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.SUFFIXES:

VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
UV_VERSION := 0.13.9
CANDIDATES := python3 python3.13 python3.12 python3.11 python3.14 python
# What pytest gets besides its own settings: `make test ARGS="-k tokens"`.
ARGS ?=
# Tests by their marks; none is all of them.
MARKS ?= not deep
# One process more than there are cores, as tests also wait; `make test JOBS=0` runs all in one.
JOBS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

.PHONY: help run test deep check chaos oracle bench clients llm dist texts lock format clean

help: ## Show these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

run: $(BIN)/opencode-web ## Install what is missing, migrate and start the server on PORT (4096)
	@exec $(BIN)/python manage.py up

# The tests stay compiled whatever the caller's shell says: otherwise each process compiles all of
# them. Warnings are errors without Python's development mode, which costs a tenth.
test: $(VENV)/.installed-dev ## Run the tests; ARGS="-k name" picks some
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "$(MARKS)" $(ARGS)

deep: MARKS := deep
deep: test ## Run the long tests that `make test` leaves out: browser stories, faults, sweeps, genuine programs

check: $(VENV)/.installed-dev ## Format, lint, types, layers, migrations
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

chaos: $(VENV)/.installed-dev ## Kill a real server at named points; ARGS="--embedded --seeds 20"
	@$(BIN)/python -m tests.chaos $(ARGS)

oracle: $(VENV)/.installed-dev ## Compare with the genuine program's requests; ARGS="FOLDER --show"
	@$(BIN)/python -m tests.oracle $(ARGS)

bench: $(VENV)/.installed-dev ## Measure, beside the reference program where npm has it
	@$(BIN)/python -m bench $(ARGS)

clients: $(VENV)/.installed-dev ## Write clients/openapi.json and the typed clients made from it
	@$(BIN)/python -m clients.generate

llm: $(UV) ## Build the wheel of the model layer alone, into dist/
	@$(UV) build --quiet --wheel --out-dir dist providers/llm

dist: $(UV) ## Build the wheel of the server with its command line, and its checksum, into dist/
	@$(UV) build --quiet --wheel --out-dir dist .
	@cd dist && { sha256sum opencode_web-*.whl || shasum -a 256 opencode_web-*.whl; } 2>/dev/null > SHA256SUMS

texts: $(VENV)/.installed-dev ## Extract and compile the texts to translate, after a change of them
	@$(BIN)/python manage.py texts

format: $(VENV)/.installed-dev ## Put the code into the one format and mend what ruff can
	$(BIN)/ruff check --fix-only --quiet
	$(BIN)/ruff format

# Without addresses, so that every installation uses the registry that it is set up for.
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" pyproject.toml

lock: $(UV) ## Resolve the dependencies again; ARGS="--upgrade" takes newer ones
	$(COMPILE) $(ARGS) --output-file requirements.lock
	$(COMPILE) $(ARGS) --extra saml --constraints requirements.lock --output-file requirements-saml.lock
	$(COMPILE) $(ARGS) --extra saml --group dev --constraints requirements-saml.lock --output-file requirements-dev.lock

clean: ## Remove the environment and the caches; data in var/ stays
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A broken link to an interpreter that is gone counts as missing, so the environment is made anew.
$(BIN)/python:
	@set -e; chosen="$(PYTHON)"; enough='import sys; sys.exit(sys.version_info < (3, 11))'; \
	if [ -n "$$chosen" ]; then \
	  "$$chosen" -c "$$enough" 2>/dev/null || { \
	    echo "PYTHON=$$chosen is no Python 3.11 or newer." >&2; exit 1; }; \
	else \
	  for name in $(CANDIDATES); do \
	    if "$$name" -c "$$enough" 2>/dev/null; then chosen="$$name"; break; fi; \
	  done; \
	fi; \
	[ -n "$$chosen" ] || { \
	  echo "No Python 3.11 or newer was found: install one, or name it with PYTHON=/path." >&2; \
	  exit 1; }; \
	"$$chosen" -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$$chosen cannot make virtual environments: install its venv package" \
	    "(python3-venv on Debian and Ubuntu)." >&2; exit 1; }; \
	echo "Making $(VENV) with $$("$$chosen" --version)"; \
	"$$chosen" -m venv --clear $(VENV)

$(UV): | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

# Behind a proxy that signs for others only the system's certificates do, on a bare machine only
# those that uv brings: the second try is with the system's, and only its errors are shown.
define install
	@$(UV) pip $(1) --quiet --python $(BIN)/python --require-hashes --compile-bytecode $(2) 2>/dev/null \
	  || $(UV) --system-certs pip $(1) --quiet --python $(BIN)/python --require-hashes \
	    --compile-bytecode $(2)
	@touch $@
endef

# The command line of this checkout; elsewhere pip installs it from clients/python.
$(BIN)/opencode-web: $(VENV)/.installed
	@printf '%s\n' '#!$(CURDIR)/$(BIN)/python' 'import sys' \
	  'sys.path.insert(0, "$(CURDIR)/clients/python")' \
	  'from opencode_web_cli.main import main' 'sys.exit(main())' > $@
	@chmod +x $@

$(VENV)/.installed: requirements.lock $(BIN)/python | $(UV)
	@echo "Installing the locked dependencies (once)"
	$(call install,sync,requirements.lock)

# `sync` takes the tools of development away; that only happens when the lock file has changed.
$(VENV)/.installed-dev: requirements-dev.lock $(VENV)/.installed | $(UV)
	@echo "Installing the tools of development (once)"
	$(call install,install,--requirements requirements-dev.lock)
