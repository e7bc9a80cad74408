"""The use cases of accounts, and the ports that they need."""
