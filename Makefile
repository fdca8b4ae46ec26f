# One stamp rule prepares .venv (uv where it is installed, otherwise pip); every target is one line.
.DEFAULT_GOAL := report
# without copies, as Jupyter makes them
NOTEBOOKS := $(filter-out $(wildcard notebooks/*-Copy*),$(wildcard notebooks/*.ipynb))
# 02 is the longest: three by three, 02 to 04 take as long as the others
BALANCED := $(wordlist 2, 4, $(NOTEBOOKS)) $(firstword $(NOTEBOOKS)) $(wordlist 5, 99, $(NOTEBOOKS))
.PHONY: report quick test unit unit-bandits unit-rest notebooks notebooks-first notebooks-rest test-slow slow coverage lab bench lint clean
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/ready
LAB := $(VENV)/share/jupyter/lab/settings
UV := $(shell command -v uv 2>/dev/null)
PIP := $(if $(UV),$(UV) pip install --python $(BIN)/python,$(BIN)/python -m pip install --disable-pip-version-check --no-compile)
# without bytecode each of the many programs that notebooks and tests start would compile all packages anew;
# the stamp rule imports what they load, whose bytecode then serves outside make, too
unexport PYTHONDONTWRITEBYTECODE

$(STAMP): pyproject.toml requirements.lock
	$(if $(UV),$(UV) venv --clear --python $(PYTHON) $(VENV),$(PYTHON) -m venv --clear $(VENV))
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation -e .
	$(BIN)/python -c "import ipykernel.kernelapp, papermill, kbrepro.batch.record"
	touch $@

report: $(STAMP)  ## judge the kept trials at full scale, and build the HTML report of the real results
	(test -n "$$KBREPRO_DATA" || $(BIN)/kbrepro data fetch || true) && echo $(BALANCED) | xargs -n 3 -P 2 $(BIN)/kbrepro reproduce && $(BIN)/kbrepro report

quick: $(STAMP)  ## play everything small, from nothing, and build its report
	$(BIN)/kbrepro reproduce --profile quick && $(BIN)/kbrepro report --profile quick

test: $(STAMP)  ## unit tests, the notebooks against their committed outputs, and lint, side by side on two cores
	$(MAKE) -j2 --output-sync=target unit notebooks lint

unit: unit-bandits unit-rest

unit-bandits: $(STAMP)
	$(BIN)/python -m pytest tests/bandits tests/trials

unit-rest: $(STAMP)
	$(BIN)/python -m pytest tests --ignore tests/bandits --ignore tests/trials

notebooks: notebooks-rest notebooks-first  ## from the kept trials, without data: the same on any machine

notebooks-first: $(STAMP)
	$(BIN)/python -m pytest --nbval -v -p no:cacheprovider $(wordlist 1, 2, $(NOTEBOOKS))

notebooks-rest: $(STAMP)
	$(BIN)/python -m pytest --nbval -v -p no:cacheprovider $(wordlist 3, 99, $(NOTEBOOKS))

test-slow: $(STAMP)  ## the tests that are long and rarely needed, and which lines the short ones reach, side by side
	$(MAKE) -j2 --output-sync=target slow coverage

slow: $(STAMP)
	$(BIN)/python -m pytest tests -m slow

coverage: $(STAMP)
	mkdir -p .cache && $(BIN)/coverage run -m pytest -q -p no:cacheprovider tests && $(BIN)/coverage report

lab: $(STAMP)  ## JupyterLab on the notebooks, which saves only when told; it is installed first, unless it is there
	test -x $(BIN)/jupyter-lab || $(PIP) --no-deps --require-hashes -r requirements-lab.lock
	mkdir -p $(LAB) && echo '{"@jupyterlab/docmanager-extension:plugin": {"autosave": false}}' > $(LAB)/overrides.json
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/notebooks

bench: $(STAMP)  ## seconds and ratios, to results/benchmarks/: under 30 minutes, with nothing else running; other libraries are in the extra bench
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks

lint: $(STAMP)  ## ruff: style and format; mypy: types
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

clean:  ## the environment and quick results
	rm -rf $(VENV) .cache results/quick results/custom results/*/report
