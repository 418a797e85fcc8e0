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
from tests.apiserver.attacks.attack import USERS, Attack, Scope

BEGIN: Final = "<!-- attacks: `make generate` writes what follows from tests/apiserver/attacks; do not edit it -->"
END: Final = "<!-- end of the attacks -->"
_LINE_LENGTH: Final = 120
_BY_TOKEN: Final = "With the token of a Pod"
_BY_USERS: Final = {Scope.RIVAL: "From another namespace", Scope.SHOP: "In the namespace itself"}


def section() -> str:
    """All attacks: each with who, how, why it fails, what holds without the policies, and the tests."""
    lines: list[str] = []
    for title in (*_BY_USERS.values(), _BY_TOKEN):
        lines += [f"### {title}", ""]
        lines += [line for attack in ATTACKS if _group(attack) == title for line in _lines(attack)]
    return "\n".join(lines)


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
