"""Attacks by tables, catalogs, ConfigMaps and tokens, in the namespace of the victim."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.apiserver.api import Body
from tests.apiserver.attacks.attack import MAKE_TABLES, Actor, Attack, Outcome, Scope, each
from tests.apiserver.attacks.attacker import Answer, Attacker, weakest
from tests.apiserver.attacks.bed import HADOOP_CONF, NIGHTLY, SCRATCH, SECRET, VICTIM, Bed, VictimHarmedError
from tests.apiserver.namespace_client import GROUP, RUNS, TABLES
from tests.support.manifests import catalog, edited, keyed_table

_ADMINISTRATOR: Final = (Actor.ADMINISTRATOR,)
_OWNER: Final = "`paimon-table-owner`"
_ADMIN: Final = "`paimon-administrator`"
_RULES: Final = (
    "tests/core/validation/test_wrong_manifests.py::test_the_operator_refuses_the_field_that_the_crd_refuses"
)
_REFUSED: Final = "tests/apiserver/test_crds_refuse.py::test_a_wrong_manifest_is_refused_with_field_and_remedy"
_ACCOUNT: Final = "tests/apiserver/test_operator_account.py"
_FORGED: Final[Body] = {"job.json": json.dumps({"operation": "Drop"})}


def _forged_job(bed: Bed, me: Attacker) -> Answer:
    """The ConfigMap of a run that waits behind another one, with the run's UID, before the operator writes it."""
    first, second = bed.fresh("first"), bed.fresh("second")
    got = me.create_config_map({"metadata": {"name": f"paimon-run-{second}"}, "data": _FORGED})
    if got.refused:
        return got
    bed.shop.core.delete_namespaced_config_map(f"paimon-run-{second}", me.namespace)
    for name in (first, second):
        got = me.create(bed.run_of(name))
        pod = bed.shop.wait_for_pod(of=SCRATCH)
    owner = _controller(bed.shop.get(RUNS, second))
    metadata = {
        "name": f"paimon-run-{second}",
        "labels": pod.manifest["metadata"]["labels"],
        "ownerReferences": [owner],
    }
    me.create_config_map({"metadata": metadata, "data": _FORGED, "immutable": True})
    bed.shop.succeed(pod)
    ended = bed.shop.wait_for_condition(RUNS, second, "Succeeded", "False")
    if ended["reason"] != "JobChanged" or any(each.run == second for each in bed.shop.pods()):
        raise VictimHarmedError(f"the forged job: {ended}")
    return got


def _controller(run: dict[str, Any]) -> dict[str, Any]:
    metadata = run["metadata"]
    named = {"apiVersion": run["apiVersion"], "kind": "PaimonRun", "name": metadata["name"], "uid": metadata["uid"]}
    return named | {"controller": True}


def _hadoop_conf(bed: Bed, me: Attacker) -> Answer:
    return me.patch_config_map(HADOOP_CONF, {"core-site.xml": "<a/>"})


def _crd(bed: Bed, me: Attacker) -> Answer:
    return me.patch_crd(f"paimoncatalogs.{GROUP}")


def _table_status(bed: Bed, me: Attacker) -> Answer:
    return me.patch_status(TABLES, VICTIM, {"activeRun": {"name": "mine", "type": "Drop", "trigger": "Deletion"}})


def _secret(bed: Bed, me: Attacker) -> Answer:
    return me.read_secret(SECRET)


def _overlay_of_table(bed: Bed, me: Attacker) -> Answer:
    volumes = [{"name": "x", "secret": {"secretName": SECRET}}]
    return me.create(bed.table_of(bed.shop, bed.fresh("mounts"), spec__spark={"podOverlay": {"volumes": volumes}}))


def _overlay_of_catalog(bed: Bed, me: Attacker) -> Answer:
    overlays: tuple[dict[str, object], ...] = (
        {"volumes": [{"name": "x", "secret": {"secretName": SECRET}}]},
        {"securityContext": {"runAsUser": 0}},
        {"containers": [{"name": "driver", "image": "busybox"}]},
    )
    name = bed.fresh("mounts")
    return weakest(*(me.create(catalog(metadata__name=name, spec__spark={"podOverlay": each})) for each in overlays))


def _spark_conf(bed: Bed, me: Attacker) -> Answer:
    settings = ("spark.plugins", "spark.kubernetes.executor.container.image", "spark.driver.extraJavaOptions")
    name = bed.fresh("conf")
    return weakest(
        *(me.create(catalog(metadata__name=name, spec__spark={"sparkConf": {key: "x"}})) for key in settings)
    )


