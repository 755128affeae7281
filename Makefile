# Two commands do everything on a fresh machine: `make solve` and `make test`.
PROCESSES ?= 2
PYTHON ?= python3
VENV := .venv
export OMP_WAIT_POLICY := passive  # with two threads, waiting actively costs more than the work
export MPLBACKEND := Agg

.PHONY: solve test quick check format clean

solve: $(VENV)/core
	$(VENV)/bin/mc2 solve examples/keyhole.toml --certify 32 --out solution.npz --plot solution.png

test: $(VENV)/dev $(VENV)/browser check
	$(VENV)/bin/python -m pytest -n $(PROCESSES) --dist worksteal

quick: $(VENV)/dev  # the first case of every test that is not marked slow
	$(VENV)/bin/python -m pytest -n $(PROCESSES) --dist worksteal --quick --durations 5

check: $(VENV)/dev  # style, types and layers
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

format: $(VENV)/dev
	$(VENV)/bin/ruff check --fix
	$(VENV)/bin/ruff format

$(VENV)/core: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("mc2 needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	@echo "setting up $(VENV) (once, about a minute)"
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/dev: $(VENV)/core weights/pyproject.toml
	@echo "installing what the tests need (once)"
	@$(VENV)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]' --editable ./weights
	@touch $@

# One test opens the leaderboard in a browser. Debian's is installed where that is allowed; elsewhere the test is skipped.
$(VENV)/browser: $(VENV)/dev
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null \
		|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "installing Chromium (once)" \
		&& apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq chromium chromium-driver; } >/dev/null 2>&1 \
		|| echo "no Chromium: the test of the leaderboard's page will be skipped (apt install chromium chromium-driver)"
	@touch $@

clean:
	rm -rf $(VENV) solution.npz solution.png
	find src -name '*.nb[ic]' -delete
