"""The visit journal: a write-ahead log that survives the death of the gateway.

journal   appends visits, syncs them, and returns batches until they are acknowledged
folder    the locked folder
files     the file of a batch
batch     a batch as it is sent to analytics
lines     the line of a visit
"""
