"""gRPC: servers, clients, and errors as statuses."""
