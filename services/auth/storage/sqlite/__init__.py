"""The SQLite backend of the auth stores."""
