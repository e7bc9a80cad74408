"""Statistics in an SQLite file."""
