"""The public origin: redirects, functions, and in a local run also the web pages.

__main__, settings   the process
bootstrap, app       composition
redirects            short URLs and their cache
functions            what the pages call
api                  the REST API for programs
use_cases            what both do with the services
visits               visits on their way to analytics
pages                web pages and the status page
http                 the HTTP server protocol
backends             the three services as the gateway calls them
nginx                what an nginx in front needs
support              helpers of all packages

Imports go from __main__ > bootstrap > app, nginx, settings > api, functions > use_cases >
backends > redirects > http, pages, visits > support.
"""
