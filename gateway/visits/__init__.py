"""Visits, from an answered request to the analytics service.

pipeline     records visits and closes batches
enrichment   what is known of a visit
journal      the write-ahead log of visits
sender       sends batches to analytics
metrics      metrics of all of them
"""
