"""A catalog's additions to its Spark Pods. They never replace what the operator has set."""

from __future__ import annotations

from typing import Any

from paimon_operator.api.pod_overlay import PodOverlay


def overlaid(pod: dict[str, Any], overlay: PodOverlay | None) -> dict[str, Any]:
    """`pod` with the overlay's fields; labels and annotations of the operator's own win."""
    if overlay is None:
        return pod
    given = {key: value for key, value in overlay.to_json().items() if value not in ({}, [])}
    labels, annotations = given.pop("labels", {}), given.pop("annotations", {})
    metadata = pod["metadata"] | {"labels": labels | pod["metadata"]["labels"]}
    if annotations:
        metadata["annotations"] = annotations | pod["metadata"].get("annotations", {})
    return pod | {"metadata": metadata, "spec": given | pod["spec"]}
