"""The gRPC interface of the auth service."""
