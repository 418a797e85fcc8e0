"""Pods shared by several runs that the admission policy of the operator's account refuses, each with the reason.

What is refused of every Pod is in refused_drivers.py; here it is shown to hold for these by one case of each rule.
"""

from __future__ import annotations

from typing import Final

from tests.support.pod_edits import (
    Edit,
    Object,
    container,
    in_container,
    in_metadata,
    in_security,
    labels,
    mount,
    token,
    without_deadline,
)

_NOT_ITS_SHAPE: Final = "the name, the labels and the finalizer of a batch"
_NOT_OWNED: Final = "by a PaimonCatalog"
_ELSEWHERE: Final = "must ask the Service of the operator for turns"
_VARIABLE: Final = "must not choose the code that it runs"


def _config(old: str, new: str) -> Edit:
    def edit(body: Object) -> None:
        variable = next(each for each in container(body)["env"] if each["name"] == "BATCH_CONFIG")
        assert old in variable["value"]
        variable["value"] = variable["value"].replace(old, new)

    return edit


def _owned_by_a_run(body: Object) -> None:
    body["metadata"]["ownerReferences"][0]["kind"] = "PaimonRun"


def _variable(name: str) -> Edit:
    return lambda body: container(body)["env"].append({"name": name, "value": "x"})


REFUSED_BATCHES: list[tuple[str, Edit, str]] = [
    ("a run as its owner", _owned_by_a_run, _NOT_OWNED),
    ("no owner", in_metadata(ownerReferences=[]), _NOT_OWNED),
    ("another name", in_metadata(name="bank-0"), _NOT_ITS_SHAPE),
    ("no finalizer", in_metadata(finalizers=[]), _NOT_ITS_SHAPE),
    ("the label of a table", labels({"paimon-operator.dev/table": "orders"}), _NOT_ITS_SHAPE),
    ("the label of another manager", labels({"app.kubernetes.io/managed-by": "Helm"}), _NOT_ITS_SHAPE),
    ("the arguments of a driver", in_container(args=["driver", "/etc/paimon-run/job.json"]), "or of a batch"),
    ("another command", in_container(command=["sh"]), "or of a batch"),
    ("another name of its container", in_container(name="observer"), "or of a batch"),
    ("another image", in_container(image="busybox"), "an image of spark.images"),
    ("another giver of turns", _config("paimon-operator.", "evil."), _ELSEWHERE),
    ("two givers of turns", _config('"url":', '"url":"http://evil","url":'), _ELSEWHERE),
    ("a variable of Python", _variable("PYTHONPATH"), _VARIABLE),
    ("a variable that only begins like a job", _variable("BATCH_JOB_X"), _VARIABLE),
    ("a token for the API server", token(), "an observer or a batch one for the operator"),
    ("a directory of the node", mount("hostPath", path="/"), "may mount only scratch space"),
    ("a writable root", in_security(readOnlyRootFilesystem=False), "must pass Pod Security restricted"),
    ("no deadline", without_deadline, "must have a deadline"),
]
"""What the Pod has, the edit that gives it that, and what the refusal names."""