def _options(bed: Bed, me: Attacker) -> Answer:
    name = bed.fresh("option")
    options = ("path", "data-file.external-paths", "rowkind.field.class")
    return weakest(*(me.create(bed.table_of(bed.shop, name, spec__options={key: "x"})) for key in options))


def _path(bed: Bed, me: Attacker) -> Answer:
    """A write from a place outside of the catalog's locations."""
    wrong = ("orders/../../secrets", "/etc/passwd", "s3://elsewhere/x")
    manifests = (
        edited(keyed_table(spec__writes__0__from__files__path=path), metadata__name=bed.fresh("path")) for path in wrong
    )
    return weakest(*map(me.create, manifests))


def _huge_pods(bed: Bed, me: Attacker) -> Answer:
    name = bed.fresh("huge")
    spark = {"mode": "Cluster", "executor": {"instances": 100, "cores": 64, "memory": "512Gi"}}
    got = me.create(bed.table_of(bed.shop, name, spec__table=name.replace("-", "_"), spec__spark=spark))
    if not got.refused:
        bed.shop.wait_for_condition(TABLES, name, "Stalled", "True")
        if any(pod.table == name for pod in bed.shop.pods()):
            raise VictimHarmedError(f"{name} has a Pod")
    return got


def _foreign_table(bed: Bed, me: Attacker) -> Answer:
    """A table that existed before: a PaimonTable describes it exactly, takes it over and is deleted with Delete."""
    name = bed.fresh("found")
    manifest = bed.table_of(bed.shop, name, spec__table=name.replace("-", "_"), spec__deletionPolicy="Delete")
    got = me.create(manifest)
    if got.refused:
        return got
    bed.shop.succeed(bed.shop.wait_for_pod(of=name), created=False)
    bed.shop.wait_for_condition(TABLES, name, "Ready", "True")
    got = me.remove(TABLES, name)
    drop = bed.shop.wait_for_pod(of=name)
    job = bed.job_of(bed.shop, drop)
    if "alsoAdopted" in json.dumps(job):
        raise VictimHarmedError("the job drops a table that the operator did not create")
    bed.shop.succeed(drop, dropped=False, kept=True)
    bed.shop.wait_for_event("TableKept")
    return got


def _pod_of_another_shape(bed: Bed, me: Attacker) -> Answer:
    spec = {"containers": [{"name": "a", "image": "busybox", "securityContext": {"privileged": True}}]}
    return me.create_pod({"metadata": {"name": "other"}, "spec": {**spec, "hostPID": True}}, dry=True)


def _image_of_another_pod(bed: Bed, me: Attacker) -> Answer:
    with bed.bystander() as name:
        return me.patch_pod(name, {"spec": {"containers": [{"name": "app", "image": "busybox"}]}})


def _manifest(bed: Bed, me: Attacker) -> Answer:
    return weakest(
        me.patch(TABLES, VICTIM, {"spec": {"deletionPolicy": "Delete"}}),
        me.patch(RUNS, NIGHTLY, {"metadata": {"labels": {"a.test/x": "y"}}}),
    )


def _executor(bed: Bed, me: Attacker) -> Answer:
    """With a token that is bound to no Pod."""
    spec = {
        "containers": [{"name": "a", "image": "busybox"}],
        "volumes": [{"name": "x", "secret": {"secretName": "y"}}],
    }
    return me.create_pod({"metadata": {"name": "executor"}, "spec": spec}, dry=True)


