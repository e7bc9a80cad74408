"""Code that all processes share. It imports no service.

rpc                  gRPC servers and clients, errors as statuses
observability        logs, metrics, health, traces
stores               opens the database of a service: `sqlite` or `mongo`
sqlite, mongo        the two databases, each with migrations and a change feed (`feed`)
environment          reads environment variables or their files
settings             the variables of each process, validated
supervisor           readiness and lifeline for the process that started this one, stop signals
background           background tasks; an error in one stops the process
startup              scheduling priority, garbage collection, and the report that the process serves
concurrency_limiter  limits expensive work, fairly between owners
fair_queue           a bounded queue that no owner can fill while others wait
errors               the errors that use cases raise
administrators       passes, by which services know that an administrator makes a call
origins, page_urls   the origins of an instance, and URLs of its pages
subjects             what a block can be about: a link, a host or a path
backups              where the automatic backups of a data folder are
edge_table           reads `deploy/edge.toml`, the table of the product's paths
link_codes           syntax of link codes, reserved names
characters, email_addresses, ip_addresses, timestamps   small value types
"""
