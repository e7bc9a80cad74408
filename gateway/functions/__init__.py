"""The functions: their payloads, and which services they call. Services make the decisions."""
