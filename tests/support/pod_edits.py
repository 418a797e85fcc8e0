"""Edits of a Pod before its creation, for tests of the admission policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Object = dict[str, Any]
Edit = Callable[[Object], None]


def container(body: Object) -> Object:
    found: Object = body["spec"]["containers"][0]
    return found


def mount(kind: str, **source: Any) -> Edit:
    def edit(body: Object) -> None:
        body["spec"]["volumes"].append({"name": "stolen", kind: source})
        container(body)["volumeMounts"].append({"name": "stolen", "mountPath": "/stolen"})

    return edit


def from_secret(name: str, key: str = "password") -> Edit:
    value = {"secretKeyRef": {"name": name, "key": key}}
    return lambda body: container(body)["env"].append({"name": "STOLEN", "valueFrom": value})


def in_spec(**fields: Any) -> Edit:
    return lambda body: body["spec"].update(fields)


def in_container(**fields: Any) -> Edit:
    return lambda body: container(body).update(fields)


def in_metadata(**fields: Any) -> Edit:
    return lambda body: body["metadata"].update(fields)


def in_security(**fields: Any) -> Edit:
    return lambda body: container(body)["securityContext"].update(fields)


def in_pod_security(**fields: Any) -> Edit:
    return lambda body: body["spec"]["securityContext"].update(fields)


def labels(given: dict[str, str]) -> Edit:
    return lambda body: body["metadata"]["labels"].update(given)


def add_annotations(given: dict[str, str]) -> Edit:
    return lambda body: body["metadata"]["annotations"].update(given)


def without_deadline(body: Object) -> None:
    del body["spec"]["activeDeadlineSeconds"]


def token(**fields: str) -> Edit:
    return mount("projected", sources=[{"serviceAccountToken": {"path": "t", **fields}}])


def labelled(**labels: str) -> Edit:
    return lambda body: body["metadata"]["labels"].update(
        {f"paimon-operator.dev/{key}": value for key, value in labels.items()}
    )


def owned_by(*owners: Object) -> Edit:
    return in_metadata(ownerReferences=[{"apiVersion": "v1", **owner} for owner in owners])
