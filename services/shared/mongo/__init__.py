"""A MongoDB database as an asynchronous store with transactions.

connection    opens the database that a URL names
client        the driver's client, and its replacement
database      the operations that services use, with deadlines
availability  whether the server can be reached and written
migrations    brings the indexes up to date before the database is used
transactions  transactions of several operations, in threads
feed          the change stream of a collection
aliases       types of documents and operations

Only this package imports motor. docs/adr/0031-motor.md says what a move to PyMongo's own
asynchronous client changes.
"""

from services.shared.mongo.aliases import Document, Documents, Operation
from services.shared.mongo.connection import open_database
from services.shared.mongo.database import Database
from services.shared.mongo.migrations import Schema

__all__ = ["Database", "Document", "Documents", "Operation", "Schema", "open_database"]
