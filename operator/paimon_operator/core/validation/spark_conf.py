"""Rules about a catalog's Spark settings. The CRD has them too, but it can be older than the operator."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from paimon_contract.spark_conf import ALLOWED_CONF
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.pod_overlay import RESERVED_WORDS
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
    overlay = spark.pod_overlay if spark else None
    given = {"labels": overlay.labels, "annotations": overlay.annotations} if overlay else {}
    for field, keys in given.items():
        for key in keys:
            if key.startswith(RESERVED_WORDS):
                place = f"spec.spark.podOverlay.{field}[{key}]"
                yield SpecError(
                    place, f"{key} may not be set: it selects Pods or grants them rights", "Use a key of your own."
                )
