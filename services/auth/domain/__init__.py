"""Rules and values of accounts, independent of transport and storage."""
