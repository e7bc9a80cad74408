"""The use cases of statistics, their store, and the ports to a database."""
