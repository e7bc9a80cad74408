"""The use cases of accounts, the stores that they need, and the ports to a database."""
