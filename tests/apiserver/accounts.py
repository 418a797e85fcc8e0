"""Every account that the chart makes, and what `kubectl auth can-i --list` says to it. One line adds an account.

`python -m tests.apiserver.accounts` writes the answers of a real API server into `can_i/`, which
`test_rights_of_accounts.py` compares them with: a right more or less is a change of a committed file.
`can_i/everybody.txt` is what an account has without any binding; the other files are what comes on top, by namespace.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml
from kubernetes import client, config

from tests.apiserver.crds import install
from tests.apiserver.rights import RELEASE, Object, rendered
from tests.cluster import programs
from tests.cluster.apiserver import USUAL_CONTROLLERS, ApiServer

LISTS: Final = Path(__file__).parent / "can_i"
SYSTEM, WATCHED, ELSEWHERE = "can-i-system", "can-i-watched", "can-i-elsewhere"
PLACES: Final = {
    SYSTEM: "where the operator lives",
    WATCHED: "where it watches and Spark's Pods run",
    ELSEWHERE: "anywhere else",
}
INSTALLS: Final[dict[str, list[str]]] = {"cluster-wide": [], "watched-namespaces": [WATCHED]}
"""`watchNamespaces` of the two ways to install the chart."""
_RIGHTS: Final = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")


@dataclass(frozen=True)
class Account:
    """`name` is how the committed files call it."""

    name: str
    namespace: str
    service_account: str


EVERYBODY: Final = Account("everybody", ELSEWHERE, "without-any-binding")
ACCOUNTS: Final = (
    Account("operator", SYSTEM, RELEASE),
    Account("driver", WATCHED, "paimon-driver"),
    Account("executor", WATCHED, "paimon-spark"),
)


def answers(server: ApiServer) -> dict[str, str]:
    """File name -> its text, as it should be; whatever is made for it is taken away again."""
    core = client.CoreV1Api(config.new_client_from_config(str(server.kubeconfig)))
    for namespace in PLACES:
        core.create_namespace({"metadata": {"name": namespace}})
    core.create_namespaced_service_account(ELSEWHERE, {"metadata": {"name": EVERYBODY.service_account}})
    usual = _can_i(server, EVERYBODY, ELSEWHERE)
    found = {"everybody.txt": _text(usual)}
    for name, watched in INSTALLS.items():
        documents = rendered(SYSTEM, watchNamespaces=watched, workloads={"namespaces": [WATCHED]})
        found |= _of_one_install(server, name, documents, set(usual))
    for namespace in PLACES:
        core.delete_namespace(namespace)
    return found


def _of_one_install(server: ApiServer, name: str, documents: list[Object], usual: set[str]) -> dict[str, str]:
    text = yaml.safe_dump_all([each for each in documents if each["kind"] in _RIGHTS])
    _kubectl(server.kubeconfig, "apply", "--server-side", "-f", "-", stdin=text)
    found = {}
    for account in ACCOUNTS:
        lists = {place: _can_i(server, account, place) for place in PLACES}
        missing = [place for place, lines in lists.items() if not usual <= set(lines)]
        assert not missing, f"{account.name} lacks what everybody has in {missing}"
        parts = [
            f"# {told}\n{_text(line for line in lists[place] if line not in usual)}" for place, told in PLACES.items()
        ]
        found[f"{account.name}-{name}.txt"] = "\n".join(parts)
    _kubectl(server.kubeconfig, "delete", "-f", "-", stdin=text)
    return found


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines) or "nothing\n"


def _can_i(server: ApiServer, account: Account, namespace: str) -> list[str]:
    """The lines of the list, sorted: resources, URLs, names, verbs."""
    kubeconfig = server.service_account_kubeconfig(account.namespace, account.service_account)
    head, *lines = _kubectl(kubeconfig, "--namespace", namespace, "auth", "can-i", "--list").splitlines()
    starts = [head.index(title) for title in ("Resources", "Non-Resource URLs", "Resource Names", "Verbs")]
    ends = [*starts[1:], None]
    cells = (
        [line[start:end].strip() for start, end in zip(starts, ends, strict=True)] for line in lines if line.strip()
    )
    return sorted({" | ".join(each) for each in cells})


def _kubectl(kubeconfig: Path, *args: str, stdin: str = "") -> str:
    (kubectl,) = programs.build(["kubectl"])
    command = [str(kubectl), f"--kubeconfig={kubeconfig}", *args]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=True).stdout


def main() -> None:
    """Writes all files anew."""
    for old in LISTS.glob("*.txt"):
        old.unlink()
    with (
        tempfile.TemporaryDirectory() as directory,
        ApiServer(Path(directory), controllers=USUAL_CONTROLLERS) as server,
    ):
        install(server.kubeconfig)
        for name, text in answers(server).items():
            (LISTS / name).write_text(text)


if __name__ == "__main__":
    main()
