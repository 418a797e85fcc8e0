"""Each block of YAML in the docs is a manifest, or a part of one, that CRD and operator admit.

`tests/apiserver/test_docs_manifests.py` sends the same manifests to a real API server.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.docs_manifests import PAGES, ROOT, Block, blocks, blocks_of, form, whole_status


@pytest.mark.parametrize("block", list(blocks()), ids=str)
def test_a_block_of_yaml_is_admitted(block: Block) -> None:
    assert block.documents != []
    for document in block.documents:
        assert form(document) is not None, document


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_fence_of_yaml_is_a_block(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(list(blocks_of(text, page.name))) == len(re.findall(r"```ya?ml\b", text))


WRONG = {
    "an unknown field": "retention: {snapshot: {timeRetained: 1h}}",
    "a value that is no choice": "compaction: {mode: Sometimes}",
    "a field of another kind": "kind: PaimonCatalog\nspec: {bucket: {type: Dynamic}}",
    "what the CEL rules refuse": "storage: {hdfs: {user: a, kerberos: {principal: a@B, keytabSecretRef: {name: k},"
    " krb5ConfigMapRef: {name: k}}}}\nwarehouse: hdfs://lake/w\nlocations: []",
    "what only the operator refuses": "compaction: {mode: Dedicated, minor: {schedule: every minute}}",
    "a value that the chart has not": "batching: {enabled: perhaps}",
    "a field that a status has not": "result: Skipped\nreasons: NotNeeded",
    "a whole manifest without its required field": "apiVersion: paimon-operator.dev/v1alpha1\nkind: PaimonTable\n"
    "metadata: {name: orders}\nspec: {database: shop}",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_wrong_block_is_found(text: str) -> None:
    (block,) = blocks_of(f"Text.\n\n   ```yaml\n{text}\n   ```\n", "docs/page.md")
    (document,) = block.documents
    assert (block.line, form(document)) == (3, None)


def test_a_part_of_a_status_is_put_where_the_status_has_its_fields() -> None:
    pin = {"kind": "Tag", "name": "monthly", "bytes": 7}
    kind, status = whole_status(pin) or ("", {})
    assert (kind, status) == ("PaimonTable", {"health": {"pins": [pin]}})
