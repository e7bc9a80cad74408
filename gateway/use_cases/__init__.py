"""What callers of functions and of the REST API do with the services: each use case once.

links                            creates, reads and changes an owner's links
statistics                       visits of one link or of all links of an owner
link_json, statistics_json       their results as JSON
url_warnings                     what is suspicious about a URL, with well_known_domains
metrics                          counters
"""
