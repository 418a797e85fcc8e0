"""Checks that ruff, mypy and import-linter do not make. `make lint` runs them: `python -m tools.lint [ROOT]`."""
