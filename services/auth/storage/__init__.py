"""The stores of accounts."""
