# `make demo` and `make test` do everything from a fresh clone. `make bench` prints ratios against peers.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-elsewhere test-versions attack bench digests dist docs image format clean

demo: .venv/.demo
	@$(BIN)/vbrand demo -o demo

test: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 --dist worksteal

# the tests of the fit as on another processor: other vector instructions add in another order, and a search may end in
# another optimum that is as good
test-elsewhere: .venv/.dev
	NUMBA_CPU_NAME=generic NUMBA_CACHE_DIR=.venv/numba-generic OPENBLAS_CORETYPE=Nehalem \
	  $(BIN)/pytest -n 2 --dist worksteal tests/estimators tests/stage1 tests/trust tests/discovery tests/inference

# the fast part with the newest Python and packages, and with the oldest that pyproject.toml allows
test-versions: .venv/.made
	$(BIN)/python .ci/versions.py

# N attempts to break it: random problems, inputs, settings, mutated models and tables, kills, full disks, crowds;
# failures per area; then the tests that go by chance, at length
N ?= 10000
attack: .venv/.dev
	$(BIN)/python tests/attack/run.py $(N)
	VBRAND_DEEP=1 $(BIN)/pytest -n 2 tests/inference tests/studies/test_reproduce.py tests/estimators/test_variational.py

bench: .venv/.dev
	$(BIN)/python benchmarks/mrcd.py
	$(BIN)/python benchmarks/speed.py --against 03f89ea
	$(BIN)/python benchmarks/kernel.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/sampler.py
	$(BIN)/python benchmarks/real.py
	$(BIN)/python benchmarks/scale.py limit
	$(BIN)/python benchmarks/scale.py same
	$(BIN)/python benchmarks/scale.py estimate
	$(BIN)/python benchmarks/scale.py rates

# the site: every example of the gallery runs, a warning is an error; then a browser looks at it (docs/_site/index.html)
docs: .venv/.docs
	$(BIN)/python docs/run.py --check
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_site
	$(BIN)/pytest docs/test_site.py

# sdist and wheel into dist/, installed and run outside of the repository
dist: .venv/.dev
	$(BIN)/python .ci/wheel.py

# the image: built and started where Docker runs, else looked at
image: .venv/.dev
	@if docker info >/dev/null 2>&1; then docker build -t vbrand . && docker run --rm vbrand --help; \
	  else echo "Docker does not run here: the Dockerfile is only looked at"; $(BIN)/hadolint Dockerfile; fi

# after work that changes answers on purpose: what tests/test_digests.py compares with
digests: .venv/.dev
	PYTHONPATH=tests $(BIN)/python tests/test_digests.py

format: .venv/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf .venv

.venv/.made: Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "vbrand needs Python 3.11 or later; '$(PYTHON)' is: `$(PYTHON) --version 2>&1 | head -n 1`." \
	       "Install a newer one and name it: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Setting up .venv (once, a minute or two)"
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/.demo: .venv/.made pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cli,tables,excel,plot,report]'
	@touch $@

.venv/.dev: .venv/.made pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all,dev]'
	@touch $@ .venv/.demo

.venv/.docs: .venv/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all,dev,docs]'
	@touch $@
