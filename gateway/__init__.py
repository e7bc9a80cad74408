"""The one origin people reach: the functions, short links, and the pages in a local run."""
