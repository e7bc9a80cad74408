"""The use cases of accounts, and the ports to their stores."""
