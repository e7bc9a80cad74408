"""Makes the MongoDB server of the same pod a replica set of one, once; then waits for SIGTERM.

Usage: replica_set.py host:port
"""

import signal
import sys
import time

from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError

ALREADY_INITIALIZED = 23
PAUSE_SECONDS = 1


def initiate(endpoint: str) -> None:
    """Repeat the command until the server says that it was carried out before."""
    config = {"_id": "rs0", "members": [{"_id": 0, "host": endpoint}]}
    with MongoClient[dict[str, object]](f"mongodb://{endpoint}/?directConnection=true") as client:
        while True:
            try:
                client.admin.command("replSetInitiate", config)
            except OperationFailure as error:
                if error.code == ALREADY_INITIALIZED:
                    return
                print(error, file=sys.stderr)
            except PyMongoError as error:  # The server is still starting.
                print(error, file=sys.stderr)
            time.sleep(PAUSE_SECONDS)


signal.signal(signal.SIGTERM, lambda *_: sys.exit())
initiate(sys.argv[1])
print("The replica set is initiated.", flush=True)
signal.pause()
