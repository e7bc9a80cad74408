"""The stores of links, one for each database, and the blocklist files."""
