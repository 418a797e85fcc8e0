"""The parts of a cloud that give Pods an identity: `python -m tests.e2e.cloud`, in the node's network.

The webhook acts like that of EKS for IRSA: it adds a token to the Pods of an account that names a role.
STS gives temporary keys for such a token, which the API server reviews. The gate in front of the node's S3 server
accepts only these keys. No name server resolves AWS's names here, so the webhook adds their addresses to the Pods.
"""

from __future__ import annotations

import base64
import http.server
import json
import sys
import threading
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs

from kubernetes import client

from tests.cluster import s3
from tests.cluster.layout import API_PORT, NODE_ADDRESS, Layout
from tests.cluster.pki import Identity
from tests.cluster.services import Service, authority
from tests.support.s3_server import S3Server
from tests.support.s3_token_gate import STS_NAMESPACE, Gate, assumed_role, secured, token_gate

AUDIENCE: Final = "sts.amazonaws.com"
ROLE: Final = "eks.amazonaws.com/role-arn"
GATE_PORT, STS_PORT, WEBHOOK_PORT = 7071, 443, 7443
GATE: Final = f"https://{NODE_ADDRESS}:{GATE_PORT}"
NAMES: Final = (AUDIENCE, f"sts.{s3.REGION}.amazonaws.com")
_DIRECTORY: Final = "/var/run/secrets/eks.amazonaws.com/serviceaccount"


def service() -> Service:
    """Returns the process as a service of the node."""

    def ready(layout: Layout) -> bool:
        return all(layout.daemon("cloud").listens(port) for port in (GATE_PORT, STS_PORT, WEBHOOK_PORT))

    command = [sys.executable, "-m", "tests.e2e.cloud"]
    return Service("cloud", lambda _: command, ready, environment=s3.environment)