INSIDE_OBJECTS: Final = (
    Attack(
        id="forged-job",
        title="Have a driver run another job",
        findings=("S2",),
        scope=Scope.SHOP,
        who="`create` on ConfigMaps (Kubernetes' `edit`) and a run of one's own",
        how="Create the ConfigMap of a waiting run, with the run's UID and another job.",
        why="The status and the Pod have a digest of the job. The run ends as `JobChanged`, without a Pod.",
        tests=("tests/runtime/test_changed_jobs.py", "tests/spark_apps/driver/test_digest.py"),
        expected={Actor.EDITOR: Outcome.WITHOUT_EFFECT},
        attempt=_forged_job,
    ),
    Attack(
        id="hadoop-files",
        title="Make a driver read variables or run a class by Hadoop's files",
        findings=("S6",),
        scope=Scope.SHOP,
        who="`patch` on the ConfigMaps of a catalog (Kubernetes' `edit`)",
        how="`core-site.xml` has `${env.X}`, an inclusion or the name of a class.",
        why="RBAC refuses it to the roles of the chart. The driver uses only the keys that an HDFS client needs.",
        tests=("tests/spark_apps/storage/test_hadoop_files.py",),
        expected={Actor.EDITOR: Outcome.ADMITTED},
        attempt=_hadoop_conf,
    ),
    Attack(
        id="edited-crd",
        title="Pass by the rules of the CRDs",
        findings=("S7",),
        scope=Scope.SHOP,
        who="a cluster administrator, by `crds.install: false` with older CRDs",
        how="Remove a rule from a CRD, then create what it refused.",
        why="RBAC refuses it to every role. The operator checks every rule again before it starts a run.",
        tests=(_RULES,),
        attempt=_crd,
    ),
    Attack(
        id="status-of-a-table",
        title="Start any run by the status of a table",
        scope=Scope.SHOP,
        who="`patch` on `paimontables/status`, which no role gives",
        how="Write a run of type `Drop` into `status.activeRun`.",
        why="RBAC refuses it: only the operator's account may write a status.",
        tests=("tests/apiserver/test_chart.py",),
        attempt=_table_status,
    ),
    Attack(
        id="secret-by-the-api",
        title="Read the storage's Secret by the API",
        scope=Scope.SHOP,
        who="every role of the chart",
        how="Get or list Secrets.",
        why="No role of the chart has a verb on Secrets. Kubernetes' `edit` has.",
        tests=("tests/support/test_secret_search.py",),
        expected={Actor.EDITOR: Outcome.ADMITTED},
        attempt=_secret,
    ),
    Attack(
        id="secret-by-a-table",
        title="Mount a Secret by a table",
        scope=Scope.SHOP,
        who=_OWNER,
        how="`spec.spark.podOverlay` of a table has a volume.",
        why="A table has no overlay and no settings of Spark: only its catalog has.",
        tests=(_REFUSED, _RULES),
        expected=each(MAKE_TABLES, Outcome.RULE),
        attempt=_overlay_of_table,
    ),
    Attack(
        id="overlay-of-a-catalog",
        title="Mount a Secret, become root or run another image by a catalog",
        scope=Scope.SHOP,
        who=_ADMIN,
        how="`spec.spark.podOverlay` has volumes, a security context or containers.",
        why="The overlay has typed fields without any of these, and the operator's own values win.",
        tests=(_REFUSED, _RULES),
        expected=each(_ADMINISTRATOR, Outcome.RULE),
        attempt=_overlay_of_catalog,
    ),
    Attack(
        id="code-by-spark-conf",
        title="Run code by the settings of Spark",
        scope=Scope.SHOP,
        who=_ADMIN,
        how="`spec.spark.sparkConf` names a plugin, an image or options of the JVM.",
        why="Only the settings of a list are allowed, checked by the CRD and by the operator.",
        tests=("tests/core/validation/test_spark_conf.py",),
        expected=each(_ADMINISTRATOR, Outcome.RULE),
        attempt=_spark_conf,
    ),
    Attack(
        id="places-by-options",
        title="Reach other places or classes by options of Paimon",
        scope=Scope.SHOP,
        who=_OWNER,
        how="`spec.options` sets a path or the name of a class.",
        why="Only the options of a list are allowed, checked by the CRD, the operator and the engine's own list.",
        tests=("tests/core/validation/test_free_options.py",),
        expected=each(MAKE_TABLES, Outcome.RULE),
        attempt=_options,
    ),
    Attack(
        id="path-out-of-a-location",
        title="Load files from a place that the catalog does not allow",
        scope=Scope.SHOP,
        who=_OWNER,
        how="The path of a write has `..`, begins with a slash or has a scheme.",
        why="The CRD's pattern allows none of these, and the driver checks the path again.",
        tests=(_REFUSED, "tests/contract/test_contract.py::test_an_invalid_job_is_refused_with_the_path_of_the_error"),
        expected=each(MAKE_TABLES, Outcome.RULE),
        attempt=_path,
    ),
    Attack(
        id="huge-pods",
        title="Take the nodes by huge Spark Pods",
        findings=("S8",),
        scope=Scope.SHOP,
        who=_OWNER,
        how="`spec.spark` of a table requests mode `Cluster` and 100 executors of 64 cores and 512Gi.",
        why="The catalog's `spec.limits.spark` stops the table. Without limits in the catalog, nothing does.",
        tests=(
            "tests/core/table/test_plan_spark_limits.py"
            "::test_a_table_that_requests_more_is_stalled_by_the_field_and_the_limit",
        ),
        expected=each(MAKE_TABLES, Outcome.WITHOUT_EFFECT),
        attempt=_huge_pods,
    ),
    Attack(
        id="foreign-table",
        title="Drop a table that the operator did not create",
        findings=("S9",),
        scope=Scope.SHOP,
        who=_OWNER,
        how="A PaimonTable describes it exactly, takes it over, and is deleted with `deletionPolicy: Delete`.",
        why="Without `adoptionPolicy: Adopt`, a table that existed before is kept, and an Event says so.",
        tests=(
            "tests/core/table/test_plan_deletion.py::test_only_adopt_drops_a_table_that_existed_before",
            "tests/spark_apps/schema/test_differences.py"
            "::test_the_differences_of_a_foreign_table_disclose_none_of_its_columns_types_or_values",
        ),
        expected=each(MAKE_TABLES, Outcome.WITHOUT_EFFECT),
        attempt=_foreign_table,
    ),
    Attack(
        id="operator-creates-a-pod",
        title="Create a Pod of another shape",
        findings=("S5",),
        scope=Scope.SHOP,
        who="the operator's token",
        how="Create a privileged Pod of another image.",
        why="The policy admits only driver Pods of runs, with images of `spark.images`.",
        without="Every Pod that Pod Security admits, in the watched namespaces.",
        tests=(f"{_ACCOUNT}::test_the_account_creates_no_pod_with",),
        actors=(Actor.OPERATOR,),
        expected={Actor.OPERATOR: Outcome.POLICY},
        expected_without={Actor.OPERATOR: Outcome.ADMITTED},
        attempt=_pod_of_another_shape,
    ),
    Attack(
        id="operator-changes-an-image",
        title="Change the image of somebody else's Pod",
        findings=("S5",),
        scope=Scope.SHOP,
        who="the operator's token",
        how="Patch the image of a Pod of an application.",
        why="The policy admits no change of a Pod but that of the operator's own finalizer.",
        without="The image of every Pod in the watched namespaces can be changed.",
        tests=(f"{_ACCOUNT}::test_the_account_changes_and_deletes_no_pod_of_others",),
        actors=(Actor.OPERATOR,),
        expected={Actor.OPERATOR: Outcome.POLICY},
        expected_without={Actor.OPERATOR: Outcome.ADMITTED},
        attempt=_image_of_another_pod,
    ),
    Attack(
        id="operator-edits-a-manifest",
        title="Edit a manifest",
        findings=("S5",),
        scope=Scope.SHOP,
        who="the operator's token",
        how="Set `deletionPolicy: Delete` of a table, or a label of a run.",
        why="The policy admits no change of the three kinds but that of the operator's finalizer and the status.",
        without="Every manifest in the watched namespaces can be changed.",
        tests=(f"{_ACCOUNT}::test_the_account_edits_no_manifest",),
        actors=(Actor.OPERATOR,),
        expected={Actor.OPERATOR: Outcome.POLICY},
        expected_without={Actor.OPERATOR: Outcome.ADMITTED},
        attempt=_manifest,
    ),
    Attack(
        id="operator-reads-a-secret",
        title="Read a Secret by the API",
        findings=("S5",),
        scope=Scope.SHOP,
        who="the operator's token",
        how="Get or list Secrets.",
        why="The operator's account has no verb on Secrets.",
        tests=(f"{_ACCOUNT}::test_the_account_reads_no_secret",),
        actors=(Actor.OPERATOR,),
        attempt=_secret,
    ),
    Attack(
        id="driver-creates-a-pod",
        title="Create a Pod of another shape",
        scope=Scope.RIVAL,
        who="a driver of mode `Cluster` that was taken over",
        how="Create a Pod that mounts a Secret.",
        why="The policy admits only executors of the driver's own run, by the token that is bound to its Pod.",
        without="Every Pod that Pod Security admits, in the driver's namespace.",
        tests=("tests/apiserver/test_executor_policy.py",),
        actors=(Actor.DRIVER,),
        expected={Actor.DRIVER: Outcome.POLICY},
        expected_without={Actor.DRIVER: Outcome.ADMITTED},
        attempt=_executor,
    ),
)
