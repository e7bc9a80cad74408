"""The one origin people reach: five functions, short links, and the pages in a local run."""
