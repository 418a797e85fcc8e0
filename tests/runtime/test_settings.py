"""Settings from the environment: every invalid or unknown variable is reported by its name."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from paimon_operator.runtime.new_tables import BURST_S
from paimon_operator.settings import PREFIX, Settings, SettingsError, named_by, read

REPOSITORY = Path(__file__).parents[2]
VALUES = REPOSITORY / "charts" / "paimon-operator" / "values.yaml"
DOCS = REPOSITORY / "docs"
IN_WORDS = {2: "two", 5: "five", 10: "ten", 20: "twenty"}


def environment(**variables: str) -> dict[str, str]:
    return {"POD_NAMESPACE": "paimon-system"} | {f"{PREFIX}{name}": value for name, value in variables.items()}


def test_settings_without_variables_are_the_defaults() -> None:
    settings = read(environment())
    assert settings == Settings(lease_namespace="paimon-system")
    assert settings.watch_namespaces == ()


GIVEN: list[tuple[str, str, str, object]] = [
    ("WATCH_NAMESPACES", "shop, bank,", "watch_namespaces", ("shop", "bank")),
    ("WATCH_NAMESPACES", "", "watch_namespaces", ()),
    ("SPARK_IMAGES", '{"paimon-1.4": "r/i:t"}', "spark_images", {"paimon-1.4": "r/i:t"}),
    ("WORKERS", "4", "workers", 4),
    ("MAINTENANCE_POD_HOURS_PER_DAY", "100000", "maintenance_pod_hours_per_day", 100_000),
    ("RESYNC", "10m", "resync", 600),
    ("RESYNC", "90", "resync", 90),
    ("POD_PENDING_TIMEOUT", "90s", "pod_pending_timeout", 90),
    ("OBSERVE_INTERVAL", "1h", "observe_interval", 3600),
    ("LOOKS_URL", "http://op.sys.svc:8082/v1/looks", "looks_url", "http://op.sys.svc:8082/v1/looks"),
    ("LOOKS_URL", "", "looks_url", ""),
    ("LOOKS_INTERVAL", "2m", "looks_interval", 120),
    ("LEASE_NAMESPACE", "other", "lease_namespace", "other"),
    ("LOG_LEVEL", "DEBUG", "log_level", "DEBUG"),
]


@pytest.mark.parametrize(("variable", "text", "name", "value"), GIVEN, ids=[f"{one[0]}={one[1]}" for one in GIVEN])
def test_each_variable_is_read(variable: str, text: str, name: str, value: object) -> None:
    assert getattr(read(environment(**{variable: text})), name) == value


WRONG = [
    ("WATCH_NAMESPACES", "Shop"),
    ("SPARK_IMAGES", "paimon-1.4=r/i"),
    ("SPARK_IMAGES", "[]"),
    ("WORKERS", "0"),
    ("WORKERS", "many"),
    ("MAINTENANCE_POD_HOURS_PER_DAY", "100001"),
    ("RESYNC", "10 minutes"),
    ("RESYNC", "0"),
    ("OBSERVE_INTERVAL", "59m"),
    ("LOOKS_URL", "https://elsewhere/v1/looks"),
    ("LOOKS_INTERVAL", "9s"),
    ("IMAGE_PULL_POLICY", "Sometimes"),
    ("HEALTH_PORT", "70000"),
    ("LOG_LEVEL", "verbose"),
    ("RESINK", "10m"),
]


@pytest.mark.parametrize(("variable", "text"), WRONG, ids=[f"{name}={text}" for name, text in WRONG])
def test_a_wrong_variable_is_named(variable: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"{PREFIX}{variable}"):
        read(environment(**{variable: text}))


def test_all_wrong_variables_are_named_at_once() -> None:
    with pytest.raises(SettingsError) as error:
        read(environment(WORKERS="0", RESYNC="never", RESINK="10m"))
    assert len(str(error.value).splitlines()) == 3


def test_a_missing_namespace_is_refused_with_the_variable_to_set() -> None:
    with pytest.raises(SettingsError, match="PAIMON_OPERATOR_LEASE_NAMESPACE"):
        read({})


def test_every_setting_has_a_description() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_the_builds_own_variables_are_not_settings() -> None:
    given = environment(CACHE="/somewhere", JARS_DIR="/elsewhere")
    assert read(given) == Settings(lease_namespace="paimon-system")


def test_an_argument_is_a_setting_and_takes_precedence() -> None:
    arguments = ["--api-rate=50.5", "--watch-namespaces=shop,bank", "--cluster-id="]
    settings = read({**environment(API_RATE="10", WORKERS="4"), **named_by(arguments)})
    assert (settings.api_rate, settings.workers, settings.cluster_id) == (50.5, 4, "")
    assert settings.watch_namespaces == ("shop", "bank")


@pytest.mark.parametrize("argument", ["--api-rate", "-v", "api-rate=5", "--=5"])
def test_another_form_of_argument_is_refused(argument: str) -> None:
    with pytest.raises(SettingsError, match=rf"^{argument}: an argument has the form"):
        named_by([argument])


def test_an_argument_that_is_no_setting_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"API_PACE: Extra inputs"):
        read({**environment(), **named_by(["--api-pace=5"])})


@pytest.mark.parametrize(
    ("value", "setting"),
    [("apiRate", "api_rate"), ("apiBurst", "api_burst"), ("newTablesRate", "new_tables_rate")],
)
def test_a_rate_has_the_same_default_in_the_chart(value: str, setting: str) -> None:
    values = yaml.safe_load(VALUES.read_text(encoding="utf-8"))
    assert values["operator"][value] == Settings.model_fields[setting].default


def test_the_guide_for_operators_states_the_rate_of_new_tables() -> None:
    rate = Settings.model_fields["new_tables_rate"].default
    stated = " ".join((DOCS / "operations.md").read_text(encoding="utf-8").split())
    assert f"reconciled at {IN_WORDS[rate]} per second, after a burst of about {rate * BURST_S:.0f} (" in stated
    minutes = f"{10_000 / rate / 60:.0f} minutes"
    assert f"10,000 tables that come back without a status, after a move or a loss of objects, take {minutes}" in stated
    assert f"[{IN_WORDS[rate]} tables per second](operations.md" in (DOCS / "emergency.md").read_text(encoding="utf-8")
