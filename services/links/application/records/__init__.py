"""Records: what links stores besides links and their reports. No redirect reads it.

Decisions, imports, creations, leases and the progress of rescans are written once for both
databases, over the operations of `session`, which each database implements in `storage`.
"""
