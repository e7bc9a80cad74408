"""The stores of links.

Links, their lists and their reports have an implementation for each database, in `sqlite` and
`mongo`. Other records have one for both, in this folder, over `records`.
"""
