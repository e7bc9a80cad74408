"""The use cases of statistics, and the ports that they need."""
