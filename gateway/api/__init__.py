"""The REST API `/api/v1` for programs, with API keys.

app                        composition, headers of every response, metrics
links, statistics, account operations
models, examples           values of requests and responses
requests                   bodies, scopes and services of handlers
authentication, limits     who calls, and how often
idempotency                repeated requests
problems                   errors (RFC 9457)
description                OpenAPI
"""
