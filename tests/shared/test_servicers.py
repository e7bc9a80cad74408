"""The servicers agree with the protocol, which mypy cannot compare with them."""

from __future__ import annotations

import inspect
from typing import Any, get_args, get_type_hints

import pytest
from google.protobuf.message_factory import GetMessageClass

from services.analytics.api import servicers as analytics
from services.auth.api import servicers as auth
from services.links.api.links import LinksServicer
from services.links.api.maintenance import MaintenanceServicer
from services.links.api.moderation import ModerationServicer

SERVICERS = [
    analytics.AnalyticsServicer,
    analytics.AdminServicer,
    auth.AuthServicer,
    auth.AdminServicer,
    LinksServicer,
    MaintenanceServicer,
    ModerationServicer,
]


@pytest.mark.parametrize("servicer", SERVICERS)
def test_methods_take_and_return_the_messages_of_their_calls(servicer: Any) -> None:
    for method in servicer.service.methods:
        behavior = getattr(servicer, method.name)
        types = get_type_hints(behavior)
        assert types["request"] is GetMessageClass(method.input_type), method.name
        response = GetMessageClass(method.output_type)
        if method.server_streaming:
            assert inspect.isasyncgenfunction(behavior), method.name
            assert get_args(types["return"]) == (response,), method.name
        else:
            assert inspect.iscoroutinefunction(behavior), method.name
            assert types["return"] is response, method.name
