"""The main use case on MongoDB, with every service restarted in between."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from pymongo import MongoClient

from tests.deployment.local.test_run import LocalRun
from tests.support.gateway_client import new_code
from tests.support.mongo import server
from tests.support.processes import NO_TLS, ROOT
from tests.support.product import SERVICES, Product
from tests.support.waiting import wait_until


def test_the_main_job_survives_a_restart_of_every_service(tmp_path: Path, mongo_url: str) -> None:
    with Product(tmp_path, store=mongo_url) as product:
        product.start()
        email = product.register()
        token = product.log_in(email)
        code = product.shorten("https://example.com/a?b=c#d", token)
        for _ in range(5):
            assert product.visit(code).headers["location"] == "https://example.com/a?b=c#d"
        product.await_views(token, {code: 5})

        for name in ("gateway", "reconciler", *SERVICES):
            assert product.stop(name) == 0
        product.start()

        token = product.log_in(email)
        assert product.visit(code).headers["location"] == "https://example.com/a?b=c#d"
        product.await_views(token, {code: 6})
        assert not list(tmp_path.glob("*.sqlite3"))


def test_services_that_started_before_the_replica_set_fail_no_operation(tmp_path: Path) -> None:
    limits = ("CREATIONS", "REGISTRATIONS")
    settings = {f"ATAJO_LIMIT_{name}": "2000/second" for name in limits}
    with server.nodes(1, "--replSet", server.SET, *server.SMALL) as (node,):
        node.start()
        url = f"mongodb://127.0.0.1:{node.port}/?directConnection=true"
        with MongoClient[dict[str, object]](url) as client:
            client.admin.command("ping")
        with Product(tmp_path, settings, store=url) as product:
            product.start()
            wait_until(lambda: all("store_away" in product.logs(name) for name in SERVICES))
            server.initiate([node.port])
            wait_until(lambda: set(product.dependencies().values()) == {"ok"})
            before = {name: len(product.logs(name)) for name in SERVICES}
            token = product.log_in(product.register())

            def use_every_service(_: int) -> str:
                product.register()
                code = product.shorten("https://example.com/", token)
                assert product.visit(code).status_code == 302
                return code

            with ThreadPoolExecutor(8) as threads:
                codes = list(threads.map(use_every_service, range(200)))
            product.await_views(token, dict.fromkeys(codes, 1))
            for name, length in before.items():
                assert "STORE_UNAVAILABLE" not in product.logs(name)[length:]


def test_a_local_run_stores_everything_in_its_mongodb(tmp_path: Path, mongo_url: str) -> None:
    settings = {"ATAJO_STORE": mongo_url}
    code = new_code()
    link = {"code": code, "url": "https://example.com/", "token": None}
    for turn in range(2):
        with LocalRun.ready(tmp_path, settings) as run:
            if turn == 0:
                made = httpx.post(f"{run.url}/createShortLink", json={"data": link}, verify=NO_TLS)
                assert made.json()["data"]["success"]
            assert httpx.get(f"{run.url}/{code}", verify=NO_TLS).headers["location"] == link["url"]
            run.popen.terminate()
            assert run.end()[0] == 0
    assert not list(tmp_path.glob("*.sqlite3"))


def test_a_local_run_refuses_one_file_for_three_services(tmp_path: Path) -> None:
    with LocalRun(tmp_path, {"ATAJO_STORE": f"sqlite:///{tmp_path}/one"}) as run:
        code, _, complaint = run.end()
    assert code == 1
    assert complaint.startswith("Settings refused. ATAJO_STORE: ")


def test_the_server_of_a_test_run_ends_with_it() -> None:
    """Even if the run is killed. A server given to the tests stays."""
    if os.environ.get(server.URL_VARIABLE):
        return
    runner = subprocess.Popen(
        [sys.executable, "-m", "tests.support.mongo.server"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert runner.stdin is not None
    assert runner.stdout is not None
    with runner.stdin, runner.stdout:
        port = urlsplit(runner.stdout.readline().strip()).port
        socket.create_connection(("127.0.0.1", port or 0)).close()
        runner.kill()
        runner.wait()

    def ended() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port or 0)).close()
        except OSError:
            return True
        return False

    wait_until(ended)
