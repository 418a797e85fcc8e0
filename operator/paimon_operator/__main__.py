"""`python -m paimon_operator`: the operator's process. Its settings are arguments and variables; see `settings`."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

from paimon_operator import app, settings
from paimon_operator.errors import OperatorError
from paimon_operator.runtime import logs

_USAGE_ERROR = 2


def main() -> int:
    """Exit codes: 0 ended by a signal, 1 an error that a new process may not have, 2 wrong settings."""
    try:
        given = settings.read({**os.environ, **settings.named_by(sys.argv[1:])})
    except settings.SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return _USAGE_ERROR
    logs.set_up(given.log_level)
    try:
        code = asyncio.new_event_loop().run_until_complete(app.run(given))
    except OperatorError:
        logging.getLogger(__name__).exception("ending")
        code = 1
    # Not asyncio.run and sys.exit: both would wait for the remaining tasks of kopf, and after a watch died one of them
    # may not be cancellable. All our own parts are closed by now.
    logging.shutdown()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
