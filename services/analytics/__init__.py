"""Counts visits without identifying visitors."""
