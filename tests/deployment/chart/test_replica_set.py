"""The chart's program initiates a replica set of one, and leaves an existing one alone."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

from pymongo import MongoClient

from tests.deployment.chart.render import CHART
from tests.support.mongo import server
from tests.support.waiting import wait_until


def test_a_server_becomes_a_replica_set_of_one_and_stays_it() -> None:
    program = (CHART / "files" / "replica_set.py").read_text()
    with server.nodes(1, "--replSet", "rs0") as (node,):
        endpoint = f"localhost:{node.port}"
        command = [sys.executable, "-c", program, endpoint]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            try:
                node.start()
                assert process.stdout is not None
                assert "initiated" in process.stdout.readline()
                wait_until(lambda: has_transactions(endpoint))
                node.signal(signal.SIGKILL)
                node.start()
                wait_until(lambda: has_transactions(endpoint))
                process.terminate()
                assert process.wait(30) == 0
            finally:
                process.kill()


def has_transactions(endpoint: str) -> bool:
    url = f"mongodb://{endpoint}/?directConnection=true"
    with MongoClient[dict[str, Any]](url) as client:
        if not client.admin.command("hello")["isWritablePrimary"]:
            return False
    with (
        MongoClient[dict[str, Any]](url) as client,
        client.start_session() as session,
        session.start_transaction(),
    ):
        client.test.things.insert_one({}, session=session)
    return True
