"""Purges and changes take effect on every gateway, although all have the links cached.

There are three gateways, visited continuously, and links has two replicas on MongoDB.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import grpc
import jwt
import pytest

from atajo.links.v1 import links_pb2 as pb
from atajo.links.v1 import links_pb2_grpc as pb_grpc
from tests.support.gateway_client import GatewayClient
from tests.support.nginx import start_gateway
from tests.support.ports import free_port
from tests.support.processes import TIMEOUT_SECONDS, Process
from tests.support.product import Product
from tests.support.waiting import PROPAGATION_SECONDS, RECOVERY_SECONDS, wait_until
from tests.system.faults.operator import Act, block_address, block_link, insist
from tests.system.faults.visitors import BLOCKED, PURGED, REMOVED, Visitors

GATEWAYS = 3
URL, OTHER, THIRD = (f"https://example.com/{name}" for name in ("one", "other", "third"))


class Replicas(Product):
    """A product with several links processes and several gateways, each with visitors."""

    def __init__(self, folder: Path, store: str) -> None:
        self.links = [f"127.0.0.1:{free_port()}" for _ in range(2 if store else 1)]
        super().__init__(
            folder, {"ATAJO_LINKS_ADDRESS": f"ipv4:{','.join(self.links)}"}, store=store
        )
        self._ending = ExitStack()
        self._running: dict[str, Process] = {}

    def start_links(self, address: str) -> Process:
        """Start a replica of links."""
        env = self._env("links") | {"ATAJO_LISTEN": address, "ATAJO_ADMIN_LISTEN": "127.0.0.1:0"}
        process = Process.start("services.links", env, self.folder / "links.log")
        self._running[address] = self._ending.enter_context(process)
        return process

    def kill_links(self, address: str) -> None:
        """SIGKILL."""
        self._running.pop(address).kill()

    def admin_of(self, address: str) -> str:
        """Return a replica's admin address. Raises KeyError while it does not run."""
        return self._running[address].addresses["admin"]

    def purge(self, address: str, codes: Sequence[str]) -> float:
        """Purge links at one replica as the operator. Returns the time of the acknowledgement."""
        with grpc.insecure_channel(self._running[address].addresses["admin"]) as channel:
            request = pb.PurgeLinksRequest(codes=codes)
            purged = pb_grpc.MaintenanceServiceStub(channel).PurgeLinks(
                request, timeout=TIMEOUT_SECONDS
            )
        assert sorted(purged.codes) == sorted(codes)
        return time.monotonic()

    def edit(
        self,
        address: str,
        account: str,
        *,
        change: Sequence[str] = (),
        remove: Sequence[str] = (),
        restore: Sequence[str] = (),
    ) -> None:
        """Change an owner's links to `THIRD`, remove and restore them at one replica."""
        owner = pb.Owner(account_id=account)
        with grpc.insecure_channel(self._running[address].grpc) as channel:
            stub = pb_grpc.LinksServiceStub(channel)
            for code in change:
                changes = pb.LinkChanges(url=THIRD)
                request = pb.ChangeLinkRequest(owner=owner, code=code, changes=changes)
                stub.ChangeLink(request, timeout=TIMEOUT_SECONDS)
            stub.RemoveLinks(
                pb.RemoveLinksRequest(owner=owner, codes=remove), timeout=TIMEOUT_SECONDS
            )
            stub.RestoreLinks(
                pb.RestoreLinksRequest(owner=owner, codes=restore), timeout=TIMEOUT_SECONDS
            )

    def start_gateway(self, name: str) -> str:
        """Start a gateway and return its URL."""
        settings = {"ATAJO_LINKS_ADDRESS": self.settings["ATAJO_LINKS_ADDRESS"]}
        process = self._ending.enter_context(start_gateway(self, self.folder / name, settings))
        return f"http://{process.addresses['http']}"

    def start_gateways(self) -> list[str]:
        """Start the other gateways and return the URLs of all."""
        return [self.url, *(self.start_gateway(f"gateway-{n}") for n in range(1, GATEWAYS))]

    @contextmanager
    def away(self) -> Iterator[str]:
        """Kill all replicas, and run one that no gateway knows while the block lasts."""
        for address in list(self._running):
            if address in self.links:
                self.kill_links(address)
        elsewhere = f"127.0.0.1:{free_port()}"
        self.start_links(elsewhere)
        yield elsewhere
        self.kill_links(elsewhere)

    def __exit__(self, *error: object) -> None:
        self._ending.close()
        super().__exit__(*error)


