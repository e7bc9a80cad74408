"""The analytics store in SQLite."""
