"""A service whose name leads nowhere for a while, as where all of its pods are gone."""

from __future__ import annotations

import asyncio
import socket
import struct
from pathlib import Path
from typing import cast

import pytest

from gateway.clients import LinksClient
from services.runtime import client as runtime_client
from services.runtime.errors import AppError, Unavailable
from tests.product import Product

_IPV4 = 1
_NO_SUCH_NAME = 3


class Names(asyncio.DatagramProtocol):
    """A name server that knows no name until it is told to know every one, as 127.0.0.1."""

    def __init__(self) -> None:
        self.asked = 0
        self.knows = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, address: tuple[str, int]) -> None:
        """Answer a question (RFC 1035, section 4.1)."""
        self.asked += 1
        end = data.index(b"\0", 12) + 5
        (kind,) = struct.unpack("!H", data[end - 4 : end - 2])
        answers = b""
        if self.knows and kind == _IPV4:
            answers = struct.pack("!HHHLH", 0xC00C, _IPV4, 1, 0, 4) + socket.inet_aton("127.0.0.1")
        flags = 0x8180 | (0 if self.knows else _NO_SUCH_NAME)
        head = data[:2] + struct.pack("!HHHHH", flags, 1, bool(answers), 0, 0)
        self._transport.sendto(head + data[12:end] + answers, address)


async def test_a_service_is_found_soon_however_long_its_name_led_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime_client, "ANEW_SECONDS", 1.0)
    transport, names = await asyncio.get_running_loop().create_datagram_endpoint(
        Names, local_addr=("127.0.0.1", 0)
    )
    server = transport.get_extra_info("sockname")[1]
    with Product(tmp_path) as product:
        product.start("links")
        port = product.address("links").rpartition(":")[2]
        client = LinksClient(f"dns://127.0.0.1:{server}/links.test:{port}")

        async def is_ready() -> bool:
            await asyncio.sleep(0.1)
            try:
                await client.check()
            except AppError:
                return False
            return True

        # A channel left alone has asked so often after three quarters of a minute.
        async with asyncio.timeout(25):
            while names.asked < 16:
                assert not await is_ready()
        with pytest.raises(Unavailable):
            await client.resolve(["abcdefgh"])

        names.knows = True
        async with asyncio.timeout(10):
            while not await is_ready():
                pass
        assert await client.resolve(["abcdefgh"]) == {}
        await client.close()
    transport.close()
