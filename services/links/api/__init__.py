"""The gRPC services of links: convert messages and call the use cases."""
