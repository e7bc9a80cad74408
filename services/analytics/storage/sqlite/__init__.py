"""The SQLite backend of the analytics store."""
