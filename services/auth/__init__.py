"""Accounts, log-in and session tokens."""
