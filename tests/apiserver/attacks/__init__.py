"""The list of attacks: every role tries each of them on a real API server, and docs/access.md shows them."""

from __future__ import annotations

from typing import Final

from tests.apiserver.attacks.attack import Attack
from tests.apiserver.attacks.claims import CLAIMS
from tests.apiserver.attacks.inside_objects import INSIDE_OBJECTS
from tests.apiserver.attacks.inside_runs import INSIDE_RUNS
from tests.apiserver.attacks.tenants import TENANTS

ATTACKS: Final[tuple[Attack, ...]] = (*CLAIMS, *TENANTS, *INSIDE_RUNS, *INSIDE_OBJECTS)
