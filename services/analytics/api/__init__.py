"""The gRPC interface of the analytics service."""
