"""The operator's command, for what users of the product cannot do."""
