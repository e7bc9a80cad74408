"""Says in one line why a MongoDB server cannot be used.

The driver's messages are long and repeat the whole topology, and a URL may contain a password. So
this names hosts and ports, the name of a replica set, and what the operating system or TLS said,
and nothing else of the URL or of a message.
"""

from __future__ import annotations

import re

from pymongo.errors import ConfigurationError, NetworkTimeout, OperationFailure
from pymongo.server_description import ServerDescription
from pymongo.topology_description import TopologyDescription

AUTHENTICATION_ERRORS = frozenset({13, 18, 8000})
"""Error codes: the server refuses the log-in, or what it may do."""
_OS_ERROR = re.compile(r"\[Errno -?\d+\] ([^(\[]+?) *(?:\(|$)")
_CERTIFICATE = re.compile(r"certificate verify failed: ([^(]+?)\.? *(?:\(|$)")
_MAX_CAUSES = 3
"""Causes that are named if servers differ."""


def describe(error: Exception, topology: TopologyDescription) -> str:
    """Return why an operation failed, without a period; empty if only `error` itself says it.

    `topology` is what the driver knows of the servers.
    """
    if _is_refused_login(error):
        return "it refuses the log-in"
    servers = topology.server_descriptions()
    if isinstance(error, ConfigurationError) and error.__cause__:
        hosts = ", ".join(host for host, _ in servers)
        return f"{hosts}: no SRV record in DNS ({type(error.__cause__).__name__})"
    name = topology.replica_set_name
    if not servers:  # The driver removed those that do not belong to it.
        return f"no host of the URL is a member of the replica set {name} (replicaSet)"
    if any(server.is_writable for server in servers.values()):
        return ""
    causes: dict[str, list[str]] = {}
    for (host, port), server in sorted(servers.items(), key=lambda item: str(item[0])):
        endpoint = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        causes.setdefault(_describe_server(server, name), []).append(endpoint)
    lines = [f"{', '.join(endpoints)}: {cause}" for cause, endpoints in causes.items()]
    return "; ".join(lines[:_MAX_CAUSES])


def _is_refused_login(error: Exception) -> bool:
    return isinstance(error, OperationFailure) and error.code in AUTHENTICATION_ERRORS


def _describe_server(server: ServerDescription, replica_set: str | None) -> str:
    """Return why one server is not used."""
    error = server.error
    if error is None:
        return {
            "Unknown": "no answer yet",
            "RSGhost": "not initiated as a replica set",
            "Standalone": "no replica set",
        }.get(server.server_type_name, "not the primary")
    if _is_refused_login(error):
        return "it refuses the log-in"
    if isinstance(error, NetworkTimeout):
        return "no answer"
    if isinstance(error, ConfigurationError):
        return f"not a member of the replica set {replica_set} (replicaSet)"
    text = str(error)
    if found := _CERTIFICATE.search(text):
        return f"its certificate is refused: {found[1]}"
    if "SSL" in text:
        return "no TLS connection: the server may not use TLS"
    if found := _OS_ERROR.search(text):
        return found[1]
    if "connection closed" in text:
        return "it closed the connection: it may require TLS"
    return type(error).__name__
