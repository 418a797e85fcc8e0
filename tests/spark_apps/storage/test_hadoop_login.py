"""One login serves all jobs of a process."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest

from paimon_contract import environment
from spark_apps.storage import hadoop


def test_a_driver_logs_in_again_only_with_another_keytab(monkeypatch: pytest.MonkeyPatch) -> None:
    jvm = MagicMock()
    monkeypatch.setattr(hadoop, "_logins", [])
    for keytab in ("/a", "/a", "/b", "/a"):
        monkeypatch.setenv(environment.KRB5PRINCIPAL, "spark@LAKE")
        monkeypatch.setenv(environment.KRB5KEYTAB, keytab)
        hadoop.log_in(jvm, "configuration")
    logins = jvm.org.apache.hadoop.security.UserGroupInformation.loginUserFromKeytab.call_args_list
    assert [each.args for each in logins] == [("spark@LAKE", keytab) for keytab in ("/a", "/b", "/a")]


def test_a_login_that_has_failed_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    jvm = MagicMock()
    login = jvm.org.apache.hadoop.security.UserGroupInformation.loginUserFromKeytab
    login.side_effect = [OSError("no KDC"), None]
    monkeypatch.setattr(hadoop, "_logins", [])
    monkeypatch.setenv(environment.KRB5PRINCIPAL, "spark@LAKE")
    monkeypatch.setenv(environment.KRB5KEYTAB, "/a")
    with pytest.raises(OSError, match="no KDC"):
        hadoop.log_in(jvm, "configuration")
    hadoop.log_in(jvm, "configuration")
    assert login.call_count == 2
