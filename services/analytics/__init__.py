"""Counts of visits, and never who they were."""
