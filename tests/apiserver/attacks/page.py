"""The list of attacks as Markdown, between two markers of docs/access.md.

`python -m tests.apiserver.attacks.page FILE` replaces what stands between the markers.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.apiserver.attacks import ATTACKS
from tests.apiserver.attacks.attack import USERS, Actor, Attack, Outcome, Scope

BEGIN: Final = "<!-- attacks: `make generate` writes what follows from tests/apiserver/attacks; do not edit it -->"
END: Final = "<!-- end of the attacks -->"
_LINE_LENGTH: Final = 120
_BY_TOKEN: Final = "With the token of a Pod"
_BY_USERS: Final = {Scope.RIVAL: "From another namespace", Scope.SHOP: "In the namespace itself"}


_COLUMNS: Final = {
    Actor.READER: "reader",
    Actor.MAINTAINER: "maintainer",
    Actor.OWNER: "table owner",
    Actor.ADMINISTRATOR: "administrator",
    Actor.RUNS: "runs",
    Actor.EDITOR: "edit",
}
_WORDS: Final = {
    Outcome.RBAC: "RBAC",
    Outcome.RULE: "rule",
    Outcome.POLICY: "policy",
    Outcome.WITHOUT_EFFECT: "none",
    Outcome.ADMITTED: "right",
}


def section() -> str:
    """What each user gets, then each attack: who, how, why it fails, what holds without the policies, the tests."""
    lines = [*_outcomes(), ""]
    for title in (*_BY_USERS.values(), _BY_TOKEN):
        lines += [f"### {title}", ""]
        lines += [line for attack in ATTACKS if _group(attack) == title for line in _lines(attack)]
    return "\n".join(lines)


def _outcomes() -> Iterator[str]:
    """A table of all attacks that users try: what comes of it for each, with and without the policies."""
    yield f"| attack | {' | '.join(_COLUMNS.values())} |"
    yield "|---" * (len(_COLUMNS) + 1) + "|"
    for attack in ATTACKS:
        if attack.actors == USERS:
            yield f"| `{attack.id}` | {' | '.join(_cell(attack, actor) for actor in _COLUMNS)} |"


def _cell(attack: Attack, actor: Actor) -> str:
    on, off = (_WORDS[attack.outcome_for(actor, policies=policies)] for policies in (True, False))
    return on if on == off else f"{on} / {off}"


def _group(attack: Attack) -> str:
    return _BY_USERS[attack.scope] if attack.actors == USERS else _BY_TOKEN


def with_section(page: str) -> str:
    """The page with the present list. Raises ValueError without the markers."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{section()}{END}{after}"


def _lines(attack: Attack) -> Iterator[str]:
    yield f"**{attack.title}** (`{attack.id}`)"
    yield ""
    yield from _item("Who", f"{attack.who}.")
    yield from _item("How", attack.how)
    yield from _item("Why it fails", attack.why)
    if attack.without:
        yield from _item("Without the policies", attack.without)
    yield from _item("Test", ", ".join(_test(each) for each in attack.tests))
    yield ""


def _test(test: str) -> str:
    file, _, name = test.partition("::")
    return f"`{file}` (`{name}`)" if name else f"`{file}`"


def _item(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        f"* {label}: {text}", _LINE_LENGTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(with_section(file.read_text()))
