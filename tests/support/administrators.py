"""Makes accounts of a product administrators, as the operator's command does."""

from __future__ import annotations

import grpc

from atajo.auth.v1 import auth_pb2, auth_pb2_grpc
from tests.support.product import Product


def set_role(product: Product, email: str, role: str = "administrator") -> None:
    """Set the role of an account, `member` or `administrator`."""
    number = auth_pb2.Role.Value(f"ROLE_{role.upper()}")
    with grpc.insecure_channel(product.admin_address("auth")) as channel:
        stub = auth_pb2_grpc.AdminServiceStub(channel)
        stub.SetRole(auth_pb2.SetRoleRequest(email=email, role=number))


def log_in_administrator(product: Product) -> str:
    """Register an administrator; return the token of a session."""
    email = product.register()
    set_role(product, email)
    return product.log_in(email)
