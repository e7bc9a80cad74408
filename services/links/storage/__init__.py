"""The stores of links.

Links, with their lists, views, rankings and reports, have a store for each database, in `sqlite`
and `mongo`. Decisions, imports, creations, leases and the progress of rescans have one for both, in
this folder, over the operations of `records`.
"""
