"""A MongoDB database as an asynchronous store with transactions.

database      what services use: operations with deadlines, health, size
migrations    brings the indexes up to date before the database is used
transactions  transactions of several operations, in threads
feed          the change stream of a collection
"""

from services.shared.mongo.database import (
    Database,
    Document,
    Documents,
    Operation,
    Schema,
    opened,
)

__all__ = ["Database", "Document", "Documents", "Operation", "Schema", "opened"]
