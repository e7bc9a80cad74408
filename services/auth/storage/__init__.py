"""The backends of the auth stores, in SQLite and MongoDB."""
