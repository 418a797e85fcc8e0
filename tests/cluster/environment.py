"""The env file: after `source build/cluster/env`, kubectl, helm, boto3 and pypaimon on the host talk to the cluster."""

from __future__ import annotations

import os
import shlex

from tests.cluster import s3
from tests.cluster.layout import Layout
from tests.cluster.programs import HELM, KUBECTL


def variables(layout: Layout) -> dict[str, str]:
    """Returns the variables of the env file, PATH excepted."""
    ports, root = layout.ports(), s3.keys(layout)
    return {
        "KUBECONFIG": str(layout.kubeconfig),
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{ports['s3']}",
        "AWS_ACCESS_KEY_ID": root.access_key_id,
        "AWS_SECRET_ACCESS_KEY": root.secret_access_key,
        "AWS_REGION": s3.REGION,
        "AWS_DEFAULT_REGION": s3.REGION,  # the name that boto3 reads
        "CLUSTER_NAME": layout.name,
        "CLUSTER_S3_ENDPOINT_IN_CLUSTER": s3.ENDPOINT_IN_CLUSTER,
        "CLUSTER_AUDIT_LOG": str(layout.audit_log),
    }


def write(layout: Layout) -> None:
    """Writes the env file (readable by its owner: it holds the S3 keys) and the directory it puts on PATH."""
    programs = layout.state / "bin"
    programs.mkdir(exist_ok=True)
    for program in (KUBECTL, HELM):
        link = programs / program.name
        link.unlink(missing_ok=True)
        link.symlink_to(program.path)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables(layout).items()]
    lines.append(f'case ":$PATH:" in *:{programs}:*) ;; *) export PATH={shlex.quote(str(programs))}:"$PATH" ;; esac')
    fresh = layout.env_file.with_suffix(".new")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write("\n".join(lines) + "\n")
    fresh.rename(layout.env_file)
