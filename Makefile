# Each target does all of its own set-up, in .venv and build/; the second time only what changed.
PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
CPP := -name '*.[ch]pp' -o -name '*.inc'
CORE := $(shell find core $(CPP))
STUBS := $(BIN)/python -m nanobind.stubgen --quiet --recursive --module yarrow._core --output-dir
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONDONTWRITEBYTECODE # pytest would rewrite all tests in each run, in each worker
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell getconf _NPROCESSORS_ONLN)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s%s\n", $$1, $$2}' Makefile

demo: .venv/run ## several learners over a noisy stream and a drifting one
	$(BIN)/python examples/demo.py $(ARGS)

test: .venv/dev ## the whole test suite, C++ and Python (ARGS="-k test_name" chooses)
	. .venv/compiler && OPENBLAS_NUM_THREADS=1 \
	  $(BIN)/pytest -n auto --dist worksteal $(ARGS) # a core a worker, and no worker is done early

check: lint ## lint, types and the tests of what changed since main (ARGS=other: since another)
	@tests=$$($(BIN)/python tools/changed.py $(ARGS)) && echo "Tests: $${tests:-none}" && \
	if [ -n "$$tests" ]; then . .venv/compiler; \
	  OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n auto -m "not slow" $$tests || [ $$? = 5 ]; fi # 5: no test

wheels: .venv/dev ## the wheels, each tried on Python 3.11, 3.12 and 3.13 as far as found
	tools/wheels.sh $(ARGS)

bench: .venv/bench ## the measurements behind benchmarks/RESULTS.md
	. .venv/compiler && $(BIN)/python -m benchmarks.run $(ARGS)

reproduce: .venv/dev ## the experiments of the papers at full size, pages in docs/reproduction (an hour)
	$(BIN)/yarrow reproduce --all --output docs/reproduction $(ARGS)

evidence: .venv/bench ## docs/evidence.md: beside scikit-learn, river and Vowpal Wabbit (half an hour)
	$(BIN)/yarrow reproduce evidence --output docs $(ARGS)

docs: .venv/run ## docs/learners.md and docs/datasets.md: all learners, measured, and all sets
	$(BIN)/python tools/learners.py $(ARGS)
	$(BIN)/python tools/datasets.py

scaling: .venv/run ## docs/scaling.md: 2 to 1,024 workers, simulated (resumes; minutes)
	$(BIN)/python tools/scaling.py

pictures: .venv/bench ## the pictures of README.md, ARCHITECTURE.md and docs/decomposition.md (a minute)
	$(BIN)/python tools/pictures.py
	$(BIN)/python tools/decomposition.py

lint: .venv/dev ## ruff, mypy, clang-format, import and include layers, stubs of the core
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(STUBS) build/stubs
	diff -r build/stubs/_core src/yarrow/_core || (echo "The stubs of the core are old: make format"; false)
	$(BIN)/mypy
	find core tests/core $(CPP) | xargs $(BIN)/clang-format --dry-run -Werror
	$(BIN)/lint-imports
	$(BIN)/python tools/core_layers.py

format: .venv/dev ## rewrite Python and C++ in the house style, renew the stubs of the core
	$(STUBS) src/yarrow
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
	find core tests/core $(CPP) | xargs $(BIN)/clang-format -i

sanitize: .venv/dev ## the tests of the core under ASan and UBSan, the threaded ones under TSan
	tools/sanitize.sh $(ARGS)

fuzz: .venv/dev ## forged model files and texts, a minute each part (ARGS=900: an hour); resumes
	tools/fuzz.sh $(ARGS)

soak: .venv/dev ## kill a service 500 times, then keep one under load for ten minutes
	YARROW_KILLS=500 $(BIN)/pytest -q tests/serve/test_killed.py
	$(BIN)/python -m benchmarks.soak $(ARGS)

clean: ## remove everything that was built or installed
	rm -rf .venv build

.PHONY: help demo fuzz soak test check wheels bench reproduce evidence docs scaling pictures lint format sanitize clean

# The virtual environment with the build tools in it, and the compiler to use.
.venv/compiler: tools/setup.sh
	@tools/setup.sh $(PYTHON) .venv

# The package, editable, with what a target needs. The core is compiled here, not at import. The stamp
# has the time of the start: what is edited meanwhile is built next time.
.venv/run:   EXTRAS :=
.venv/dev:   EXTRAS := [dev]
.venv/bench: EXTRAS := [bench]
.venv/run .venv/dev .venv/bench: .venv/compiler pyproject.toml CMakeLists.txt $(CORE)
	@echo "Installing yarrow$(EXTRAS) into .venv and building its core (minutes the first time) ..."
	@touch $@.started
	@. .venv/compiler && $(BIN)/python tools/progress.py install --no-build-isolation \
	  -C build-dir=build/core --editable '.$(EXTRAS)'
	@mv $@.started $@
