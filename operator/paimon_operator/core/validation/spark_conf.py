"""Rules about a catalog's Spark settings. The CRD has them too, but it can be older than the operator."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from paimon_contract.spark_conf import ALLOWED_CONF
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.pod_overlay import OF_THE_SYSTEM, RESERVED_WORDS, PodOverlay
from paimon_operator.api.spark_conf import CREDENTIAL
from paimon_operator.errors import SpecError


def spark_problems(catalog: PaimonCatalog) -> Iterator[SpecError]:
    """Spark settings, labels and annotations that a catalog may not set."""
    spark = catalog.spec.spark
    for key in spark.spark_conf if spark else ():
        place = f"spec.spark.sparkConf[{key}]"
        if CREDENTIAL.search(key):
            yield SpecError(
                place,
                "a credential would be readable in a ConfigMap",
                "Name a Secret in spec.storage; driver and executors get it from there.",
            )
        elif key not in ALLOWED_CONF:
            nearest = get_close_matches(key, ALLOWED_CONF, n=1)
            remedy = f"Did you mean {nearest[0]}? Otherwise remove it" if nearest else "Remove it"
            yield SpecError(place, f"{key} may not be set here", f"{remedy}; see docs/spark.md.")
    if spark is not None and spark.pod_overlay is not None:
        yield from _overlay_problems(spark.pod_overlay)


def _overlay_problems(overlay: PodOverlay) -> Iterator[SpecError]:
    """Labels, annotations and a priority class that no Spark Pod may have."""
    for field, keys in {"labels": overlay.labels, "annotations": overlay.annotations}.items():
        for key in keys:
            if key.startswith(RESERVED_WORDS):
                place = f"spec.spark.podOverlay.{field}[{key}]"
                yield SpecError(
                    place, f"{key} may not be set: it selects Pods or grants them rights", "Use a key of your own."
                )
    if (overlay.priority_class_name or "").startswith(OF_THE_SYSTEM):
        yield SpecError(
            "spec.spark.podOverlay.priorityClassName",
            f"{overlay.priority_class_name} may not be set: its Pods evict those of other namespaces",
            "Use a priority class of your own.",
        )
