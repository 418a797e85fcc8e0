"""The observer's configuration, its requests and their answers: each side reads what the other side writes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from paimon_contract.documents import DocumentError, to_json, to_text
from paimon_contract.job import JobCatalog
from paimon_contract.looks import (
    MAX_TABLES,
    LookAnswer,
    ObserverConfig,
    TableToLook,
    config_text,
    read_answer,
    read_config,
)

CONFIG = ObserverConfig(
    engine="paimon-1.4",
    catalog=JobCatalog("s3://lake/warehouse", "filesystem", {"s3.region": "eu"}),
    url="http://paimon-operator.paimon-system.svc:8082/v1/looks",
    token_file="/var/run/secrets/paimon-operator/token",
    interval_seconds=60,
)
ANSWER = LookAnswer(interval_seconds=60, tables=(TableToLook(uid="u", database="shop", name="orders", wanted=True),))


def test_the_observer_reads_the_configuration_that_the_operator_writes() -> None:
    assert read_config(config_text(CONFIG)) == CONFIG


def test_the_options_of_hdfs_reach_the_observer() -> None:
    config = replace(CONFIG, hadoop={"dfs.client.socket-timeout": "9000"})
    assert read_config(config_text(config)) == config


def test_a_variable_in_the_configuration_is_not_expanded_by_the_kubelet() -> None:
    config = replace(CONFIG, catalog=replace(CONFIG.catalog, options={"s3.x": "$(AWS_SECRET_ACCESS_KEY) $$"}))
    assert "$" not in config_text(config)
    assert read_config(config_text(config)) == config


WRONG_CONFIGS = {
    "nothing": ("", "config is not JSON"),
    "another version": (config_text(replace(CONFIG, version=2)), "not of version 1"),
    "another scheme": (config_text(replace(CONFIG, url="file:///etc/passwd")), "must begin with http://"),
    "no interval": (config_text(replace(CONFIG, interval_seconds=0)), "at least 1"),
    "a key of another release": (config_text(CONFIG).replace('"url"', '"address"'), "unknown key address"),
}


@pytest.mark.parametrize(("text", "why"), WRONG_CONFIGS.values(), ids=WRONG_CONFIGS)
def test_a_configuration_is_refused_with(text: str, why: str) -> None:
    with pytest.raises(DocumentError, match=why):
        read_config(text)


def test_the_observer_reads_the_answer_that_the_operator_writes() -> None:
    assert read_answer(to_text(to_json(ANSWER))) == ANSWER


def test_an_answer_has_at_most_the_tables_of_the_contract() -> None:
    full = replace(ANSWER, tables=ANSWER.tables * MAX_TABLES)
    assert read_answer(to_text(to_json(full))) == full
    with pytest.raises(DocumentError, match="out of bounds"):
        read_answer(to_text(to_json(replace(ANSWER, tables=ANSWER.tables * (MAX_TABLES + 1)))))


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a$files", "a\\b"])
def test_an_answer_names_no_path(name: str) -> None:
    wrong = json.loads(to_text(to_json(ANSWER)))
    wrong["tables"][0]["name"] = name
    with pytest.raises(DocumentError, match="no name of a table"):
        read_answer(json.dumps(wrong))
