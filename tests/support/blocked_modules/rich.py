"""Hides `rich`, a dependency of development tools, from the product's processes.

structlog imports rich if it is installed, which takes a fifth of the startup time. An installed
Atajo does not have it.
"""

raise ImportError("An installed Atajo has no rich.")
