"""Code that all processes share. It imports no service.

rpc                  gRPC servers and clients, errors as statuses
observability        logs, metrics, health, traces
stores               opens the database of a service: `sqlite` or `mongo`
sqlite, mongo        the two databases, each with migrations and a change feed (`feed`)
settings             environment variables, validated; `environment` reads them or their files
supervisor           readiness and lifeline for the process that started this one, stop signals
background           background tasks; an error in one stops the process
startup              the last step of startup: tunes garbage collection, reports readiness
process_tuning       scheduling priority and garbage collection
concurrency_limiter  limits expensive work, fairly between owners
eviction             which owner's work a full queue rejects
errors               the errors that use cases raise
edge_table           reads `deploy/edge.toml`, the table of the product's paths
link_codes           syntax of link codes, reserved names
characters, email_addresses, ip_addresses, timestamps, schema_version   small value types
"""
