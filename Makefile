# The front of the build. Every target installs what it needs: Debian packages by name, Python packages into .venv.
.DEFAULT_GOAL := build
.PHONY: build demo test test-all bench lab lab-quick fuzz fuzz-long format tidy install wheel deb clean

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
VENV := .venv
PYTHON := $(VENV)/bin/python

# The program, the client library and the probe, without tests and benches.
build: .packages
	cmake --preset release
	ninja -C build -j$(JOBS) program

# What `apt-get` must provide; checked once, and again when the list changes.
.packages: tools/packages.txt tools/install_packages.sh
	tools/install_packages.sh packages.txt
	touch $@

.packages-test: tools/packages-test.txt .packages
	tools/install_packages.sh packages-test.txt
	touch $@

$(VENV)/.demo-done: python/requirements-demo.txt | .packages
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --requirement python/requirements-demo.txt
	touch $@

$(VENV)/.done: python/requirements-test.txt python/requirements-alone.txt $(VENV)/.demo-done
	$(PYTHON) -m pip install --quiet --requirement python/requirements-test.txt
	$(PYTHON) -m pip install --quiet --no-deps --requirement python/requirements-alone.txt
	touch $@

# PyTorch is fetched while the compiler works.
demo:
	$(MAKE) -j2 build $(VENV)/.demo-done
	demo/demo.sh build/whystop $(PYTHON)

test: .packages-test build $(VENV)/.done
	$(PYTHON) tools/run_tests.py

test-all: .packages-test build $(VENV)/.done
	$(PYTHON) tools/run_tests.py --all

$(VENV)/.bench-done: python/requirements-bench.txt $(VENV)/.done
	$(PYTHON) -m pip install --quiet --requirement python/requirements-bench.txt
	touch $@

bench: .packages-test build $(VENV)/.bench-done
	ninja -C build -j$(JOBS)
	$(PYTHON) bench/run.py

lab: build $(VENV)/.done
	$(PYTHON) lab/run.py --write

lab-quick: build $(VENV)/.done
	$(PYTHON) lab/run.py --quick

fuzz: .packages-test
	tools/fuzz.sh

# A thousand million executions over all targets: days on a small machine. FUZZ_CORPUS keeps what was learned for the next time.
fuzz-long: .packages-test
	FUZZ_RUNS=$${FUZZ_RUNS:-100000000} tools/fuzz.sh

format:
	git ls-files '*.cc' '*.h' '*.hpp' '*.c' | xargs clang-format-14 -i

tidy: build
	python3 tools/tidy.py

install: build
	cmake --install build --prefix $(PREFIX) --strip

# Both land in build/packages. The wheel carries the program, the probe and the client library.
$(VENV)/.package-done: python/requirements-package.txt | .packages
	python3 -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --requirement python/requirements-package.txt
	touch $@

wheel: .packages $(VENV)/.package-done
	$(PYTHON) tools/make_wheel.py build/packages

deb: build
	cpack --config build/CPackConfig.cmake

clean:
	rm -rf build build-asan build-tsan build-fuzz
