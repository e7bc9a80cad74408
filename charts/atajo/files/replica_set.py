"""Initiates a MongoDB server as a replica set of one whenever necessary. Runs until SIGTERM.

Usage: replica_set.py host:port
"""

import signal
import sys
import time

from pymongo import MongoClient
from pymongo.errors import PyMongoError

PAUSE_SECONDS = 1
TIMEOUT_MS = 5000


def keep_initiated(endpoint: str) -> None:
    """Check the server every second: one that lost its data must be initiated again."""
    # The server must be able to reach itself under the name of its member.
    member = {"_id": 0, "host": f"localhost:{endpoint.rpartition(':')[2]}"}
    url = f"mongodb://{endpoint}/?directConnection=true&timeoutMS={TIMEOUT_MS}"
    with MongoClient[dict[str, object]](url) as client:
        while True:
            try:
                if "setName" not in client.admin.command("hello"):
                    client.admin.command("replSetInitiate", {"_id": "rs0", "members": [member]})
                    print("The replica set is initiated.", flush=True)
            except PyMongoError as error:  # The server is still starting.
                print(error, file=sys.stderr)
            time.sleep(PAUSE_SECONDS)


signal.signal(signal.SIGTERM, lambda *_: sys.exit())
keep_initiated(sys.argv[1])
