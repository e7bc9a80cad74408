"""A visit on its way from an answered request to the analytics service."""
