"""Failures of the journal's disk and folder: redirects continue, and losses are reported."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import chain, count, repeat
from pathlib import Path

import httpx
import pytest

from gateway.visits.journal.journal import HEADROOM
from gateway.visits.journal.lines import Visit, line_of
from tests.support.gateway_client import BROWSER
from tests.support.processes import NO_TLS
from tests.support.product import Product
from tests.support.waiting import RECOVERY_SECONDS, wait_until
from tests.system.faults.test_store_away import away


def visit_often(product: Product, code: str, times: int) -> None:
    """Visit over one connection, a hundred at a time. Each must be a 302."""
    request = f"GET /{code} HTTP/1.1\r\nhost: x\r\nuser-agent: {BROWSER}\r\n\r\n".encode()
    address = ("127.0.0.1", int(product.url.rpartition(":")[2]))
    with socket.create_connection(address, timeout=10) as connection:
        for _ in range(times // 100):
            connection.sendall(request * 100)
            answers = b""
            while answers.count(b"Redirecting...") < 100:
                answers += connection.recv(65_536)
            assert answers.count(b"HTTP/1.1 302") == 100


def visits_stored(folder: Path) -> int:
    """Return the visits of people in the analytics store."""
    with closing(sqlite3.connect(folder / "analytics.sqlite3")) as file:
        (people,) = file.execute("SELECT total(people) FROM totals").fetchone()
    return int(people)


def reconnect(product: Product) -> None:
    """Close connections to an earlier gateway process."""
    product.http.close()
    product.http = httpx.Client(timeout=30, verify=NO_TLS)


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[bool]:
    """Mount a disk of `size` bytes at `folder`. Returns False if that needs root."""
    folder.mkdir()
    if os.geteuid() != 0:
        yield False
        return
    options = f"size={size},mode=0700"
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True
    )
    try:
        yield made.returncode == 0
    finally:
        if made.returncode == 0:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_is_reported_and_stops_no_redirect(tmp_path: Path) -> None:
    with small_disk(tmp_path / "journal", HEADROOM + (256 << 10)) as small, Product(tmp_path) as p:
        p.start()
        token = p.log_in(p.register())
        code = p.shorten("https://example.com/", token)
        if not small:  # Limit the size of the gateway's files, which has the same effect.
            _, hard_limit = resource.prlimit(p.pid("gateway"), resource.RLIMIT_FSIZE)
            resource.prlimit(p.pid("gateway"), resource.RLIMIT_FSIZE, (256 << 10, hard_limit))
        answered = 0
        with away(p, "analytics", "frozen"):
            deadline = time.monotonic() + 60
            while p.metric("atajo_visits_lost_total") == 0:
                visit_often(p, code, 500)
                answered += 500
                assert time.monotonic() < deadline
            visit_often(p, code, 500)
            answered += 500
        lines = [line for line in p.logs().splitlines() if '"visits_lost"' in line]
        assert len(lines) == 1, "once a minute"
        if not small:
            resource.prlimit(p.pid("gateway"), resource.RLIMIT_FSIZE, (hard_limit, hard_limit))
        wait_until(lambda: p.metric("atajo_visits_pending") == 0, 20)

        def loses_none() -> bool:
            nonlocal answered
            lost = p.metric("atajo_visits_lost_total")
            visit_often(p, code, 100)
            answered += 100
            return p.metric("atajo_visits_lost_total") == lost

        # There is space again, and nothing more is lost.
        wait_until(loses_none, RECOVERY_SECONDS)
        lost = p.metric("atajo_visits_lost_total")
        wait_until(lambda: p.metric("atajo_visits_pending") == 0, RECOVERY_SECONDS)
        visit_often(p, code, 1000)
        answered += 1000
        wait_until(lambda: p.views(token)[code] == answered - lost, RECOVERY_SECONDS)
        visit_often(p, code, 1000)
        assert p.metric("atajo_visits_lost_total") == lost
        wait_until(lambda: p.views(token)[code] == answered + 1000 - lost, RECOVERY_SECONDS)
        # Its own visits fill it repeatedly, and it continues.
        p.stop("gateway")
        p.start("gateway")
        reconnect(p)
        visit_often(p, code, 100)
        wait_until(lambda: p.views(token)[code] == answered + 1100 - lost, RECOVERY_SECONDS)


def test_a_journal_that_cannot_be_created_is_reported_in_one_line(tmp_path: Path) -> None:
    with Product(tmp_path) as product:
        product.start("auth", "links", "analytics")
        (tmp_path / "journal").write_text("no folder")
        with pytest.raises(RuntimeError, match=r"\nCannot use the journal in .*exists"):
            product.start("gateway")
        (tmp_path / "journal").unlink()
        with small_disk(tmp_path / "journal", 64 << 10) as small:
            if not small:
                return
            with (tmp_path / "journal" / "other").open("wb") as other:
                while os.fstatvfs(other.fileno()).f_bavail:
                    other.write(bytes(4096))
                    other.flush()
            with pytest.raises(RuntimeError, match=r"\nCannot use the journal in .*room"):
                product.start("gateway")


@pytest.mark.parametrize("applied", [True, False])
def test_a_gateway_killed_before_the_acknowledgement_sends_the_batch_again(
    tmp_path: Path, applied: bool
) -> None:
    with Product(tmp_path) as product:
        product.start()
        token = product.log_in(product.register())
        code = product.shorten("https://example.com/", token)
        assert product.views(token) == {code: 0}  # The gateway is connected to analytics.
        os.kill(product.pid("analytics"), signal.SIGSTOP)
        visit_often(product, code, 100)
        # A visit is sent after a short delay, so a batch is in transit.
        wait_until(lambda: product.metric("atajo_visit_flush_lag_seconds") > 1)
        os.kill(product.pid("gateway"), signal.SIGSTOP)
        if applied:
            os.kill(product.pid("analytics"), signal.SIGCONT)
            wait_until(lambda: visits_stored(tmp_path) > 0)
        product.kill("gateway")
        if not applied:
            product.kill("analytics")
            product.start("analytics")
        product.start("gateway")
        reconnect(product)
        visit_often(product, code, 100)
        wait_until(lambda: product.views(token)[code] >= 200, RECOVERY_SECONDS)
        wait_until(lambda: product.metric("atajo_visits_pending") == 0, RECOVERY_SECONDS)
        assert product.views(token)[code] == 200


def test_a_torn_tail_loses_no_answered_visit(tmp_path: Path) -> None:
    with Product(tmp_path) as product:
        product.start()
        token = product.log_in(product.register())
        code = product.shorten("https://example.com/", token)
        product.kill("analytics")
        visit_often(product, code, 300)
        product.kill("gateway")
        with max((tmp_path / "journal").glob("*.v1")).open("ab") as file:
            file.write(b"0badc0de " + code.encode())
        product.start("analytics", "gateway")
        reconnect(product)
        visit_often(product, code, 100)
        wait_until(lambda: product.views(token)[code] == 400, RECOVERY_SECONDS)


def test_damaged_visits_are_lost_once_and_no_others(tmp_path: Path) -> None:
    with Product(tmp_path) as product:
        product.start()
        token = product.log_in(product.register())
        code = product.shorten("https://example.com/", token)
        for n in range(1, 4):
            visit_often(product, code, 100)
            wait_until(lambda n=n: product.views(token)[code] == 100 * n, RECOVERY_SECONDS)  # type: ignore[misc]
        product.kill("analytics")
        visit_often(product, code, 100)
        product.kill("gateway")
        for path in (tmp_path / "journal").glob("*.v1"):
            path.write_bytes(path.read_bytes().swapcase())
        product.start("analytics", "gateway")
        reconnect(product)
        wait_until(lambda: product.metric("atajo_visits_lost_total") == 100)
        visit_often(product, code, 100)
        wait_until(lambda: product.views(token)[code] == 400, RECOVERY_SECONDS)


def test_a_deleted_folder_is_replaced_at_once_and_after_a_start(tmp_path: Path) -> None:
    with Product(tmp_path) as product:
        product.start()
        token = product.log_in(product.register())
        code = product.shorten("https://example.com/", token)
        visit_often(product, code, 100)
        wait_until(lambda: product.views(token)[code] == 100, RECOVERY_SECONDS)
        shutil.rmtree(tmp_path / "journal")
        visit_often(product, code, 100)
        wait_until(lambda: product.views(token)[code] == 200, RECOVERY_SECONDS)
        product.kill("gateway")
        product.start("gateway")
        reconnect(product)
        visit_often(product, code, 100)
        wait_until(lambda: product.views(token)[code] == 300, RECOVERY_SECONDS)
        assert product.stop("gateway") == 0


@pytest.mark.parametrize("gone", [False, True])
def test_a_journal_of_one_mebibyte_is_reused(tmp_path: Path, gone: bool) -> None:
    with Product(tmp_path, {"ATAJO_JOURNAL_BYTES": str(1 << 20)}) as product:
        product.start()
        token = product.log_in(product.register())
        code = product.shorten("https://example.com/", token)
        if gone:
            product.kill("analytics")
        for _ in range(12):
            visit_often(product, code, 3000)  # 0.3 MB
            if not gone:
                wait_until(lambda: product.metric("atajo_visits_pending") == 0, 30)
        if gone:
            assert product.metric("atajo_visits_lost_total") > 0
            product.start("analytics")
            wait_until(lambda: product.metric("atajo_visits_pending") == 0, 30)
        lost = product.metric("atajo_visits_lost_total")
        assert gone or lost == 0
        visit_often(product, code, 1000)
        wait_until(
            lambda: (
                product.views(token)[code] == 37_000 - product.metric("atajo_visits_lost_total")
            ),
            RECOVERY_SECONDS,
        )


def leave_backlog(folder: Path, code: str, size: int) -> int:
    """Write the journal of a long outage, `size` bytes, and return its number of visits."""
    number, _, name = max(path.name for path in folder.glob("*.v1")).partition("-")
    rows = b"".join(line_of(Visit(code, 490_000, "person", f"h{n}.example")) for n in range(5))
    visits = written = 0
    # Many small batches, then large ones.
    for position, times in zip(
        count(int(number) + 1), chain(repeat(1, 500), repeat(10_000)), strict=False
    ):
        written += (folder / f"{position:010d}-{name}").write_bytes(rows * times)
        visits += 5 * times
        if written >= size:
            break
    return visits


@pytest.mark.parametrize("size", [16 << 20, pytest.param(1 << 30, marks=pytest.mark.slow)])
@pytest.mark.timeout(600)
def test_a_backlog_is_read_while_it_serves_and_counted_once_whatever_is_killed(
    tmp_path: Path, size: int
) -> None:
    with Product(tmp_path, {"ATAJO_JOURNAL_BYTES": str(2 << 30)}) as product:
        product.start()
        token = product.log_in(product.register())
        code = product.shorten("https://example.com/", token)
        visit_often(product, code, 100)
        wait_until(lambda: product.views(token)[code] == 100, RECOVERY_SECONDS)
        product.stop("gateway")
        visits = 100 + leave_backlog(tmp_path / "journal", code, size)
        product.kill("analytics")
        for _ in range(2):
            product.start("gateway")
            reconnect(product)
            visit_often(product, code, 100)
            visits += 100
            pending = visits - 100  # The first ones were counted before.
            wait_until(lambda p=pending: product.metric("atajo_visits_pending") == p, 60)  # type: ignore[misc]
            assert product.metric("atajo_visits_restoring") == 1
            product.kill("gateway")
        product.start("analytics", "gateway")
        reconnect(product)
        acknowledged = 'atajo_visit_batches_total{result="acknowledged"}'
        wait_until(lambda: product.metric(acknowledged) > 100, 60)
        product.kill("gateway")
        product.start("gateway")
        reconnect(product)
        visit_often(product, code, 100)
        visits += 100
        wait_until(lambda: product.metric("atajo_visits_pending") == 0, 300)
        assert product.views(token)[code] == visits
        assert product.metric("atajo_visits_lost_total") == 0
        assert product.stop("gateway") == 0
