"""The analytics store in MongoDB."""
