"""The use cases of statistics, and the ports to their store."""
