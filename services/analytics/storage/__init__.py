"""The store of statistics: one over both databases, which differ in a few operations."""
