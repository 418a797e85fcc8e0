"""`python -m paimon_operator`: the operator's process. Settings come from the environment; see `settings`."""

from __future__ import annotations

import asyncio
import os
import sys

from paimon_operator import app, settings
from paimon_operator.errors import OperatorError
from paimon_operator.runtime import logs

_USAGE_ERROR = 2


def main() -> int:
    """Exit codes: 0 ended by a signal, 1 something failed and a new process may do better, 2 the settings are wrong."""
    try:
        given = settings.read(os.environ)
    except settings.SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return _USAGE_ERROR
    logs.set_up(given.log_level)
    try:
        return asyncio.run(app.run(given))
    except OperatorError as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
