"""What callers of functions and of the REST API do with the services: each use case once.

services       what both call
links          creates, reads and changes an owner's links
profiles       streams all links of an account
statistics     visits of one link or of all links of an owner
administration what administrators do
policy         what the instance offers, and to whom
json_values    results as JSON
limits         what one client address may call and store
url_warnings   what is suspicious about a URL, with well_known_domains
"""
