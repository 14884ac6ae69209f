# The first word of each rule says what it is for; `make run` on a fresh machine does all that is needed.
PYTHON ?= python3
BIN := .venv/bin
# Tests have servers of their own, so that they never touch the data of a site that runs.
TEST_SERVERS := CROSSBENCH_VAR="$(CURDIR)/var/test" $(BIN)/python manage.py services --model none --

.PHONY: run env test lint hardcases

run: env
	$(BIN)/python manage.py up

env: .venv/installed

.venv/installed: requirements/dev.txt
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	touch $@

test: env
	$(TEST_SERVERS) $(BIN)/pytest $(ARGS)

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	find . -name '*.html' -path '*/templates/*' -not -path './.venv/*' -exec $(BIN)/djlint --lint {} +

hardcases: env
	$(TEST_SERVERS) $(BIN)/python -m tests.hardcases
