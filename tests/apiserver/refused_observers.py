"""Observers that the admission policy of the operator's account refuses, each with the reason in its answer.

What is refused of every Pod, such as another image or privilege, is in refused_drivers.py; here it is shown to hold for
observers by one case of each rule.
"""

from __future__ import annotations

from typing import Final

from tests.support.pod_edits import (
    Edit,
    Object,
    container,
    in_container,
    in_metadata,
    in_pod_security,
    in_security,
    in_spec,
    labels,
    mount,
    token,
)

_NOT_ITS_SHAPE: Final = "the name and the labels of an observer"
_NOT_OWNED: Final = "by a PaimonCatalog"
_ELSEWHERE: Final = "must report to the Service of the operator"
_NOT_MOUNTED: Final = "an observer or a batch one for the operator"


def _config(old: str, new: str) -> Edit:
    def edit(body: Object) -> None:
        variable = next(each for each in container(body)["env"] if each["name"] == "OBSERVER_CONFIG")
        assert old in variable["value"]
        variable["value"] = variable["value"].replace(old, new)

    return edit


def _owned_by_a_run(body: Object) -> None:
    body["metadata"]["ownerReferences"][0]["kind"] = "PaimonRun"


def _as_driver(body: Object) -> None:
    token()(body)
    in_spec(serviceAccountName="paimon-driver")(body)


REFUSED_OBSERVERS: list[tuple[str, Edit, str]] = [
    ("a run as its owner", _owned_by_a_run, _NOT_OWNED),
    ("no owner", in_metadata(ownerReferences=[]), _NOT_OWNED),
    ("another name", in_metadata(name="bank-0"), _NOT_ITS_SHAPE),
    ("a finalizer", in_metadata(finalizers=["paimon-operator.dev/finalizer"]), _NOT_ITS_SHAPE),
    ("the label of a table", labels({"paimon-operator.dev/table": "orders"}), _NOT_ITS_SHAPE),
    ("the label of another manager", labels({"app.kubernetes.io/managed-by": "Helm"}), _NOT_ITS_SHAPE),
    ("the arguments of a driver", in_container(args=["driver", "/etc/paimon-run/job.json"]), "and an observer one"),
    ("another command", in_container(command=["sh"]), "and an observer one"),
    ("another name of its container", in_container(name="driver"), "and an observer one"),
    ("another image", in_container(image="busybox"), "an image of spark.images"),
    ("another receiver", _config("paimon-operator.", "evil."), _ELSEWHERE),
    ("a second receiver", _config('"url":', '"url":"http://evil","url":'), _ELSEWHERE),
    ("an end", in_spec(restartPolicy="Never"), "must be restarted without one"),
    ("a deadline", in_spec(activeDeadlineSeconds=60), "must be restarted without one"),
    ("a token for the API server", token(), _NOT_MOUNTED),
    ("a token for the API server by name", token(audience="https://kubernetes.default.svc"), _NOT_MOUNTED),
    ("a token of the drivers' account", _as_driver, _NOT_MOUNTED),
    ("a directory of the node", mount("hostPath", path="/"), _NOT_MOUNTED),
    ("root", in_pod_security(runAsUser=0), "run as root"),
    ("a writable root", in_security(readOnlyRootFilesystem=False), "must pass Pod Security restricted"),
    ("its account's token", in_spec(automountServiceAccountToken=True), ""),
]
"""An empty reason: another rule may refuse it first."""
