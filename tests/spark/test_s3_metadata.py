"""Metadata files on a real S3 server, read without a JVM: by which requests, with which access, and what fails."""

from __future__ import annotations

import http.client
import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from paimon_engines.engine import Engine
from paimon_engines.loader import load_engine
from spark_apps.metadata.base import MAX_BYTES, Stamped, UnreadableError
from spark_apps.metadata.file_sums import total_of
from spark_apps.metadata.observation import Observer
from spark_apps.metadata.s3 import S3Files
from spark_apps.metadata.table_files import TableFiles
from tests.cluster.pki import Authority, Identity
from tests.cluster.processes import wait_until
from tests.cluster.s3 import REGION
from tests.spark.bucket import identity
from tests.spark_apps.metadata.test_table_files import text_of
from tests.support.fabricated_avro import data_file
from tests.support.fabricated_table import FabricatedTable, schema_of
from tests.support.s3_server import S3Server, s3_server
from tests.support.s3_token_gate import Gate, assumed_role, secured, token_gate

TABLE = "s3://lake/warehouse/shop.db/orders"
SCHEMAS = "/lake/warehouse/shop.db/orders/schema"


def put(server: S3Server, path: str, text: str) -> None:
    server.client().put_object(Bucket="lake", Key=path, Body=text.encode())


def commit(server: S3Server, *ids: int) -> None:
    for id_ in ids:
        put(server, f"warehouse/shop.db/orders/schema/schema-{id_}", text_of(id_))