@pytest.fixture(params=[pytest.param("sqlite", marks=pytest.mark.slow), "mongodb"])
def replicas(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Replicas]:
    store = request.getfixturevalue("mongo_url") if request.param == "mongodb" else ""
    with Replicas(tmp_path, store) as product:
        for address in product.links:
            product.start_links(address)
        product.start("auth", "analytics", "gateway")
        yield product


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_purge_takes_effect_on_every_gateway_within_seconds(replicas: Replicas) -> None:
    def batch() -> list[str]:
        return [replicas.shorten(URL) for _ in range(20)]

    kept, while_up, while_one_is_down, while_away, after = (batch() for _ in range(5))
    gateways = replicas.start_gateways()
    first, last = replicas.links[0], replicas.links[-1]
    codes = [*kept, *while_up, *while_one_is_down, *while_away, *after]
    with Visitors(gateways, dict.fromkeys(codes, URL)) as visitors:
        visitors.await_round()
        assert visitors.are(codes, (302, URL))

        visitors.expect(while_up, PURGED)
        acknowledged = replicas.purge(first, while_up)
        assert visitors.seconds_until_so(while_up, acknowledged) < PROPAGATION_SECONDS

        if first != last:
            replicas.kill_links(first)
            visitors.expect(while_one_is_down, PURGED)
            acknowledged = replicas.purge(last, while_one_is_down)
            assert visitors.seconds_until_so(while_one_is_down, acknowledged) < PROPAGATION_SECONDS
            replicas.start_links(first)

        with replicas.away() as elsewhere:
            visitors.expect(while_away, PURGED)
            replicas.purge(elsewhere, while_away)
        # A gateway with an empty cache and no cursor.
        late = replicas.start_gateway("late")
        visitors.await_round()
        assert visitors.are([*kept, *while_away], (302, URL))
        replicas.start_links(first)
        back = time.monotonic()
        assert visitors.seconds_until_so(while_away, back) < PROPAGATION_SECONDS

        if first != last:
            replicas.start_links(last)
        with Visitors([late], dict.fromkeys([*kept, *after], URL)) as late_visitors:
            late_visitors.await_round()
            for some in (visitors, late_visitors):
                some.expect(after, PURGED)
            acknowledged = replicas.purge(last, after)
            assert visitors.seconds_until_so(after, acknowledged) < PROPAGATION_SECONDS
            assert late_visitors.seconds_until_so(after, acknowledged) < PROPAGATION_SECONDS
            late_visitors.await_round()
            assert late_visitors.are(kept, (302, URL))
        visitors.await_round()
        assert visitors.are(kept, (302, URL))
    assert not visitors.failures
    assert not late_visitors.failures


