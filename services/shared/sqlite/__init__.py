"""An SQLite file as an asynchronous store with group commit.

connection    how every connection to the file is set up, and what a failed sync means
migrations    brings the schema up to date before the file is used
writer        the thread that commits all operations that wait in one transaction
readers       threads for reads, which a caller can abandon
checkpointer  the thread that moves the write-ahead log into the file, off the commit path
database      what services use of all that
"""

from services.shared.sqlite.database import SCHEME, Database, opened
from services.shared.sqlite.migrations import Migration

__all__ = ["SCHEME", "Database", "Migration", "opened"]
