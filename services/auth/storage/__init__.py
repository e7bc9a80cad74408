"""The auth stores, written once over a narrow backend, and the backends in SQLite and MongoDB."""
