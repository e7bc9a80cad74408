"""WebAuthn as the `webauthn` package has it: options for browsers, and checks of their answers.

Answers come from strangers. Each check raises InvalidCredential for whatever does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Never

import webauthn
from webauthn.helpers import (
    base64url_to_bytes,
    bytes_to_base64url,
    parse_authentication_credential_json,
    parse_client_data_json,
    parse_registration_credential_json,
)
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from services.auth.application.challenges import LIFETIME, Challenges
from services.auth.domain.account import Account
from services.auth.domain.passkey import InvalidCredential, Passkey

_TIMEOUT_MILLISECONDS = int(LIFETIME.total_seconds() * 1000)
_PREFERRED = UserVerificationRequirement.PREFERRED
_RP_NAME = "Atajo"
_MAX_CREDENTIAL_ID_BYTES = 1023
"""Maximum length of a credential's id, by WebAuthn Level 3."""


def _refuse_tag(*_: object) -> Never:
    raise ValueError("CBOR of WebAuthn has no tags.")


class _RefusedTags(dict[int, Callable[..., Never]]):
    def __missing__(self, tag: int) -> Callable[..., Never]:
        return _refuse_tag


# CBOR of WebAuthn has no tags (CTAP 2.1, section 8). By default cbor2 decodes each that it knows: a
# regular expression of 32 kB takes 19 s. The package has no option for it.
_cbor_parser: Any = import_module("webauthn.helpers.parse_cbor")
_cbor_parser.cbor2 = SimpleNamespace(
    loads=partial(_cbor_parser.cbor2.loads, semantic_decoders=_RefusedTags(), tag_hook=_refuse_tag)
)


@dataclass(frozen=True, slots=True)
class CreatedCredential:
    """What a browser proved that it created."""

    id: str
    """In base64url."""
    public_key: bytes
    sign_count: int
    challenge_id: str


@dataclass(frozen=True, slots=True)
class Assertion:
    """A browser's answer to a log-in, which is not checked yet."""

    credential_id: str
    """In base64url."""
    user_handle: bytes | None
    credential: str = field(repr=False)
    challenge: bytes = field(repr=False)
    challenge_id: str


@dataclass(frozen=True, eq=False)
class WebAuthn:
    """The relying party of one public origin. `rp_id` is its host."""

    _rp_id: str
    _origin: str
    _challenges: Challenges

    def creation_options(self, account: Account, purpose: str, existing: Sequence[str]) -> str:
        """Return the JSON with which a browser creates a passkey.

        `existing` are the ids of the account's passkeys. Their authenticators refuse another one.
        """
        options = webauthn.generate_registration_options(
            rp_id=self._rp_id,
            rp_name=_RP_NAME,
            user_id=account.id.encode(),
            user_name=account.email,
            user_display_name=account.username,
            challenge=self._challenges.issue(purpose),
            timeout=_TIMEOUT_MILLISECONDS,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED, user_verification=_PREFERRED
            ),
            exclude_credentials=[
                PublicKeyCredentialDescriptor(id=base64url_to_bytes(passkey_id))
                for passkey_id in existing
            ],
        )
        return webauthn.options_to_json(options)

    def request_options(self, purpose: str) -> str:
        """Return the JSON with which a browser logs in with any passkey that it has."""
        options = webauthn.generate_authentication_options(
            rp_id=self._rp_id,
            challenge=self._challenges.issue(purpose),
            timeout=_TIMEOUT_MILLISECONDS,
            user_verification=_PREFERRED,
        )
        return webauthn.options_to_json(options)

    def check_creation(self, credential: str, purpose: str) -> CreatedCredential:
        """Check the answer to `creation_options`. Raises InvalidCredential."""
        with _refused():
            credential = _without_attachment(credential)
            response = parse_registration_credential_json(credential).response
            challenge = parse_client_data_json(response.client_data_json).challenge
            challenge_id = self._challenges.check(challenge, purpose)
            created = webauthn.verify_registration_response(
                credential=credential,
                expected_challenge=challenge,
                expected_rp_id=self._rp_id,
                expected_origin=self._origin,
            )
        if len(created.credential_id) > _MAX_CREDENTIAL_ID_BYTES:
            raise InvalidCredential
        return CreatedCredential(
            bytes_to_base64url(created.credential_id),
            created.credential_public_key,
            created.sign_count,
            challenge_id,
        )

    def read_assertion(self, credential: str, purpose: str) -> Assertion:
        """Read the answer to `request_options`, and check its challenge.

        Raises InvalidCredential.
        """
        with _refused():
            credential = _without_attachment(credential)
            parsed = parse_authentication_credential_json(credential)
            challenge = parse_client_data_json(parsed.response.client_data_json).challenge
            return Assertion(
                parsed.id,
                parsed.response.user_handle,
                credential,
                challenge,
                self._challenges.check(challenge, purpose),
            )

    def check_assertion(self, assertion: Assertion, passkey: Passkey) -> int:
        """Check that an answer is of a passkey. Return the new sign count.

        Raises InvalidCredential, also if the sign count did not increase.
        """
        with _refused():
            if assertion.user_handle != passkey.account_id.encode():
                raise InvalidCredential
            return webauthn.verify_authentication_response(
                credential=assertion.credential,
                expected_challenge=assertion.challenge,
                expected_rp_id=self._rp_id,
                expected_origin=self._origin,
                credential_public_key=passkey.public_key,
                credential_current_sign_count=passkey.sign_count,
            ).new_sign_count


def _without_attachment(credential: str) -> str:
    """Return JSON without the kind of the authenticator, which nothing here depends on.

    WebAuthn reads an unknown kind as null. The package would refuse it.
    """
    return json.dumps({**json.loads(credential), "authenticatorAttachment": None})


@contextmanager
def _refused() -> Iterator[None]:
    """Raise InvalidCredential for each error of the body.

    For malformed input, the package raises its own errors or errors of its libraries.
    """
    try:
        yield
    except Exception as error:
        raise InvalidCredential from error
