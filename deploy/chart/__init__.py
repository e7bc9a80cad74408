"""Generates the chart's values from their schema, and packages the chart for a registry."""
