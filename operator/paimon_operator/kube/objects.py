"""Reads and writes objects as plain JSON on a real API server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from paimon_operator.core.naming import FIELD_MANAGER, FINALIZER
from paimon_operator.core.ports import Kind, Manifest, whole
from paimon_operator.errors import InvalidObjectError, NotFoundError, StaleError
from paimon_operator.kube.requests import ApiServer, Json, Query
from paimon_operator.kube.resources import RESOURCES

_Items = list[Manifest]  # inside the class, `list` is its method
_PAGE: Final = "50"
"""Objects per page of a LIST. etcd stores up to 1.5 MiB for each, and a page takes three times its size in memory."""
_MANAGER: Final = (("fieldManager", FIELD_MANAGER),)
_APPLY: Final = (*_MANAGER, ("force", "true"))


class KubeObjects:
    """ObjectStore on a real API server. `namespaces` are the watched ones; empty means all of the cluster."""

    def __init__(self, server: ApiServer, *, namespaces: Sequence[str]) -> None:
        self._server, self._namespaces = server, tuple(namespaces)

    async def get(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        try:
            return await self._server.request("get", RESOURCES[kind].path(namespace, name), kind=kind)
        except NotFoundError:
            return None

    async def list(
        self,
        kind: Kind,
        namespace: str | None,
        labels: Mapping[str, str] | None = None,
        *,
        keep: Callable[[Manifest], Manifest] = whole,
    ) -> Sequence[Manifest]:
        everywhere: Sequence[str | None] = self._namespaces or (None,)
        where = everywhere if namespace is None else (namespace,)
        return [item for one in where for item in await self._list_in(kind, one, labels or {}, keep)]

    async def _list_in(
        self, kind: Kind, namespace: str | None, labels: Mapping[str, str], keep: Callable[[Manifest], Manifest]
    ) -> _Items:
        selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
        items: _Items = []
        after = ""
        while True:
            query = [("limit", _PAGE), ("labelSelector", selector), ("continue", after)]
            more, after = await self._page(kind, namespace, [(key, value) for key, value in query if value], keep)
            items += more
            if not after:
                return items

    async def _page(
        self, kind: Kind, namespace: str | None, query: Query, keep: Callable[[Manifest], Manifest]
    ) -> tuple[_Items, str]:
        """What is kept of one page, and where the next one begins; empty at the end."""
        resource = RESOURCES[kind]
        page = await self._server.request("list", resource.path(namespace), kind=kind, query=query)
        # The items of a list have neither apiVersion nor kind.
        both = {"apiVersion": resource.api_version, "kind": str(kind)}
        return [keep({**both, **each}) for each in page["items"]], page["metadata"].get("continue", "")

    async def create(self, kind: Kind, namespace: str, body: Manifest) -> Manifest:
        return await self._server.request(
            "create",
            RESOURCES[kind].path(namespace),
            kind=kind,
            query=(("fieldManager", FIELD_MANAGER), ("fieldValidation", "Strict")),
            body=dict(body),
        )

    async def delete(self, kind: Kind, namespace: str, name: str, *, uid: str) -> None:
        options: Json = {"propagationPolicy": "Background", "preconditions": {"uid": uid}}
        try:
            await self._server.request("delete", RESOURCES[kind].path(namespace, name), kind=kind, body=options)
        except (NotFoundError, StaleError):
            return  # the object is gone; another one may have its name

    async def apply_status(self, kind: Kind, obj: Manifest, status: Manifest) -> Manifest:
        resource, meta = RESOURCES[kind], obj["metadata"]
        namespace, name = meta["namespace"], meta["name"]
        # With the resourceVersion, the server rejects the status of an edited spec and of another object of the same
        # name. A UID does not work: the status subresource ignores it (seen on 1.34).
        identity = {"namespace": namespace, "name": name, "resourceVersion": meta["resourceVersion"]}
        body = {"apiVersion": resource.api_version, "kind": str(kind), "metadata": identity, "status": dict(status)}
        path = resource.path(namespace, name, sub="status")
        return await self._server.request("apply", path, kind=kind, query=_APPLY, body=body)

    async def set_finalizers(self, kind: Kind, obj: Manifest, finalizers: Sequence[str]) -> Manifest | None:
        meta: Mapping[str, Any] = obj["metadata"]
        # As a merge patch, so that another version is a conflict (409); a failed `test` of a JSON patch is 422.
        as_read = {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"]}
        body = {"metadata": {**as_read, "finalizers": list(finalizers)}}
        path = RESOURCES[kind].path(meta["namespace"], meta["name"])
        try:
            return await self._server.request("merge", path, kind=kind, query=_MANAGER, body=body)
        except NotFoundError:
            return None

    async def release(
        self, kind: Kind, namespace: str, name: str, *, uid: str, finalizers: Sequence[str]
    ) -> Manifest | None:
        # No test of the resourceVersion: a kubelet writes the status of an ending Pod several times in a second.
        as_read = {"uid": uid, "finalizers": list(finalizers)}
        others = [each for each in finalizers if each != FINALIZER]
        tests = [{"op": "test", "path": f"/metadata/{key}", "value": value} for key, value in as_read.items()]
        patch = [*tests, {"op": "add", "path": "/metadata/finalizers", "value": others}]
        try:
            return await self._server.request(
                "patch", RESOURCES[kind].path(namespace, name), kind=kind, query=_MANAGER, body=patch
            )
        except NotFoundError:
            return None
        except InvalidObjectError as error:  # the status of a failed `test` is 422
            raise StaleError(str(error), status=error.status) from error
