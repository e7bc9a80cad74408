"""The account and attempt stores in SQLite and MongoDB."""
