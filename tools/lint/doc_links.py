"""Links between the pages: their files and their headings exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.lint.finding import Finding

_PAGES: Final = ("*.md", "docs/**/*.md", "examples/**/*.md", "charts/*/*.md")
"""Glob patterns below the root."""
_FENCED: Final = re.compile(r"^ *(`{3,}|~{3,}).*?^ *\1", flags=re.DOTALL | re.MULTILINE)
_CODE: Final = re.compile(r"`[^`\n]*`")
_LINK: Final = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
_ELSEWHERE: Final = re.compile(r"[a-z][a-z0-9+.-]*:")
"""Begin of a link to another server, which is not followed."""
_HEADING: Final = re.compile(r"^#{1,6} +(.*?) *#*$", flags=re.MULTILINE)
_MARKS: Final = re.compile(r"[^\w\- ]")


def check_doc_links(root: Path) -> Iterator[Finding]:
    """Reports each relative link of a page whose file, or whose heading in it, does not exist."""
    pages = sorted({page for pattern in _PAGES for page in root.glob(pattern)})
    anchors = {page.resolve(): _anchors(page.read_text()) for page in pages}
    for page in pages:
        text = _without_code(page.read_text())
        for found in _LINK.finditer(text):
            if wrong := _wrong(page, found[1], anchors):
                line = text.count("\n", 0, found.start(1)) + 1
                yield Finding(
                    page.relative_to(root).as_posix(), line, wrong, "Link to a page and a heading that exist."
                )


def _wrong(page: Path, link: str, anchors: dict[Path, frozenset[str]]) -> str | None:
    if _ELSEWHERE.match(link):
        return None
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page.resolve()
    if not target.exists():
        return f"{path} does not exist"
    if anchor and anchor not in anchors.get(target, frozenset()):
        return f"{path or 'this page'} has no heading #{anchor}"
    return None


def _anchors(text: str) -> frozenset[str]:
    """The anchors that GitHub gives the headings: those of equal headings are numbered."""
    found: dict[str, int] = {}
    for heading in _HEADING.findall(_FENCED.sub("", text)):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = _MARKS.sub("", shown.lower()).replace(" ", "-")
        count = found.get(anchor, 0)
        found[anchor] = count + 1
        if count:
            found[f"{anchor}-{count}"] = 1
    return frozenset(found)


def _without_code(text: str) -> str:
    """The text with blanks in place of its code, so that lines keep their numbers."""
    blank = re.sub(_FENCED, lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return _CODE.sub(lambda found: " " * len(found[0]), blank)
