"""The analytics store: one implementation over two database backends."""
