"""The operator's command: what nobody who uses the product can do."""
