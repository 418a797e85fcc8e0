"""The value of a Secret is only in the Secret and in the driver's environment.

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


def test_the_search_finds_a_value_in_every_place(lab: Lab) -> None:
    """The test writes the value into a path of a table, from which it gets into objects, Events and logs."""
    word = f"leak-{uuid.uuid4().hex}"
    missing = once("import", f"{word}/1.json")
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}, keys=["id"], writes=[missing]))
    lab.kubectl.until_condition("t", "Healthy", "False")

    hits: list[str] = []

    def everywhere() -> bool:
        """Returns whether all places have the value. An Event is posted after the status that it reports."""
        hits[:] = secret_search.found([SecretValue("word", word.encode())], secret_search.everywhere(lab.env, Layout()))
        places = {hit.removeprefix("word in ").split(" ")[0] for hit in hits if lab.namespace in hit}
        return places >= {"PaimonTable", "PaimonRun", "ConfigMap", "Pod", "Event", "log"}

    assert wait_until(everywhere, timeout=120, interval=2), hits
    assert [hit for hit in hits if hit.startswith("word in audit log")], hits


def test_the_keys_of_the_storage_are_searched_for(lab: Lab) -> None:
    values, _ = secret_search.in_secrets(lab.env)
    known = {value.value.decode(errors="replace") for value in values}
    assert {lab.env["AWS_ACCESS_KEY_ID"], lab.env["AWS_SECRET_ACCESS_KEY"]} <= known


def test_driver_pods_have_no_token_and_no_right(lab: Lab) -> None:
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}, keys=["id"]))
    lab.ready("t")

    pods = lab.pods()
    assert pods
    for pod in pods:
        assert pod["spec"]["automountServiceAccountToken"] is False
        assert not [v for v in pod["spec"].get("volumes", []) if "projected" in v or "secret" in v]
