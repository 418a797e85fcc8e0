"""The value of a Secret is in the Secret and in the driver's environment, and nowhere that anybody can read.

That holds for all tests together and is looked at after them (`tests.support.secret_search`); here is shown that the
search finds what it looks for.
"""

from __future__ import annotations

import uuid

from tests.cluster.layout import Layout
from tests.cluster.processes import wait_until
from tests.e2e.lab import Lab, once
from tests.support import secret_search
from tests.support.secret_values import SecretValue


def test_the_search_finds_a_value_that_got_around(lab: Lab) -> None:
    """A table's author writes it into a path: from there it gets wherever anything gets."""
    word = f"leak-{uuid.uuid4().hex}"
    missing = once("import", f"{word}/1.json")
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}, keys=["id"], writes=[missing]))
    lab.kubectl.until_condition("t", "Healthy", "False")

    hits: list[str] = []

    def everywhere() -> bool:
        """An Event comes after the status that it tells of."""
        hits[:] = secret_search.found([SecretValue("word", word.encode())], secret_search.everywhere(lab.env, Layout()))
        places = {hit.removeprefix("word in ").split(" ")[0] for hit in hits if lab.namespace in hit}
        return places >= {"PaimonTable", "PaimonRun", "ConfigMap", "Pod", "Event", "log"}

    assert wait_until(everywhere, timeout=120, interval=2), hits
    assert [hit for hit in hits if hit.startswith("word in audit log")], hits


def test_the_keys_of_the_storage_are_among_what_is_searched_for(lab: Lab) -> None:
    values, _ = secret_search.in_secrets(lab.env)
    known = {value.value.decode(errors="replace") for value in values}
    assert {lab.env["AWS_ACCESS_KEY_ID"], lab.env["AWS_SECRET_ACCESS_KEY"]} <= known


def test_driver_pods_hold_no_token_and_no_right(lab: Lab) -> None:
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}, keys=["id"]))
    lab.ready("t")

    for pod in lab.pods():
        assert pod["spec"]["automountServiceAccountToken"] is False
        assert not [v for v in pod["spec"].get("volumes", []) if "projected" in v or "secret" in v]
