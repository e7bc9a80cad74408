"""Logs, metrics, health and traces of a process."""
