"""Redirects short URLs.

handler         answers GET and HEAD of a short URL
further_origins answers requests to further origins that are no active link
link_pages      serves pages that exist only for known codes
resolver        resolves codes from the cache or by a lookup, and applies changes
lookups         single flight and batches of lookups
cache           resolutions in bounded memory, with their freshness, and codes without a link
entry           a cached resolution in memory, and its size
invalidation    follows the change feed of links
resolution      values, and the port to links
metrics         counters of redirects, cache and change feed
"""
