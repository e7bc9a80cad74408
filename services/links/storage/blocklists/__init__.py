"""The blocklist files: read in a process of their own, matched in memory."""
