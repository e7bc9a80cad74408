"""An SQLite file as an asynchronous store with group commit.

database      the operations that services use
connection    opens the file and upgrades its schema; ends the process after a failed sync
writer        a thread that commits all waiting operations in one transaction
readers       threads for reads, which SQLite interrupts if the caller gives up
checkpointer  a thread that moves the write-ahead log into the file, off the commit path
feed          a change feed in a table of the file
"""

from services.shared.sqlite.connection import Migration
from services.shared.sqlite.database import SCHEME, Database, open_database

__all__ = ["SCHEME", "Database", "Migration", "open_database"]
