"""Versions of links and gateways that stand beside each other during an upgrade read each other.

The messages of the version before are written down here as they were.
"""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

from atajo.links.v1 import links_pb2 as pb
from services.links.domain import Resolution
from services.links.grpc_api import resolution_to_pb

BEFORE = """
name: "before.proto" package: "before" syntax: "proto3"
message_type {
  name: "ResolveLinksResponse"
  field { name: "urls" number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE
          type_name: ".before.ResolveLinksResponse.UrlsEntry" }
  nested_type {
    name: "UrlsEntry" options { map_entry: true }
    field { name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
    field { name: "value" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING }
  }
}
message_type {
  name: "CreateLinkRequest"
  field { name: "code" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "url" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "creator_id" number: 3 label: LABEL_OPTIONAL type: TYPE_STRING
          proto3_optional: true oneof_index: 0 }
  oneof_decl { name: "_creator_id" }
}
message_type {
  name: "ListLinksRequest"
  field { name: "creator_id" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
}
"""


@pytest.fixture(scope="module")
def before() -> dict[str, Any]:
    """The messages of the version before, by name."""
    file = text_format.Parse(BEFORE, descriptor_pb2.FileDescriptorProto())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"before.{name}"))
        for name in ("ResolveLinksResponse", "CreateLinkRequest", "ListLinksRequest")
    }


def test_a_gateway_of_before_follows_active_links(before: dict[str, Any]) -> None:
    """Protobuf drops the entries of a map that have a field it does not know."""
    urls = {"abcdefgh": "http://a.example", "ABCDEFGH": "http://b.example"}
    resolutions = [resolution_to_pb(Resolution.active(code, url)) for code, url in urls.items()]
    written = pb.ResolveLinksResponse(resolutions=resolutions).SerializeToString()

    read = before["ResolveLinksResponse"].FromString(written)

    assert dict(read.urls) == urls


def test_links_of_before_is_believed(before: dict[str, Any]) -> None:
    urls = {"abcdefgh": "http://a.example", "ABCDEFGH": "http://b.example"}
    written = before["ResolveLinksResponse"](urls=urls).SerializeToString()

    read = pb.ResolveLinksResponse.FromString(written)

    assert {one.code: one.url for one in read.resolutions} == urls
    assert {one.state for one in read.resolutions} == {pb.LINK_STATE_UNSPECIFIED}


@pytest.mark.parametrize("account", ["one", None])
def test_who_makes_a_link_is_told_both_ways(before: dict[str, Any], account: str | None) -> None:
    now = pb.CreateLinkRequest(code="abcdefgh", url="http://a.example")
    if account is not None:
        now.account_id = account
    then = before["CreateLinkRequest"](code="abcdefgh", url="http://a.example", creator_id=account)

    assert pb.CreateLinkRequest.FromString(then.SerializeToString()) == now
    assert before["CreateLinkRequest"].FromString(now.SerializeToString()) == then


def test_whose_links_are_listed_is_told_both_ways(before: dict[str, Any]) -> None:
    now = pb.ListLinksRequest(account_id="one")
    then = before["ListLinksRequest"](creator_id="one")

    assert pb.ListLinksRequest.FromString(then.SerializeToString()) == now
    assert before["ListLinksRequest"].FromString(now.SerializeToString()) == then
