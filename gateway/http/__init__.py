"""The gateway's HTTP server protocol: uvicorn's, hardened, coalescing writes, with a fast path."""
