"""Statistics in a MongoDB database."""
