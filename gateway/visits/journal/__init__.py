"""The visit journal: a write-ahead log that survives a kill of the gateway."""
