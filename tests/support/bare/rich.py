"""Stands where processes of the product look for `rich`, which tools of developers brought along.

structlog takes it in where it is there, and an installed Atajo has none: at each start of a process
that would be a fifth of its work.
"""

raise ImportError("An installed Atajo has no rich.")
