"""The chart's accounts and the rights that `kubectl auth can-i --list` shows for each. One line adds an account.

`python -m tests.apiserver.accounts` writes the answers of a real API server into `can_i/`. `test_rights_of_accounts.py`
compares them with the files there, so every change of a right is a change of a committed file.
`can_i/everybody.txt` has the rights of an account without any binding; the other files have the additional rights.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml
from kubernetes import client

from tests.apiserver.api import create_account, create_namespace, kubectl
from tests.apiserver.crds import install
from tests.apiserver.rights import RELEASE, Object, rendered
from tests.cluster.apiserver import USUAL_CONTROLLERS, ApiServer, open_client

LISTS: Final = Path(__file__).parent / "can_i"
SYSTEM, WATCHED, ELSEWHERE = "can-i-system", "can-i-watched", "can-i-elsewhere"
PLACES: Final = {
    SYSTEM: "where the operator lives",
    WATCHED: "where it watches and Spark's Pods run",
    ELSEWHERE: "anywhere else",
}
INSTALLS: Final[dict[str, Object]] = {
    "cluster-wide": {"allNamespaces": True},
    "watched-namespaces": {"watchNamespaces": [WATCHED]},
}
"""The chart's values in the two ways to install it."""
_RIGHTS: Final = ("ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")


@dataclass(frozen=True)
class Account:
    """`name` is its name in the committed files."""

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
    """Returns the text of each file by its name. Deletes all objects that it creates."""
    with open_client(server.kubeconfig) as api:
        for namespace in PLACES:
            create_namespace(api, namespace)
        create_account(api, ELSEWHERE, EVERYBODY.service_account)
        found = _lists(server)
        for namespace in PLACES:
            client.CoreV1Api(api).delete_namespace(namespace)
    return found


def _lists(server: ApiServer) -> dict[str, str]:
    usual = _can_i(server, EVERYBODY, ELSEWHERE)
    found = {"everybody.txt": _text(usual)}
    for name, scope in INSTALLS.items():
        documents = rendered(SYSTEM, **scope, workloads={"namespaces": [WATCHED]})
        found |= _of_one_install(server, name, documents, set(usual))
    return found


def _of_one_install(server: ApiServer, name: str, documents: list[Object], usual: set[str]) -> dict[str, str]:
    text = yaml.safe_dump_all([each for each in documents if each["kind"] in _RIGHTS])
    kubectl(server.kubeconfig, "apply", "--server-side", "-f", "-", stdin=text)
    found = {}
    for account in ACCOUNTS:
        lists = {place: _can_i(server, account, place) for place in PLACES}
        missing = [place for place, lines in lists.items() if not usual <= set(lines)]
        assert not missing, f"{account.name} lacks what everybody has in {missing}"
        parts = [
            f"# {title}\n{_text(line for line in lists[place] if line not in usual)}" for place, title in PLACES.items()
        ]
        found[f"{account.name}-{name}.txt"] = "\n".join(parts)
    kubectl(server.kubeconfig, "delete", "-f", "-", stdin=text)
    return found


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines) or "nothing\n"


def _can_i(server: ApiServer, account: Account, namespace: str) -> list[str]:
    """Returns the lines of the list, sorted: resources, URLs, names, verbs."""
    kubeconfig = server.service_account_kubeconfig(account.namespace, account.service_account)
    head, *lines = kubectl(kubeconfig, "--namespace", namespace, "auth", "can-i", "--list").splitlines()
    starts = [head.index(title) for title in ("Resources", "Non-Resource URLs", "Resource Names", "Verbs")]
    ends = [*starts[1:], None]
    cells = (
        [line[start:end].strip() for start, end in zip(starts, ends, strict=True)] for line in lines if line.strip()
    )
    return sorted({" | ".join(each) for each in cells})


def main() -> None:
    """Replaces all files."""
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