@pytest.fixture(autouse=True)
def no_access(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine's own gives access."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[S3Server]:
    with s3_server(tmp_path, "lake") as started:
        yield started


@pytest.fixture(params=["paimon-0.9", "paimon-1.4"])
def by_engine(request: pytest.FixtureRequest) -> Engine:
    return load_engine(request.param)


def files(endpoint: str, engine: Engine | None = None) -> S3Files:
    """The files of a catalog with this endpoint, by the engine's names of its options."""
    keys = (engine or load_engine("paimon-1.4")).s3
    options = {keys.endpoint_key: endpoint, keys.region_key: REGION, keys.path_style_key: "true"}
    return S3Files.of(options, keys)


@pytest.fixture
def gate(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """The server behind a proxy that records the requests; access is by temporary keys."""
    with token_gate(server) as opened:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", opened.access_key_id)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", opened.secret_access_key)
        monkeypatch.setenv("AWS_SESSION_TOKEN", opened.token)
        yield opened


REQUESTS = {
    "nothing has changed": (1, 1, [f"GET {SCHEMAS}/schema-2", f"GET {SCHEMAS}/schema-1"]),
    "one edit": (0, 1, [f"GET {SCHEMAS}/schema-1", f"GET {SCHEMAS}/schema-2"]),
    "nothing is known": (None, 1, ["GET /lake", f"GET {SCHEMAS}/schema-1"]),
}


def test_the_server_leaves_a_connection_open_as_other_object_stores_do(server: S3Server) -> None:
    """So clients of the tests meet what a kept connection can do to them: it ends while they do not look."""
    connection = http.client.HTTPConnection(urlsplit(server.endpoint).netloc, timeout=30)
    for key in ("one", "another"):
        connection.request("GET", f"/lake/{key}")
        with connection.getresponse() as answer:
            answer.read()
            assert not answer.will_close
    connection.close()


@pytest.mark.parametrize(("known", "latest", "requests"), REQUESTS.values(), ids=REQUESTS)
def test_two_requests_read_the_latest_schema(
    gate: Gate, by_engine: Engine, known: int | None, latest: int, requests: list[str]
) -> None:
    commit(gate.server, 0, 1)
    found = TableFiles(files(gate.endpoint, by_engine), TABLE).latest_schema(known)
    assert found is not None
    assert (found.id, [each.rstrip("/") for each in gate.requests]) == (latest, requests)


def test_a_table_that_is_not_there_has_no_schema(gate: Gate) -> None:
    assert TableFiles(files(gate.endpoint), TABLE).latest_schema(3) is None


def test_a_directory_lists_files_and_directories_of_one_level(gate: Gate) -> None:
    commit(gate.server, 0)
    for path in ("warehouse/shop.db/what?#%41 now", "warehouse/shop.db/orders/manifest/m", "warehouse/shop.db2/t/x"):
        put(gate.server, path, "content")
    found = files(gate.endpoint)
    for root in ("s3://lake/warehouse", "s3://lake//warehouse/"):
        assert sorted(found.names(root)) == ["shop.db", "shop.db2"]
        assert sorted(found.names(f"{root}/shop.db")) == ["orders", "what?#%41 now"]
        assert found.read(f"{root}/shop.db/what?#%41 now") == b"content"
        assert found.read(f"{root}/shop.db/none") is None
    assert sorted(found.names("s3://lake")) == ["warehouse"]
    assert list(found.names("s3://lake/none")) == []


def test_a_large_object_is_not_read(gate: Gate) -> None:
    put(gate.server, "large", "x" * (MAX_BYTES + 1))
    with pytest.raises(UnreadableError, match=f"more than {MAX_BYTES} bytes"):
        files(gate.endpoint).read("s3://lake/large")


def test_access_with_keys_in_a_file(server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(server, 0)
    file = tmp_path / "credentials"
    file.write_text("[default]\n" + "".join(f"{name.lower()} = {value}\n" for name, value in server.keys.items()))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    assert files(server.endpoint).read(f"{TABLE}/schema/schema-0") is not None


def test_access_with_the_identity_of_the_pod(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(server, 0)
    with token_gate(server) as opened:
        for name, value in identity(opened).items():
            monkeypatch.setenv(name, value)
        assert files(opened.endpoint).read(f"{TABLE}/schema/schema-0") is not None
    assert opened.fetched


def test_a_server_of_a_private_authority_is_read_with_its_certificate_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = Authority(tmp_path / "pki")
    own = authority.issue("s3", user="s3", hosts=("IP:127.0.0.1",))
    with s3_server(tmp_path, "lake", tls=own, authority=authority.certificate) as server:
        for name, value in server.keys.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(UnreadableError, match="SSL validation failed"):
            files(server.endpoint).read(TABLE)
        monkeypatch.setenv("STORAGE_CA_FILE", str(authority.certificate))
        assert files(server.endpoint).read(TABLE) is None


class Sts(http.server.BaseHTTPRequestHandler):
    """Gives the keys of a gate for any token."""

    gate: Gate

    def log_message(self, format: str, *arguments: object) -> None:
        del format, arguments

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = assumed_role(self.gate, "arn:aws:iam::1:role/loader").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def sts_of(gate: Gate, own: Identity) -> Iterator[str]:
    """An STS with this certificate, which gives keys for the gate."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("OfGate", (Sts,), {"gate": gate})) as sts:
        secured(sts, own)
        serving = threading.Thread(target=sts.serve_forever)
        serving.start()
        yield f"https://127.0.0.1:{sts.server_port}"
        sts.shutdown()
        serving.join()


@pytest.mark.parametrize("of_gate", ["private", "public"])
def test_keys_come_from_an_sts_of_a_private_authority(
    of_gate: str, server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The S3 server may have a certificate of another authority, which botocore knows by itself."""
    commit(server, 0)
    private, public = Authority(tmp_path / "private"), Authority(tmp_path / "public")
    authority = {"private": private, "public": public}[of_gate]
    monkeypatch.setattr("spark_apps.metadata.s3.get_cert_path", lambda _: str(public.certificate))
    (tmp_path / "token").write_text("of-the-kubelet")
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/loader")
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("STORAGE_CA_FILE", str(private.certificate))
    own = authority.issue("s3", user="s3", hosts=("IP:127.0.0.1",))
    of_sts = private.issue("sts", user="sts", hosts=("IP:127.0.0.1",))
    with token_gate(server, tls=own) as gate, sts_of(gate, of_sts) as sts:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", sts)
        assert files(gate.endpoint).read(f"{TABLE}/schema/schema-0") is not None


def test_a_missing_file_of_authorities_is_left_to_the_jvm(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORAGE_CA_FILE", "/none")
    with pytest.raises(UnreadableError, match="No such file"):
        files(server.endpoint)


def test_refused_access_is_left_to_the_jvm(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-yesterday")
    table = TableFiles(files(gate.endpoint), TABLE)
    for known in (None, 0):
        with pytest.raises(UnreadableError, match=r"InvalidToken|400"):
            table.latest_schema(known)


def test_no_credentials_a_wrong_key_and_a_missing_bucket_are_left_to_the_jvm(
    server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnreadableError, match="Unable to locate credentials"):
        files(server.endpoint).read(TABLE)
    for name, value in server.keys.items():
        monkeypatch.setenv(name, value)
    for read in (files(server.endpoint).read, lambda path: list(files(server.endpoint).names(path))):
        with pytest.raises(UnreadableError, match="NoSuchBucket"):
            read("s3://none/warehouse")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-secret")
    with pytest.raises(UnreadableError, match="SignatureDoesNotMatch"):
        files(server.endpoint).read(TABLE)


def test_an_object_has_the_same_stamp_until_it_is_written_again(gate: Gate) -> None:
    """Not while it could be written again within the second of its time."""
    found, path = files(gate.endpoint), f"{TABLE}/snapshot/LATEST"
    assert found.read_stamped(path) is None
    put(gate.server, "warehouse/shop.db/orders/snapshot/LATEST", "5")
    found.read(path)
    first = wait_until_settled(found, path)
    assert found.read_stamped(path) == first
    put(gate.server, "warehouse/shop.db/orders/snapshot/LATEST", "5")
    just_written = found.read_stamped(path)
    assert just_written == Stamped(b"5", None)
    again = wait_until_settled(found, path)
    assert (again.content, again.stamp == first.stamp) == (b"5", False)


def wait_until_settled(found: S3Files, path: str) -> Stamped:
    """What is read once the object has a stamp, which the server's clock decides on."""
    read: list[Stamped] = []

    def has_stamp() -> bool:
        stamped = found.read_stamped(path)
        if stamped is None or stamped.stamp is None:
            return False
        read.append(stamped)
        return True

    assert wait_until(has_stamp, timeout=20)
    return read[0]


def test_each_read_is_one_request_and_the_first_one_shows_the_address(gate: Gate) -> None:
    commit(gate.server, 0, 1)
    found = files(gate.endpoint)
    for _ in range(3):
        assert found.read(f"{TABLE}/schema/schema-1") is not None
    assert found.read(f"{TABLE}/schema/schema-7") is None
    assert gate.requests == [*[f"GET {SCHEMAS}/schema-1"] * 3, f"GET {SCHEMAS}/schema-7"]
    assert found.getter.get("lake", "warehouse/shop.db/orders/schema/schema-0", MAX_BYTES) is not None


def test_a_bucket_that_is_gone_is_not_an_object_that_is_missing(server: S3Server, gate: Gate) -> None:
    commit(gate.server, 0)
    found = files(gate.endpoint)
    assert found.read(f"{TABLE}/schema/schema-0") is not None
    client = server.client()
    client.delete_object(Bucket="lake", Key="warehouse/shop.db/orders/schema/schema-0")
    client.delete_bucket(Bucket="lake")
    with pytest.raises(UnreadableError, match="NoSuchBucket"):
        found.read(f"{TABLE}/schema/schema-0")


def test_a_table_on_s3_is_observed_by_one_request_while_it_is_idle(tmp_path: Path, gate: Gate) -> None:
    table = FabricatedTable(tmp_path / "s3" / "lake" / "warehouse" / "shop.db" / "orders")
    table.commit([data_file("a")])
    found = files(gate.endpoint)
    found.read(f"{TABLE}/snapshot/LATEST")
    observer = Observer(found, TABLE, schema_of())
    observed = observer.observe()
    gate.requests.clear()
    observed = observer.observe(observed)
    assert gate.requests == ["GET /lake/warehouse/shop.db/orders/snapshot/LATEST"]
    table.commit([data_file("b")])
    contents = observer.observe(observed).contents
    assert contents is not None
    assert (contents.snapshot.id, total_of(contents.sums).files) == (2, 2)


def test_the_times_of_a_directory_are_those_of_its_objects_alone(gate: Gate) -> None:
    began = time.time()
    for name in ("consumer/", "consumer/consumer-a", "consumer/deep/b", "other"):
        put(gate.server, f"warehouse/shop.db/orders/{name}", "")
    ((name, ms),) = files(gate.endpoint).times(f"{TABLE}/consumer")
    assert name == "consumer-a"
    assert began - 1 <= ms / 1000 <= time.time() + 1, "whole seconds of the server"
    assert list(files(gate.endpoint).times(f"{TABLE}/none")) == []
