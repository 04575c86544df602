# Needs Python 3.11 or newer, a C++20 compiler and make; everything else comes from PyPI into .venv.
#   make env     the environment, with hinge built into it (rebuilds when C++ sources change)
#   make demo    scikit-learn beside hinge on real data, then the command line, in under a minute
#   make test    the whole test suite, and what depends on native code again for each CPU level
#   make lint    style, types and import contracts
#   make native  C++ tests: optimised, then under ASan and UBSan
#   make asan    the Python tests with the compiled core under ASan and UBSan
#   make docs    the documentation site, warnings as errors
#   make bench   a short benchmark;  make bench-peers  an environment per competing library
#   make wheel   the wheel for this Python, into dist/
#   make clean   remove everything that the above made

PYTHON ?= python3
HINGE_WERROR ?= OFF
export CMAKE_BUILD_PARALLEL_LEVEL ?= 2

VENV := .venv
BIN := $(VENV)/bin
# Tools such as ninja and clang-format are looked for in the environment first.
export PATH := $(CURDIR)/$(BIN):$(PATH)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

CPP_SOURCES := $(sort $(shell find cpp -name '*.hpp' -o -name '*.cpp' -o -name '*.cmake'))
CORE_SOURCES := CMakeLists.txt pyproject.toml $(filter-out cpp/tests/%,$(CPP_SOURCES))

.DEFAULT_GOAL := help
.PHONY: help env demo test lint style types contracts native asan docs bench bench-peers wheel clean

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

# --- environment -----------------------------------------------------------------------------

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "hinge needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try make PYTHON=python3.12 env"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	@touch $@

# $(VENV)/<group>.installed: the dependency group of that name in pyproject.toml.
$(VENV)/%.installed: pyproject.toml $(VENV)/made
	$(PIP) install --group $*
	@touch $@

$(VENV)/hinge.built: $(CORE_SOURCES) $(VENV)/build.installed
	$(PIP) install --no-build-isolation --editable . -C cmake.define.HINGE_WERROR=$(HINGE_WERROR)
	@touch $@

ENVIRONMENT := $(VENV)/hinge.built $(VENV)/test.installed

env: $(ENVIRONMENT) $(VENV)/dev.installed

# --- what the environment is for -------------------------------------------------------------

demo: $(VENV)/hinge.built $(VENV)/demo.installed
	$(BIN)/python examples/demo.py
	$(BIN)/hinge demo

# The tests of what runs in C++, which must hold for every CPU level and not only for the best.
NATIVE_TESTS := $(wildcard $(addprefix tests/,kernels solvers multiclass estimators models))

test: $(ENVIRONMENT)
	$(BIN)/python -m pytest
	$(BIN)/python tools/at_lower_cpu_levels.py $(BIN)/python -m pytest $(NATIVE_TESTS)

lint: style types contracts

style: $(VENV)/lint.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(filter %.cpp %.hpp,$(CPP_SOURCES))
	$(BIN)/codespell

types: $(ENVIRONMENT) $(VENV)/lint.installed
	$(BIN)/mypy

contracts: $(ENVIRONMENT) $(VENV)/lint.installed
	$(BIN)/lint-imports

docs: $(ENVIRONMENT) $(VENV)/docs.installed
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

bench: $(ENVIRONMENT)
	$(BIN)/python -m benchmarks linear --quick

bench-peers: $(ENVIRONMENT)
	$(BIN)/python -m benchmarks peers

wheel: $(VENV)/build.installed
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .

# --- sanitizers ------------------------------------------------------------------------------

native: $(VENV)/build.installed
	$(BIN)/cmake -S cpp/tests -B build/native -G Ninja -DCMAKE_BUILD_TYPE=Release -DHINGE_WERROR=ON
	$(BIN)/cmake --build build/native
	$(BIN)/ctest --test-dir build/native --output-on-failure --no-tests=error
	$(BIN)/cmake -S cpp/tests -B build/native-sanitized -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
	  -DHINGE_WERROR=ON -DHINGE_SANITIZE=address,undefined
	$(BIN)/cmake --build build/native-sanitized
	$(BIN)/ctest --test-dir build/native-sanitized --output-on-failure --no-tests=error

asan: $(ENVIRONMENT)
	$(BIN)/python tools/sanitized_tests.py $(PYTEST_ARGUMENTS)

clean:
	rm -rf $(VENV) build dist docs/_build src/hinge/_core.pyi hinge-demo.png \
	  .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
