"""Reads and writes objects as plain JSON on a real API server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final

from paimon_operator.core.naming import FIELD_MANAGER, FINALIZER
from paimon_operator.core.ports import Kind, Manifest, whole
from paimon_operator.errors import InvalidObjectError, NotFoundError, StaleError
from paimon_operator.kube.requests import ApiServer, Json, Query
from paimon_operator.kube.resources import RESOURCES

_Items = list[Manifest]  # inside the class, `list` is its method
_PAGE: Final = "50"
"""Objects per page of a LIST. etcd stores up to 1.5 MiB for each, and a page takes three times its size in memory."""
_PAGE_OF_METADATA: Final = "500"
"""Objects per page without specs and status. The metadata of a usual object takes two KiB."""
_METADATA_ALONE: Final = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
_IDENTITY: Final = ("namespace", "name", "uid", "resourceVersion")
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
        # The items of a list have neither apiVersion nor kind.
        both = {"apiVersion": RESOURCES[kind].api_version, "kind": str(kind)}
        query = [("limit", _PAGE), *_selecting(labels)]
        pages = [self._pages(kind, one, query, lambda item: keep({**both, **item})) for one in self._in(namespace)]
        return [item for each in pages async for page in each for item in page]

    async def list_metadata(
        self, kind: Kind, namespace: str | None = None, labels: Mapping[str, str] | None = None
    ) -> Sequence[Manifest]:
        query = [("limit", _PAGE_OF_METADATA), *_selecting(labels)]
        pages = [self._pages(kind, one, query, _identity, accept=_METADATA_ALONE) for one in self._in(namespace)]
        return [item for each in pages async for page in each for item in page]

    def _in(self, namespace: str | None) -> Sequence[str | None]:
        """The namespaces to list: the given one, or all that are watched."""
        return (namespace,) if namespace is not None else self._namespaces or (None,)

    async def _pages(
        self,
        kind: Kind,
        namespace: str | None,
        query: Query,
        keep: Callable[[Manifest], Manifest],
        *,
        accept: str | None = None,
    ) -> AsyncIterator[_Items]:
        """What is kept of each page of a LIST."""
        path, after = RESOURCES[kind].path(namespace), ""
        while True:
            asked = [*query, *([("continue", after)] if after else [])]
            kept, after = await self._page(kind, path, asked, keep, accept=accept)
            yield kept
            if not after:
                return

    async def _page(
        self, kind: Kind, path: str, query: Query, keep: Callable[[Manifest], Manifest], *, accept: str | None
    ) -> tuple[_Items, str]:
        """What is kept of one page, and where the next one begins; empty at the end."""
        page = await self._server.request("list", path, kind=kind, query=query, accept=accept)
        items = page["items"] or ()  # null in an empty list of metadata
        return [keep(item) for item in items], page["metadata"].get("continue", "")

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


def _selecting(labels: Mapping[str, str] | None) -> Query:
    selector = ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items()))
    return [("labelSelector", selector)] if selector else []


def _identity(item: Manifest) -> Manifest:
    meta: Mapping[str, Any] = item["metadata"]
    return {"metadata": {name: meta[name] for name in _IDENTITY}}
