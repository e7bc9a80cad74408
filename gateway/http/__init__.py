"""The HTTP server protocol: uvicorn's, hardened, with coalesced writes and a fast path.

hardening    rejects malformed requests, and bounds time and memory per connection
coalescing   sends everything written in one turn of the event loop at once
fast_path    answers GETs of short URLs without a request object
metrics      counters of requests and rejections
"""