@pytest.mark.timeout(240)
def test_an_owners_change_takes_effect_on_every_gateway_within_seconds(replicas: Replicas) -> None:
    token = replicas.log_in(replicas.register())
    account = str(jwt.decode(token, options={"verify_signature": False})["sub"])

    def batch() -> list[str]:
        return [replicas.shorten(URL, token) for _ in range(10)]

    kept, changed, removed, while_one_is_down = (batch() for _ in range(4))
    changed_away, removed_away, restored_away = (batch() for _ in range(3))
    gateways = replicas.start_gateways()
    first, last = replicas.links[0], replicas.links[-1]
    codes = [*kept, *changed, *removed, *while_one_is_down]
    codes += [*changed_away, *removed_away, *restored_away]
    with (
        Visitors(gateways, dict.fromkeys(codes, URL)) as visitors,
        GatewayClient(gateways[-1]).http as http,
    ):

        def call(function: str, **data: object) -> float:
            """Repeat a call until links is available; return that time."""
            url, body = f"{gateways[-1]}/{function}", {"data": {"token": token, **data}}

            def accepted() -> bool:
                response = http.post(url, json=body)
                if response.status_code in (503, 504):
                    return False
                assert response.json()["data"]["success"], response.text
                return True

            wait_until(accepted, RECOVERY_SECONDS)
            return time.monotonic()

        def change(some: Sequence[str], url: str) -> float:
            visitors.expect(some, (302, url))
            return max(call("changeLink", code=code, changes={"url": url}) for code in some)

        visitors.await_round()
        assert visitors.are(codes, (302, URL))

        assert visitors.seconds_until_so(changed, change(changed, OTHER)) < PROPAGATION_SECONDS
        gone = [*removed, *restored_away]
        visitors.expect(gone, REMOVED)
        assert (
            visitors.seconds_until_so(gone, call("removeLinks", codes=gone)) < PROPAGATION_SECONDS
        )
        visitors.expect(removed, (302, URL))
        assert (
            visitors.seconds_until_so(removed, call("restoreLinks", codes=removed))
            < PROPAGATION_SECONDS
        )

        if first != last:
            replicas.kill_links(first)
            acknowledged = change(while_one_is_down, OTHER)
            assert visitors.seconds_until_so(while_one_is_down, acknowledged) < PROPAGATION_SECONDS
            replicas.start_links(first)

        with replicas.away() as elsewhere:
            visitors.await_round()
            visitors.expect(changed_away, (302, THIRD))
            visitors.expect(removed_away, REMOVED)
            visitors.expect(restored_away, (302, URL))
            replicas.edit(
                elsewhere,
                account,
                change=changed_away,
                remove=removed_away,
                restore=restored_away,
            )
        visitors.await_round()
        assert visitors.are([*kept, *changed_away, *removed_away], (302, URL))
        assert visitors.are(restored_away, REMOVED)
        replicas.start_links(first)
        back = time.monotonic()
        away = [*changed_away, *removed_away, *restored_away]
        assert visitors.seconds_until_so(away, back) < PROPAGATION_SECONDS
        visitors.await_round()
        assert visitors.are([*kept, *removed], (302, URL))
        assert visitors.are(changed, (302, OTHER))
    assert not visitors.failures


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_what_the_operator_blocks_while_links_is_killed_holds_within_seconds_of_the_answer(
    replicas: Replicas,
) -> None:
    """The command is repeated until it is acknowledged. Then it takes effect everywhere."""
    acts: list[tuple[Act, list[str]]] = []
    urls: dict[str, str] = {}
    for n in range(4):
        hosts = [f"http://evil{n}.example/", f"https://www.evil{n}.example:8443/login"]
        some = [replicas.shorten(url) for url in hosts]
        urls |= dict(zip(some, hosts, strict=True))
        acts.append((block_address(f"evil{n}.example"), some))
        code = replicas.shorten(URL)
        acts.append((block_link(code), [code]))
    kept = replicas.shorten(URL)
    gateways = replicas.start_gateways()
    first = replicas.links[0]
    codes = [kept, *(code for _, some in acts for code in some)]
    with Visitors(gateways, dict.fromkeys(codes, URL) | urls) as visitors:
        visitors.await_round()
        for number, (act, some) in enumerate(acts):
            visitors.expect(some, BLOCKED)
            with ThreadPoolExecutor(1) as pool:
                acknowledged = pool.submit(insist, lambda: replicas.admin_of(first), act)
                time.sleep(number * 0.003)  # At a different moment each time, during its writes.
                replicas.kill_links(first)
                replicas.start_links(first)
            back = time.monotonic()
            since = max(acknowledged.result(), back)  # While links is down no gateway learns of it.
            assert visitors.seconds_until_so(some, since) < PROPAGATION_SECONDS
        visitors.await_round()
        assert visitors.are([kept], (302, URL))
    assert not visitors.failures
