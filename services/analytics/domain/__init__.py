"""Rules and values of statistics, independent of transport and storage."""
