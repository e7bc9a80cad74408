"""Rules and values of links. No wire, no store, no settings."""
