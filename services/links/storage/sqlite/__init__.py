"""Links in an SQLite file."""

from services.links.storage.sqlite.schema import MIGRATIONS as MIGRATIONS
from services.links.storage.sqlite.store import open_store as open_store
