"""Use cases of links and the ports that they need."""
