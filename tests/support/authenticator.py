"""A software authenticator: it answers WebAuthn's options as a browser and its device would."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

USER_PRESENT, USER_VERIFIED, HAS_CREDENTIAL = 1, 4, 64

Json = dict[str, Any]


@dataclass
class Authenticator:
    """A device with one passkey. Tests change what it claims.

    `counter` increases with each answer if it is not None.
    """

    origin: str
    counter: int | None = 0
    flags: int = USER_PRESENT | USER_VERIFIED
    id: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    user_handle: str = ""
    rp_id: str = ""

    def create(self, options: Json) -> Json:
        """Return the RegistrationResponseJSON for creation options."""
        self.user_handle, self.rp_id = options["user"]["id"], options["rp"]["id"]
        attestation = {
            "fmt": "none",
            "attStmt": {},
            "authData": self._data(HAS_CREDENTIAL) + self._credential(),
        }
        return self._answer(
            {
                "clientDataJSON": self._client_data("webauthn.create", options),
                "attestationObject": bytes_to_base64url(cbor2.dumps(attestation)),
            }
        )

    def get(self, options: Json) -> Json:
        """Return the AuthenticationResponseJSON for request options."""
        client_data = self._client_data("webauthn.get", options)
        data = self._data(0)
        signed = data + hashlib.sha256(base64url_to_bytes(client_data)).digest()
        signature = self.key.sign(signed, ec.ECDSA(hashes.SHA256()))
        return self._answer(
            {
                "clientDataJSON": client_data,
                "authenticatorData": bytes_to_base64url(data),
                "signature": bytes_to_base64url(signature),
                "userHandle": self.user_handle,
            }
        )

    def _answer(self, response: Json) -> Json:
        passkey_id = bytes_to_base64url(self.id)
        return {
            "id": passkey_id,
            "rawId": passkey_id,
            "type": "public-key",
            "clientExtensionResults": {},
            "response": response,
        }

    def _client_data(self, kind: str, options: Json) -> str:
        data = {"type": kind, "challenge": options["challenge"], "origin": self.origin}
        return bytes_to_base64url(json.dumps(data).encode())

    def _data(self, flags: int) -> bytes:
        if self.counter is not None:
            self.counter += 1
        return b"".join(
            (
                hashlib.sha256(self.rp_id.encode()).digest(),
                bytes([self.flags | flags]),
                (self.counter or 0).to_bytes(4),
            )
        )

    def _credential(self) -> bytes:
        numbers = self.key.public_key().public_numbers()
        # COSE: an elliptic curve key for ES256 on P-256.
        public = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
        return bytes(16) + len(self.id).to_bytes(2) + self.id + cbor2.dumps(public)
