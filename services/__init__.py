"""The services behind the gateway, and what their processes share."""