def webhook(namespace: str) -> dict[str, Any]:
    """Returns the configuration of the webhook for the Pods of one namespace."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    bundle = base64.b64encode(authority(Layout()).certificate.read_bytes()).decode()
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": f"identity-{namespace}"},
        "webhooks": [
            {
                "name": "identity.example.com",
                "clientConfig": {"url": f"https://{NODE_ADDRESS}:{WEBHOOK_PORT}/", "caBundle": bundle},
                "rules": [rule],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
                "failurePolicy": "Fail",
            }
        ],
    }


class _Handler(http.server.BaseHTTPRequestHandler):
    api: client.ApiClient
    gate: Gate

    def log_message(self, format: str, *arguments: object) -> None:
        del format, arguments

    def role_of(self, namespace: str, account: str) -> str:
        """Returns the role that the account names, or an empty text."""
        found = client.CoreV1Api(self.api).read_namespaced_service_account(account, namespace)
        annotations = found.metadata.annotations if found.metadata else None
        return (annotations or {}).get(ROLE, "")

    def read(self) -> str:
        return self.rfile.read(int(self.headers["Content-Length"])).decode()

    def answer(self, status: HTTPStatus, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


class Webhook(_Handler):
    """Adds token, variables and addresses to a Pod whose account names a role."""

    def do_POST(self) -> None:
        review = json.loads(self.read())
        pod, request = review["request"]["object"], review["request"]
        role = self.role_of(request["namespace"], pod["spec"].get("serviceAccountName") or "default")
        response: dict[str, Any] = {"uid": request["uid"], "allowed": True}
        if role:
            patch = json.dumps(_patch(pod["spec"], role)).encode()
            response |= {"patchType": "JSONPatch", "patch": base64.b64encode(patch).decode()}
        answer = {"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}
        self.answer(HTTPStatus.OK, "application/json", json.dumps(answer))


def _patch(spec: dict[str, Any], role: str) -> list[dict[str, Any]]:
    variables = {
        "AWS_ROLE_ARN": role,
        "AWS_WEB_IDENTITY_TOKEN_FILE": f"{_DIRECTORY}/token",
        "AWS_STS_REGIONAL_ENDPOINTS": "regional",
        "AWS_REGION": s3.REGION,
    }
    token = {"audience": AUDIENCE, "expirationSeconds": 86400, "path": "token"}
    volume = {"name": "aws-iam-token", "projected": {"sources": [{"serviceAccountToken": token}]}}
    mount = {"name": "aws-iam-token", "mountPath": _DIRECTORY, "readOnly": True}
    container = spec["containers"][0]
    env = [*container.get("env", []), *({"name": name, "value": value} for name, value in variables.items())]
    changed = {
        "/spec/volumes": [*spec.get("volumes", []), volume],
        "/spec/hostAliases": [{"ip": NODE_ADDRESS, "hostnames": list(NAMES)}],
        "/spec/containers/0/env": env,
        "/spec/containers/0/volumeMounts": [*container.get("volumeMounts", []), mount],
    }
    return [{"op": "add", "path": path, "value": value} for path, value in changed.items()]


class Sts(_Handler):
    """Answers AssumeRoleWithWebIdentity for a token whose account names the role."""

    def do_POST(self) -> None:
        asked = {key: values[0] for key, values in parse_qs(self.read()).items()}
        whose = self._account(asked.get("WebIdentityToken", ""))
        if asked.get("Action") != "AssumeRoleWithWebIdentity" or not whose:
            self._refuse("InvalidIdentityToken")
        elif self.role_of(*whose) != asked.get("RoleArn"):
            self._refuse("AccessDenied")
        else:
            self.answer(HTTPStatus.OK, "text/xml", assumed_role(self.gate, asked["RoleArn"]))

    def _account(self, token: str) -> tuple[str, str] | None:
        """Returns namespace and name of the service account by a review of its token."""
        spec = client.V1TokenReviewSpec(token=token, audiences=[AUDIENCE])
        status = client.AuthenticationV1Api(self.api).create_token_review(client.V1TokenReview(spec=spec)).status
        if status is None or not status.authenticated or AUDIENCE not in (status.audiences or ()):
            return None
        user = status.user.username if status.user else None
        if user is None:
            return None
        namespace, account = user.removeprefix("system:serviceaccount:").split(":")
        return namespace, account

    def _refuse(self, code: str) -> None:
        said = f"<Error><Type>Sender</Type><Code>{code}</Code><Message>{code}</Message></Error>"
        answer = f'<ErrorResponse xmlns="{STS_NAMESPACE}">{said}</ErrorResponse>'
        self.answer(HTTPStatus.BAD_REQUEST, "text/xml", answer)


def _api(layout: Layout) -> client.ApiClient:
    admin = authority(layout).issue("admin", user="admin", groups=("system:masters",))
    settings = client.Configuration(host=f"https://{NODE_ADDRESS}:{API_PORT}")
    settings.ssl_ca_cert = str(authority(layout).certificate)
    settings.cert_file, settings.key_file = str(admin.certificate), str(admin.key)
    return client.ApiClient(settings)


def _serve(handler: type[_Handler], port: int, identity: Identity) -> None:
    server = http.server.ThreadingHTTPServer((NODE_ADDRESS, port), handler)
    secured(server, identity)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def main() -> None:
    """Serves until a signal ends the process."""
    layout = Layout()
    root = s3.keys(layout)
    hosts = (f"IP:{NODE_ADDRESS}", *(f"DNS:{name}" for name in NAMES))
    identity = authority(layout).issue("cloud", user="cloud", hosts=hosts)
    server = S3Server(s3.ENDPOINT_IN_CLUSTER, root.access_key_id, root.secret_access_key)
    with token_gate(server, (NODE_ADDRESS, GATE_PORT), identity) as gate:
        shared = {"api": _api(layout), "gate": gate}
        sts, pods = (type(kind.__name__, (kind,), shared) for kind in (Sts, Webhook))
        _serve(sts, STS_PORT, identity)
        _serve(pods, WEBHOOK_PORT, identity)
        threading.Event().wait()


if __name__ == "__main__":
    main()
