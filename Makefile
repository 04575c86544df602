# Needs Python 3.11 or newer, a C++20 compiler and make; everything else comes from PyPI into .venv.
#   make env     the environment, with hinge built into it (rebuilds when C++ sources change)
#   make demo    scikit-learn beside hinge on real data, then the command line, in under a minute
#   make test    the whole test suite, and what depends on native code again for each CPU level
#   make lint    style, types and import contracts
#   make native  C++ tests: optimised, then under ASan and UBSan
#   make asan    the Python tests with the compiled core under ASan and UBSan
#   make fuzz-reader      ten minutes of libFuzzer on the reader of LIBSVM text (needs clang)
#   make fuzz-model       ten minutes of coverage-guided fuzzing of the model loader
#   make campaign-model   100,000 mutated model files under ASan; killed saves; full disks
#   make campaign-import  100,000 damaged text models of LIBLINEAR, and of LIBSVM, against readers
#   make campaign-bounds  10,000 evaluations through the index of margins, judged exactly
#   make campaign-kernel  500 random kernel machines against clarabel, in extended precision
#   make campaign-anytime  10,000,000 queries of proven labels against full evaluations
#   make campaign-duals   200 of them for every solver of kernel machines
#   make sklearn-versions  the tests that depend on scikit-learn with each version that is promised
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

CPP_SOURCES := $(sort $(shell find cpp -name '*.hpp' -o -name '*.cpp' -o -name '*.cmake' -o -name '*.map'))
CORE_SOURCES := CMakeLists.txt pyproject.toml $(filter-out cpp/tests/%,$(CPP_SOURCES))

.DEFAULT_GOAL := help
.PHONY: help env demo test lint style types contracts native asan docs bench bench-peers wheel clean
.PHONY: fuzz-reader fuzz-model campaign-model campaign-import campaign-bounds campaign-kernel campaign-anytime
.PHONY: campaign-duals sklearn-versions

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
NATIVE_TESTS := $(addprefix tests/,anytime kernels bounds machines lowrank solvers multiclass estimators) \
  $(wildcard tests/data/test_libsvm_*.py tests/models/test_checkpoint*.py)

# Processes that share out the test files; a file's tests stay together, with what they share.
TEST_WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile

test: $(ENVIRONMENT)
	$(PYTEST)
	$(BIN)/python tools/at_lower_cpu_levels.py $(PYTEST) $(NATIVE_TESTS)

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

bench: $(ENVIRONMENT) $(VENV)/demo.installed
	$(BIN)/python -m benchmarks linear --quick

bench-peers: $(ENVIRONMENT)
	$(BIN)/python -m benchmarks peers

wheel: $(VENV)/build.installed
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .

# One wheel for all of them; environments stay in build/sklearn for the next time.
SKLEARN_VERSIONS ?=

sklearn-versions: wheel
	$(BIN)/python tools/sklearn_versions.py "$$(ls -t dist/hinge-*.whl | head -1)" build/sklearn \
	  $(SKLEARN_VERSIONS)

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
	TEST_WORKERS=$(TEST_WORKERS) $(BIN)/python tools/sanitized_tests.py $(PYTEST_ARGUMENTS)

# --- hostile files ---------------------------------------------------------------------------

FUZZ_CXX ?= clang++
FUZZ_SECONDS ?= 600
FUZZ_READER := build/fuzz/libsvm_text

# What earlier runs found is replayed first; a new finding is left in build/fuzz/libsvm_text.
fuzz-reader: $(ENVIRONMENT)
	@command -v $(FUZZ_CXX) > /dev/null || { echo "libFuzzer comes with clang: install it, or name it with FUZZ_CXX=clang++-16"; exit 1; }
	mkdir -p $(FUZZ_READER)/corpus
	$(BIN)/python -m fuzz.libsvm_text.make_seeds $(FUZZ_READER)/seeds
	$(FUZZ_CXX) -std=c++20 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	  -ffp-contract=off -Icpp/include fuzz/libsvm_text/fuzz_libsvm_text.cpp -o $(FUZZ_READER)/fuzz
	$(FUZZ_READER)/fuzz fuzz/libsvm_text/regressions/*
	$(FUZZ_READER)/fuzz -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=10 \
	  -print_final_stats=1 -dict=fuzz/libsvm_text/dictionary.txt \
	  -artifact_prefix=$(FUZZ_READER)/ $(FUZZ_READER)/corpus $(FUZZ_READER)/seeds \
	  fuzz/libsvm_text/regressions

MUTATIONS ?= 100000
KILLS ?= 1000

$(VENV)/atheris.installed: $(VENV)/made
	$(PIP) install 'atheris>=3'
	@touch $@

fuzz-model: $(ENVIRONMENT) $(VENV)/atheris.installed
	$(BIN)/python -m fuzz.model_file.fuzz_loader fuzz/model_file/corpus \
	  -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=fuzz/model_file/

campaign-model: $(ENVIRONMENT)
	$(BIN)/python tools/sanitized_tests.py --python -m fuzz.model_file.campaign --count $(MUTATIONS)
	$(BIN)/python -m fuzz.model_file.kill_saves --kills $(KILLS)
	unshare -rm $(BIN)/python -m fuzz.model_file.full_disk

campaign-import: $(ENVIRONMENT)
	$(BIN)/python -W error -m fuzz.liblinear_text.campaign $(MUTATIONS)
	$(BIN)/python -W error -m fuzz.libsvm_model.campaign $(MUTATIONS)

campaign-bounds: $(ENVIRONMENT)
	$(BIN)/python -W error -m fuzz.margin_bounds.campaign 10000

campaign-kernel: $(ENVIRONMENT)
	$(BIN)/python -W error -m fuzz.kernel_machines.campaign 500

campaign-anytime: $(ENVIRONMENT)
	$(BIN)/python -W error -m fuzz.anytime.campaign 10000000

campaign-duals: $(ENVIRONMENT)
	$(BIN)/python -W error -m fuzz.kernel_machines.campaign 200 --every

clean:
	rm -rf $(VENV) build dist docs/_build src/hinge/_core.pyi hinge-demo.png \
	  fuzz/*/corpus fuzz/*/findings \
	  .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
