"""Blocklists in files."""
