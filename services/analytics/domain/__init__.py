"""Rules and values of statistics. No wire, no store, no settings."""
