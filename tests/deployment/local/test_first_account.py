"""The first account of a run where not everybody may register."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.deployment.local.test_production import PRODUCTION
from tests.deployment.local.test_run import LocalRun
from tests.support.gateway_client import GatewayClient, registration
from tests.support.waiting import wait_until

QUIET = {**PRODUCTION, "ATAJO_LOG_LEVEL": "error"}


def invitation(run: LocalRun) -> str:
    """Return the token on the line that a start prints."""
    assert run.popen.stderr is not None
    said, _, token = run.popen.stderr.readline().partition("/register#invitation=")
    assert said == f"No account exists. Register the first one, an administrator: {run.url}"
    return token.rstrip("\n")


@pytest.mark.parametrize("settings", [{}, QUIET], ids=["local", "production"])
def test_it_is_invited_by_one_line_and_administers(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    given = {**settings, "ATAJO_REGISTRATION": "closed"}
    with LocalRun(tmp_path, given) as run:
        earlier = invitation(run)
        run.popen.terminate()
        run.end()
    with LocalRun(tmp_path, given) as run:
        token = invitation(run)
        with GatewayClient(run.url) as gateway:
            wait_until(gateway.serves)
            ada = registration("ada@example.com")
            closed = {"success": False, "error": "closed"}
            assert gateway.data("registerUser", ada) == closed
            assert gateway.data("registerUser", {**ada, "invitation": earlier}) == closed
            assert gateway.data("registerUser", {**ada, "invitation": token}) == {"success": True}
            login = {"email": "ada@example.com", "password": "Camino-42", "device": None}
            session = gateway.data("verifyUser", login)
            assert session["administrator"] is True
            # auth and links have the same secret.
            for function in ("listAccounts", "listReports"):
                assert gateway.data(function, {"token": session["token"]})["success"]
        run.popen.terminate()
        _, _, printed = run.end()
        assert "#invitation=" not in printed
