"""The services behind the gateway, and what their processes share."""

import os

# gRPC's core writes lines of its own that are not JSON; what matters of them is raised as well.
# It reads this when it is imported, so it is said before anything here imports it.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
