"""Short codes and the URLs they lead to."""
