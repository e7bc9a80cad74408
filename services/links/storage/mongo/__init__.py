"""Links in a MongoDB database."""

from services.links.storage.mongo.schema import SCHEMA as SCHEMA
from services.links.storage.mongo.store import open_store as open_store
