"""The gRPC services of auth: they translate between protobuf and use cases."""

from __future__ import annotations

from typing import Any

from grpc.aio import ServicerContext

from atajo.auth.v1 import auth_pb2 as pb
from atajo.auth.v1 import auth_pb2_grpc as pb_grpc
from services.auth.application.accounts import AuthService
from services.shared.rpc.server import Servicer, Servicers


class AuthServicer(pb_grpc.AuthServiceServicer):
    """Serves the gateways."""

    def __init__(self, service: AuthService) -> None:
        self._service = service

    async def Register(
        self, request: pb.RegisterRequest, context: ServicerContext[Any, Any]
    ) -> pb.RegisterResponse:
        account = await self._service.register(
            request.email, request.password_hash, request.salt, request.username
        )
        return pb.RegisterResponse(account_id=account.id)

    async def Login(
        self, request: pb.LoginRequest, context: ServicerContext[Any, Any]
    ) -> pb.LoginResponse:
        session = await self._service.login(
            request.email, request.password, request.client_address, request.device
        )
        response = pb.LoginResponse(
            token=session.token, username=session.username, device=session.device_token
        )
        response.expires_at.FromDatetime(session.expires_at)
        return response

    async def VerifyToken(
        self, request: pb.VerifyTokenRequest, context: ServicerContext[Any, Any]
    ) -> pb.VerifyTokenResponse:
        account_id = await self._service.verify_token(request.token)
        return pb.VerifyTokenResponse(account_id=account_id)

    async def ChangePassword(
        self, request: pb.ChangePasswordRequest, context: ServicerContext[Any, Any]
    ) -> pb.ChangePasswordResponse:
        token, expires_at = await self._service.change_password(
            request.token,
            request.password,
            request.new_password_hash,
            request.new_salt,
            request.client_address,
        )
        response = pb.ChangePasswordResponse(token=token)
        response.expires_at.FromDatetime(expires_at)
        return response

    async def CloseOwnAccount(
        self, request: pb.CloseOwnAccountRequest, context: ServicerContext[Any, Any]
    ) -> pb.CloseOwnAccountResponse:
        await self._service.close_own(request.token, request.password, request.client_address)
        return pb.CloseOwnAccountResponse()


class AdminServicer(pb_grpc.AdminServiceServicer):
    """Serves the operator's command and the reconciler."""

    def __init__(self, service: AuthService) -> None:
        self._service = service

    async def CloseAccount(
        self, request: pb.CloseAccountRequest, context: ServicerContext[Any, Any]
    ) -> pb.CloseAccountResponse:
        return pb.CloseAccountResponse(account_id=await self._service.close(request.email))

    async def ListClosedAccounts(
        self, request: pb.ListClosedAccountsRequest, context: ServicerContext[Any, Any]
    ) -> pb.ListClosedAccountsResponse:
        return pb.ListClosedAccountsResponse(account_ids=await self._service.list_closed())

    async def RemoveAccount(
        self, request: pb.RemoveAccountRequest, context: ServicerContext[Any, Any]
    ) -> pb.RemoveAccountResponse:
        await self._service.remove(request.account_id)
        return pb.RemoveAccountResponse()


def servicers(service: AuthService) -> Servicers:
    """Return the gRPC services of the process."""
    return Servicers(
        calls=Servicer.of(
            pb.DESCRIPTOR,
            "AuthService",
            pb_grpc.add_AuthServiceServicer_to_server,
            AuthServicer(service),
        ),
        admin=[
            Servicer.of(
                pb.DESCRIPTOR,
                "AdminService",
                pb_grpc.add_AdminServiceServicer_to_server,
                AdminServicer(service),
            )
        ],
    )
