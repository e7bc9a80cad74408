"""Rules and values of accounts. No wire, no store, no settings."""
