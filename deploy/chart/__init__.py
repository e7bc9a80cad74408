"""Generates the chart's values from their schema."""
