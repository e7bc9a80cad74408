"""The services behind the gateway: ports, and the gRPC clients that implement them."""
