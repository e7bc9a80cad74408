"""Types of documents, databases and operations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from motor.motor_asyncio import AsyncIOMotorDatabase
from pymongo.database import Database

T = TypeVar("T")
Document = dict[str, Any]
Documents = AsyncIOMotorDatabase[Document]
"""The collections of a database, by name."""
Operation = Callable[[Documents], Awaitable[T]]
"""An operation on a database, such as `lambda db: db.links.find_one({"_id": code})`."""
ThreadWork = Callable[[Database[Document]], T]
"""Work with PyMongo in a thread."""
