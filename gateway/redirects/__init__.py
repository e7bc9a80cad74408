"""Redirects: short URLs, their cached resolutions, and how these stay current."""
