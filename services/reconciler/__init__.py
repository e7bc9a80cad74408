"""The reconciler: background jobs that span several services. It has no store of its own.

account_removal  deletes the links, statistics and accounts of closed accounts
link_purge       deletes links whose removal can no longer be undone
view_counts      copies view counts from analytics to links, which sorts by them
job_runner       runs a job repeatedly, in one process at a time, by means of a lease
ports, clients   the calls to the services: interfaces and gRPC clients
metrics, settings
"""
