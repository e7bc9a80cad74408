"""The auth service over gRPC. `gateway/backends/ports.py` has the port, `Auth`."""

from __future__ import annotations

from datetime import datetime

from atajo.auth.v1 import auth_pb2, auth_pb2_grpc
from gateway.backends.ports import Session
from gateway.backends.protobuf import datetime_of
from services.shared.rpc.client import ServiceClient

CALL_SECONDS = 5.0
PASSWORD_SECONDS = 60.0
"""Timeout of a password check, which may wait in a queue."""


class AuthClient(ServiceClient["auth_pb2_grpc.AuthServiceAsyncStub"]):
    """Calls the auth service."""

    def __init__(self, address: str) -> None:
        service = auth_pb2.DESCRIPTOR.services_by_name["AuthService"]
        super().__init__(address, service, auth_pb2_grpc.AuthServiceStub)

    async def register(self, email: str, password_hash: str, salt: str, username: str) -> None:
        request = auth_pb2.RegisterRequest(
            email=email, password_hash=password_hash, salt=salt, username=username
        )
        await self._call(self._stub.Register, request, CALL_SECONDS)

    async def login(self, email: str, password: str, client_ip: str, device: str) -> Session:
        request = auth_pb2.LoginRequest(
            email=email, password=password, client_address=client_ip, device=device
        )
        reply = await self._call(self._stub.Login, request, PASSWORD_SECONDS)
        expires_at = datetime_of(reply.expires_at)
        return Session(reply.token, expires_at, reply.username, reply.device)

    async def account_of(self, token: str) -> str:
        request = auth_pb2.VerifyTokenRequest(token=token)
        reply = await self._call(self._stub.VerifyToken, request, CALL_SECONDS)
        return reply.account_id

    async def change_password(
        self, token: str, password: str, new_hash: str, new_salt: str, client_ip: str
    ) -> tuple[str, datetime]:
        request = auth_pb2.ChangePasswordRequest(
            token=token,
            password=password,
            new_password_hash=new_hash,
            new_salt=new_salt,
            client_address=client_ip,
        )
        reply = await self._call(self._stub.ChangePassword, request, PASSWORD_SECONDS)
        return reply.token, datetime_of(reply.expires_at)

    async def close_account(self, token: str, password: str, client_ip: str) -> None:
        request = auth_pb2.CloseOwnAccountRequest(
            token=token, password=password, client_address=client_ip
        )
        await self._call(self._stub.CloseOwnAccount, request, PASSWORD_SECONDS)
