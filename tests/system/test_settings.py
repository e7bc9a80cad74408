"""An invalid setting is refused in one line that names it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from gateway.settings import GatewaySettings
from services.admin.settings import AdminSettings
from services.analytics.settings import AnalyticsSettings
from services.auth.__main__ import failure_limits
from services.auth.settings import AuthSettings
from services.links.settings import LinksSettings
from services.shared.settings import ProcessSettings
from tests.support.processes import Process

NOT_TEXT = os.fsdecode(b"\xff\xfe")
_TABLE = json.loads(Path(__file__).with_name("nonsense.json").read_text(encoding="utf-8"))
_ADMINISTERED = (LinksSettings, AuthSettings)
_SERVICES = (*_ADMINISTERED, AnalyticsSettings)
NONSENSE: Mapping[type[ProcessSettings], Mapping[str, Sequence[str]]] = {
    settings: _TABLE["everywhere"]
    | (_TABLE["services"] if settings in _SERVICES else {})
    | (_TABLE["administered"] if settings in _ADMINISTERED else {})
    | _TABLE[settings.__name__]
    for settings in (*_SERVICES, GatewaySettings, AdminSettings)
}
"""Invalid values by setting."""
NEEDED = {
    "STORE": "sqlite:////nowhere/store.db",
    "PUBLIC_URL": "http://localhost:1",
    "TOKEN_SECRET": "0123456789abcdef0123456789abcdef",
    "AUTH_ADDRESS": "127.0.0.1:1",
    "LINKS_ADDRESS": "127.0.0.1:1",
    "ANALYTICS_ADDRESS": "127.0.0.1:1",
    "JOURNAL_DIR": "/nowhere",
}


@pytest.fixture(autouse=True)
def _only_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("ATAJO_"):
            monkeypatch.delenv(name)
    for name, value in NEEDED.items():
        monkeypatch.setenv(f"ATAJO_{name}", value)


def refused(settings: type[ProcessSettings]) -> str:
    with pytest.raises(SystemExit) as end:
        settings.load()
    line = str(end.value)
    assert "\n" not in line
    line.encode()  # It can be encoded.
    return line


@pytest.mark.parametrize("settings", NONSENSE, ids=lambda settings: settings.__name__)
def test_each_setting_is_checked_before_anything_starts(
    settings: type[ProcessSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.load()
    for name, values in NONSENSE[settings].items():
        for value in values:
            with monkeypatch.context() as patched:
                patched.setenv(f"ATAJO_{name}", value)
                assert f"ATAJO_{name}: " in refused(settings), (name, value)


def test_missing_settings_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STORE", "PUBLIC_URL"):
        monkeypatch.delenv(f"ATAJO_{name}")
    line = refused(LinksSettings)
    assert "ATAJO_STORE: Field required" in line
    assert "ATAJO_PUBLIC_URL: Field required" in line


def test_proxies_are_trusted_by_network_or_by_number_and_not_by_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ATAJO_TRUSTED_HOPS", "2")
    assert GatewaySettings.load().trusted_hops == 2
    monkeypatch.setenv("ATAJO_TRUSTED_PROXIES", "10.0.0.0/8")
    assert "ATAJO_TRUSTED_HOPS: " in refused(GatewaySettings)
    monkeypatch.setenv("ATAJO_TRUSTED_HOPS", "0")
    assert GatewaySettings.load().trusted_hops == 0


@pytest.mark.parametrize(("given", "days"), [("", None), ("1", 1), ("3653", 3653)])
def test_days_are_kept_forever_by_default(
    given: str, days: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert AnalyticsSettings.load().statistics_days is None
    monkeypatch.setenv("ATAJO_STATISTICS_DAYS", given)
    assert AnalyticsSettings.load().statistics_days == days


def test_a_local_run_accepts_a_placeholder_as_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATAJO_TOKEN_SECRET", "change-me")
    monkeypatch.setenv("ATAJO_ENVIRONMENT", "local")
    assert AuthSettings.load().token_secret.get_secret_value() == "change-me"
    monkeypatch.setenv("ATAJO_TOKEN_SECRET", "")
    refused(AuthSettings)
    (tmp_path / "secret").write_text("of-the-file\n")
    monkeypatch.setenv("ATAJO_TOKEN_SECRET_FILE", str(tmp_path / "secret"))
    assert AuthSettings.load().token_secret.get_secret_value() == "of-the-file"


@pytest.mark.parametrize(
    ("limits", "rules"),
    [("on", {"address": 10, "account": 100, "browser": 10, "session": 10}), ("off", {})],
)
def test_failed_log_ins_are_limited_by_default(
    limits: str, rules: Mapping[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATAJO_LIMITS", limits)
    found = failure_limits(AuthSettings.load())
    assert {limit.scope: limit.max_failures for limit in found} == rules


def test_a_binary_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "nul").write_bytes(b"a\0b")
    for path in ("binary", "nul", ".", "nowhere", "binary/below"):
        monkeypatch.setenv("ATAJO_TOKEN_SECRET_FILE", f"{tmp_path}/{path}")
        line = refused(AuthSettings)
        assert "ATAJO_TOKEN_SECRET" in line
        assert "a\0b" not in line
    monkeypatch.setenv("ATAJO_TOKEN_SECRET_FILE", f"{tmp_path}/{NOT_TEXT}")
    assert "ATAJO_TOKEN_SECRET_FILE" in refused(AuthSettings)


@pytest.mark.parametrize(
    ("module", "setting", "value"),
    [
        ("services.links", "LISTEN", "192.0.2.1:0"),
        ("services.links", "METRICS_LISTEN", f"{'x' * 300}:0"),
        ("services.links", "DRAIN_SECONDS", "nan"),
        ("gateway", "LISTEN", f"{'x' * 300}:0"),
        ("gateway", "WEB_DIR", "/dev/null"),
        ("gateway", "JOURNAL_DIR", "/dev/null/journal"),
    ],
)
def test_a_process_ends_with_one_line(
    module: str, setting: str, value: str, tmp_path: Path
) -> None:
    """For errors that show only when the value is used, and one other."""
    env = {f"ATAJO_{name}": given for name, given in NEEDED.items()}
    env |= {
        "ATAJO_STORE": f"sqlite:///{tmp_path}/store.db",
        "ATAJO_JOURNAL_DIR": f"{tmp_path}/journal",
    }
    with Process.launch(module, env | {f"ATAJO_{setting}": value}, tmp_path / "log") as process:
        assert process.wait() == 1
        (line,) = process.stderr().splitlines()
        assert setting in line or value in line


def test_an_invalid_tracing_setting_is_one_line(tmp_path: Path) -> None:
    env = {f"ATAJO_{name}": given for name, given in NEEDED.items()}
    env |= {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    env |= {"OTEL_EXPORTER_OTLP_COMPRESSION": "squeezed"}
    with Process.launch("services.links", env, tmp_path / "log") as process:
        assert process.wait() == 1
        *warnings, line = process.stderr().splitlines()
        assert line.startswith("Settings refused. One of OTEL_*: ")
        assert all(json.loads(warning)["level"] for warning in warnings)
        assert "Traceback" not in process.stderr()


@pytest.mark.parametrize("state", [None, "[]", '{"processes": 1}', "\xff"])
def test_the_operators_command_reports_that_nothing_runs(
    state: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AUTH", "LINKS", "ANALYTICS"):
        monkeypatch.delenv(f"ATAJO_{name}_ADDRESS")
    for folder in (str(tmp_path), "~nobody-of-this-name/x"):
        monkeypatch.setenv("ATAJO_DATA_DIR", folder)
        if state is not None:
            (tmp_path / "run.json").write_text(state, encoding="latin-1")
        with pytest.raises(SystemExit) as end:
            AdminSettings.load().endpoints()
        assert str(end.value).startswith(f"Atajo does not run over {folder}: ")
