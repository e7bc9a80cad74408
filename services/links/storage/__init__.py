"""The stores of links."""
