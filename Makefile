# The front of the build. Every target installs what it needs: Debian packages by name, Python packages into .venv.
.DEFAULT_GOAL := build
.PHONY: build demo test test-all bench lab lab-quick fuzz format tidy install clean

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
VENV := .venv
PYTHON := $(VENV)/bin/python

build: .packages
	cmake --preset release
	ninja -C build -j$(JOBS)

# What `apt-get` must provide; checked once, and again when the list changes.
.packages: tools/packages.txt tools/install_packages.sh
	tools/install_packages.sh
	touch $@

$(VENV)/.done: python/requirements-test.txt
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --requirement python/requirements-test.txt
	touch $@

demo: build
	demo/demo.sh build/whystop

test: build $(VENV)/.done
	$(PYTHON) tools/run_tests.py

test-all: build $(VENV)/.done
	$(PYTHON) tools/run_tests.py --all

$(VENV)/.bench-done: python/requirements-bench.txt $(VENV)/.done
	$(PYTHON) -m pip install --quiet --requirement python/requirements-bench.txt
	touch $@

bench: build $(VENV)/.bench-done
	$(PYTHON) bench/run.py

lab: build $(VENV)/.done
	$(PYTHON) lab/run.py --write

lab-quick: build $(VENV)/.done
	$(PYTHON) lab/run.py --quick

fuzz: .packages
	tools/fuzz.sh

format:
	git ls-files '*.cc' '*.h' '*.hpp' '*.c' | xargs clang-format-14 -i

tidy: build
	python3 tools/tidy.py

install: build
	cmake --install build --prefix $(PREFIX) --strip

clean:
	rm -rf build build-asan build-tsan build-fuzz
