"""The page of all rules about the settings of a table: `python -m tests.support.table_rules.page FILE`."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.support.table_rules import BLOCKS
from tests.support.table_rules.rule import TableRule

_LINE_LENGTH: Final = 120
_HEAD: Final = """# Rules for the settings of a table

A manifest that breaks a rule is refused before anything is created.
`apply` means that the API server refuses it. Everything is checked again in reconcile, which also knows the engine,
the catalog and the parameters of types; such a table is `Stalled`, and the message names the field and the remedy.
The source is the place in Paimon 1.4.2 that checks the rule, or the test that shows what happens without it.
Each rule has a manifest that is admitted and one that is refused, on a real API server and in reconcile:
`tests/support/table_rules`. `make generate` writes this page from that list; do not edit it.
"""


def page() -> str:
    """The page as Markdown, one section per block of the manifest."""
    return "\n".join(line for line in (_HEAD, *_sections()))


def _sections() -> Iterator[str]:
    for title, rules in BLOCKS.items():
        yield f"## {title}\n"
        yield from (_item(rule) for rule in rules)
        yield ""


def _item(rule: TableRule) -> str:
    checked = "apply" if rule.at_apply else "reconcile"
    field = re.sub(r"\[[0-9]+\]", "[]", rule.wrong.field)
    text = f"* `{rule.id}` (`{field}`, {checked}): {rule.says} Source: {rule.source}."
    return textwrap.fill(text, _LINE_LENGTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page().rstrip() + "\n")
