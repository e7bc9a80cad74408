"""A disk that fills up while Atajo runs: nothing acknowledged is lost, and redirects go on."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from tests.deployment.local.test_refusals import file_system, fill
from tests.deployment.local.test_run import LocalRun
from tests.support.gateway_client import GatewayClient, new_code
from tests.support.processes import NO_TLS
from tests.support.waiting import RECOVERY_SECONDS, wait_until

URL = "https://example.com/"
_LOST = re.compile(r"^atajo_visits_lost_total (\S+)$", re.MULTILINE)


def count_lost(run: LocalRun) -> int:
    """Return how many answered visits the gateway counted as lost: its journal had no room."""
    metrics = f"http://{run.state['processes']['gateway']['metrics']}/metrics"
    found = _LOST.search(httpx.get(metrics, verify=NO_TLS).text)
    assert found
    return int(float(found[1]))


def create(client: GatewayClient, token: str, code: str) -> bool:
    """Create a link. Return whether that was acknowledged; otherwise the store was unwritable."""
    reply = client.call("createShortLink", {"code": code, "url": URL, "token": token})
    if reply.status_code == 503:
        error = reply.json()["error"]
        assert (error["status"], error["details"]["reason"]) == ("UNAVAILABLE", "STORE_UNAVAILABLE")
        return False
    assert reply.json()["data"]["success"]
    return True


@pytest.mark.parametrize("is_killed", [False, True], ids=["goes-on", "killed"])
def test_only_changes_are_refused_until_there_is_space(tmp_path: Path, is_killed: bool) -> None:
    with file_system(tmp_path / "disk", "size=32m") as disk:
        with LocalRun.ready(disk / "data") as run, GatewayClient(run.url) as client:
            token = client.log_in(client.register())
            created = [client.shorten(URL, token)]
            other = fill(disk)
            while create(client, token, code := new_code()):
                created.append(code)
            refused = code
            for code in created:
                assert client.visit(code).status_code == 302
            lost = count_lost(run)
            if not is_killed:
                other.unlink()
                wait_until(lambda: create(client, token, refused), RECOVERY_SECONDS)
                run.popen.terminate()
                assert run.end()[0] == 0
        other.unlink(missing_ok=True)
        with LocalRun.ready(disk / "data") as run, GatewayClient(run.url) as client:
            if is_killed:
                assert create(client, token, refused), "it is free, or already this link"
            for code in (*created, refused):
                assert client.visit(code).status_code == 302
            answered = 2 * len(created) + 1
            wait_until(
                lambda: sum(client.views(token).values()) == answered - lost, RECOVERY_SECONDS
            )
            assert set(client.views(token)) == {*created, refused}
