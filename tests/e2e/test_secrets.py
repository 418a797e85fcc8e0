"""The value of a Secret is in the Secret and in the driver's environment, and nowhere that anybody can read."""

from __future__ import annotations

from tests.e2e.lab import Lab, committed, once

KINDS = "pods,configmaps,events,paimontables,paimoncatalogs,paimonruns"


def test_no_object_and_no_log_shows_a_secret_value(lab: Lab) -> None:
    lab.land("in/1.json", [{"id": 1}])
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}, keys=["id"], writes=[once("import", "in/1.json")]))
    lab.kubectl.until(
        "paimontable",
        "t",
        committed,
        what="loaded",
        seconds=300,
    )
    pods = [pod["metadata"]["name"] for pod in lab.pods()]
    assert len(pods) >= 2

    shown = [lab.kubectl.run("get", KINDS, "-o", "yaml")]
    shown += [lab.kubectl.run("logs", name) for name in pods]
    operator = ["--namespace", "paimon-system", "logs", "deployment/paimon-operator", "--tail=-1"]
    shown.append(lab.kubectl.run(*operator))

    assert all(lab.env["AWS_SECRET_ACCESS_KEY"] not in text for text in shown)


def test_driver_pods_hold_no_token_and_no_right(lab: Lab) -> None:
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}, keys=["id"]))
    lab.ready("t")

    for pod in lab.pods():
        assert pod["spec"]["automountServiceAccountToken"] is False
        assert not [v for v in pod["spec"].get("volumes", []) if "projected" in v or "secret" in v]
