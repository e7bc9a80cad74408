"""The MongoDB backend of the analytics store."""
