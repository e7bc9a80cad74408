"""The analytics store in SQLite and in MongoDB."""
