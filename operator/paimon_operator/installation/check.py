"""The checks of `helm test`: `python -m paimon_operator.installation.check`, with the operator's own account.

They check the served CRDs, the rights of the account, the renewal of the Lease and the health endpoint.
The program prints one line per finding and exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final

import aiohttp

from paimon_operator.api.base import API_VERSION, GROUP, VERSION
from paimon_operator.errors import KubernetesError, OperatorError
from paimon_operator.generate.crd import definitions
from paimon_operator.installation.rights import EVERYWHERE, Question, questions
from paimon_operator.kube.connection import connect
from paimon_operator.kube.requests import ApiServer
from paimon_operator.kube.resources import LEASES

Json = dict[str, Any]
_REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_AT_ONCE: Final = 8
_TIMEOUT: Final = 10.0
_RENEWAL_TIMEOUT: Final = 40
"""Seconds in which a leader must renew its Lease, a new one included."""


class Installation:
    """One installed release, observed with its operator's account."""

    def __init__(self, server: ApiServer, options: argparse.Namespace) -> None:
        self._server, self._options = server, options

    async def kinds(self) -> list[str]:
        """Problems of the served CRDs. The API server silently drops a field that they lack."""
        try:
            served = await self._server.request("get", f"/openapi/v3/apis/{API_VERSION}", kind="OpenAPI")
        except KubernetesError as error:
            return [f"{GROUP}/{VERSION} is not served: {error}. Install the chart's CRDs (crds.install)."]
        schemas = served["components"]["schemas"]
        by_kind = {schema["x-kubernetes-group-version-kind"][0]["kind"]: schema for schema in schemas.values()
                   if "x-kubernetes-group-version-kind" in schema}  # fmt: skip
        problems = []
        for crd in definitions():
            kind, ours = crd["spec"]["names"]["kind"], crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
            missing = list(_missing(ours, by_kind.get(kind, {}), kind))
            problems += [f"the served CRD lacks {path}. Upgrade the CRDs to this version's." for path in missing[:5]]
        return problems

    async def rights(self) -> list[str]:
        """Rights that are missing, and rights that the account must not have."""
        options, gate = self._options, asyncio.Semaphore(_AT_ONCE)

        async def wrong(question: Question) -> str:
            async with gate:
                allowed = await self._may(question)
            where = f"in namespace {question.namespace}" if question.namespace != EVERYWHERE else "in all namespaces"
            if allowed == question.allowed:
                return ""
            return f"the operator {'may' if allowed else 'may not'} {question.right} {where}"

        asked = questions(lease=options.lease, home=options.namespace, watched=options.watched)
        return [line for line in await asyncio.gather(*map(wrong, asked)) if line]

    async def leader(self) -> list[str]:
        """Problems of the leader. The Lease must change, because the clocks of two machines may differ."""
        path = LEASES.path(self._options.namespace, self._options.lease)
        first: Json = {}
        for _ in range(self._options.timeout):
            try:
                spec = (await self._server.request("get", path, kind="Lease"))["spec"]
            except KubernetesError as error:
                spec, problem = {}, str(error)
            else:
                holder = spec.get("holderIdentity") or "nobody"
                problem = f"held by {holder}, not renewed for {self._options.timeout} s"
            if first and spec.get("holderIdentity") and spec["renewTime"] != first["renewTime"]:
                return []
            first = first or spec
            await asyncio.sleep(1)
        return [f"Lease {self._options.namespace}/{self._options.lease}: {problem}"]

    async def health(self) -> list[str]:
        """Problems of the health endpoint behind the Service."""
        host = self._options.health_host
        url = f"http://{f'[{host}]' if ':' in host else host}:{self._options.health_port}/readyz"
        try:
            timeout = aiohttp.ClientTimeout(total=_TIMEOUT)
            async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url) as answer:
                text = (await answer.text()).strip()
                return [] if answer.ok else [f"{url}: {answer.status} {text}"]
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return [f"{url}: no answer: {type(error).__name__} {error}"]

    async def _may(self, question: Question) -> bool:
        right = question.right
        resource, _, sub = right.resource.partition("/")
        attributes = {
            "verb": right.verb,
            "group": right.group,
            "resource": resource,
            "subresource": sub,
            "name": right.name,
            "namespace": question.namespace,
        }
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        answer = await self._server.request("create", _REVIEWS, kind="SelfSubjectAccessReview", body=body)
        return bool(answer["status"]["allowed"])


def _missing(ours: Json, served: Json, path: str) -> Iterator[str]:
    """Paths of fields that the served CRD lacks."""
    if not served:
        yield path
        return
    for name, inner in ours.get("properties", {}).items():
        if path.count(".") == 0 and name in ("apiVersion", "kind", "metadata"):
            continue
        yield from _missing(inner, served.get("properties", {}).get(name, {}), f"{path}.{name}")
    if "items" in ours:
        yield from _missing(ours["items"], served.get("items", {}), f"{path}[]")
    if isinstance(ours.get("additionalProperties"), dict):
        yield from _missing(ours["additionalProperties"], served.get("additionalProperties", {}), f"{path}.*")


async def check(options: argparse.Namespace) -> int:
    """Runs every check, prints what it found, and returns the number of failed checks."""
    client = await connect()
    server = ApiServer(client, limiter=None, timeout=_TIMEOUT, observe=lambda *_: None)
    release = Installation(server, options)
    failed = 0
    try:
        for look in (release.kinds, release.rights, release.leader, release.health):
            problems = await _found(look)
            failed += bool(problems)
            sys.stdout.writelines(f"{look.__name__}: {line}\n" for line in problems or ["ok"])
            sys.stdout.flush()
        return failed
    finally:
        await client.close()  # type: ignore[no-untyped-call]


async def _found(look: Callable[[], Awaitable[list[str]]]) -> list[str]:
    try:
        return await look()
    except OperatorError as error:
        return [str(error)]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m paimon_operator.installation.check", description=__doc__)
    parser.add_argument("--lease", required=True, help="name of the leader's Lease")
    parser.add_argument("--namespace", required=True, help="where the operator lives")
    parser.add_argument("--watched", action="append", default=[], help="a watched namespace; none: all of them")
    parser.add_argument("--health-host", required=True)
    parser.add_argument("--health-port", required=True, type=int)
    parser.add_argument("--timeout", type=int, default=_RENEWAL_TIMEOUT, help="seconds to see the Lease renewed")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(min(asyncio.run(check(_options(sys.argv[1:]))), 1))
