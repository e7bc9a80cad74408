"""Registration waits until a majority of the MongoDB nodes has the account."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pymongo
import pytest

from services.auth.storage.mongo.schema import SCHEMA
from services.auth.storage.mongo.store import open_stores
from services.shared import mongo
from services.shared.errors import Unavailable
from tests.auth.cases import ANA, BEA
from tests.support.mongo import server


@pytest.fixture
def three_nodes() -> Iterator[list[server.Node]]:
    """Three running servers that are not a replica set yet."""
    with server.nodes(3, "--replSet", server.SET, "--oplogSize", "64") as nodes:
        for node in nodes:
            node.start()
        yield nodes


@pytest.mark.slow
async def test_a_registration_that_a_failover_could_undo_is_not_acknowledged(
    three_nodes: list[server.Node],
) -> None:
    url = server.initiate([node.port for node in three_nodes])
    with pymongo.MongoClient[dict[str, Any]](url) as client:
        async with mongo.open_database(url, "atajo_test", SCHEMA) as database:
            await database.wait_for_schema()
            store = open_stores(database).accounts
            assert await store.add(ANA) == ANA
            assert client.address
            secondaries = [node for node in three_nodes if node.port != client.address[1]]
            for node in secondaries:
                node.signal(signal.SIGSTOP)
            # The primary does not step down for ten seconds.
            unacknowledged = client["atajo_test"].get_collection(
                "accounts", write_concern=pymongo.WriteConcern(w=1)
            )
            (document,) = unacknowledged.find({"email_key": ANA.email_key})
            unacknowledged.insert_one({**document, "_id": BEA.id, "email_key": BEA.email_key})
            with pytest.raises(Unavailable):
                await store.add(BEA)
            for node in secondaries:
                node.signal(signal.SIGCONT)
