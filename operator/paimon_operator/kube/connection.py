"""Connections to the API server: with the Pod's service account, or with a kubeconfig outside a cluster.

Our client and kopf's watches both use them. kopf's own login by service account needs a cluster DNS
(`kubernetes.default.svc`); this one takes the address from the environment, as the official client does.
"""

from __future__ import annotations

from typing import Final

import aiohttp
from kubernetes.aio.client import ApiClient, Configuration
from kubernetes.aio.config import ConfigException, load_incluster_config, load_kube_config

from paimon_operator.errors import KubernetesError

USER_AGENT: Final = "paimon-operator"
_CONNECTIONS: Final = 50


async def connect(kubeconfig: str | None = None) -> ApiClient:
    """A client for the API server, which the caller closes. Raises KubernetesError when its address is unknown.

    `kubeconfig` is a path that overrides KUBECONFIG outside a Pod.
    """
    configuration = Configuration()
    try:
        load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
    except ConfigException:
        try:
            await load_kube_config(  # type: ignore[no-untyped-call]
                config_file=kubeconfig, client_configuration=configuration, persist_config=False
            )
        except ConfigException as error:
            raise KubernetesError(f"neither a service account nor a kubeconfig: {error}") from error
    configuration.connection_pool_maxsize = _CONNECTIONS
    # The API server is never behind a proxy of the environment.
    configuration.client_session_kwargs = {"trust_env": False}
    client = ApiClient(configuration)
    client.user_agent = USER_AGENT
    return client


async def watch_session(client: ApiClient, response: type[aiohttp.ClientResponse]) -> tuple[str, aiohttp.ClientSession]:
    """The API server's address and a new authenticated session for long streams, which the caller closes.

    Its responses are of the class `response`. The token is read at every call: service-account tokens expire, and kopf
    calls this again after a 401.
    """
    headers = {"User-Agent": USER_AGENT}
    if authorization := await client.configuration.get_api_key_with_prefix("BearerToken"):
        headers["Authorization"] = authorization
    connector = aiohttp.TCPConnector(limit=0, ssl=client.rest_client.ssl_context)
    session = aiohttp.ClientSession(connector=connector, headers=headers, response_class=response)
    return str(client.configuration.host), session
