"""How to reach and authenticate with the API server: the Pod's service account, or a kubeconfig outside a cluster.

One answer for both users of it, our client and kopf's watches. kopf's own service-account login needs a cluster DNS
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
    """A client for the API server; the caller closes it. Raises KubernetesError when nothing tells where it is.

    `kubeconfig` is a path to use instead of what KUBECONFIG says, when not in a Pod.
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
    configuration.client_session_kwargs = {
        "trust_env": False
    }  # the API server is never behind a proxy of the environment
    client = ApiClient(configuration)
    client.user_agent = USER_AGENT
    return client


async def watch_session(client: ApiClient) -> tuple[str, aiohttp.ClientSession]:
    """The API server's address and a new authenticated session for long streams; who takes it closes it.

    The token is read afresh each time, since service-account tokens expire and kopf asks again after a 401.
    """
    headers = {"User-Agent": USER_AGENT}
    if authorization := await client.configuration.get_api_key_with_prefix("BearerToken"):
        headers["Authorization"] = authorization
    connector = aiohttp.TCPConnector(limit=0, ssl=client.rest_client.ssl_context)
    return str(client.configuration.host), aiohttp.ClientSession(connector=connector, headers=headers)
