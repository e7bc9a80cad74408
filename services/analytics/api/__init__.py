"""Protobuf in, use case, protobuf out."""
