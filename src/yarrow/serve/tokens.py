"""Bearer tokens: 256 random bits, kept as their SHA-256, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from yarrow.serve.errors import ServiceError
from yarrow.serve.service import Service
from yarrow.serve.writer import Operation

#: each has what those before it have
RIGHTS = ("read", "learn", "admin")


class Tokens:
    """Who may do what; without any token everybody may do everything, from this machine."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._known: dict[str, tuple[bytes, str]] = {
            name: (digest, rights) for name, digest, rights in service.log.tokens()
        }

    def __len__(self) -> int:
        return len(self._known)

    def names(self) -> dict[str, str]:
        """The rights of each token, by its name."""
        return {name: rights for name, (_, rights) in self._known.items()}

    def adding(self, name: str, rights: str) -> Operation:
        """A new token in place of an old one of the same name; it is told once."""
        if rights not in RIGHTS:
            raise ServiceError(f"The rights must be one of {', '.join(RIGHTS)}. Got {rights!r}.")
        if not name or len(name) > 100:
            raise ServiceError("A token needs a name of 1 to 100 letters.")
        token = secrets.token_urlsafe(32)
        digest = _hash(token)

        def write() -> None:
            if rights != "admin":
                self._keep_an_admin(name)
            self.service.log.put_token(name, digest, rights)

        def apply(_: None) -> dict[str, str]:
            self._known = self._known | {name: (digest, rights)}
            return {"name": name, "rights": rights, "token": token}

        return Operation(write, apply)

    def removing(self, name: str) -> Operation:
        """Take a token back."""

        def write() -> None:
            if name not in self._known:
                raise ServiceError(f"There is no token {name!r}.", 404)
            self._keep_an_admin(name)
            self.service.log.remove_token(name)

        def apply(_: None) -> dict[str, str]:
            self._known = {other: kept for other, kept in self._known.items() if other != name}
            return {"name": name}

        return Operation(write, apply)

    def _keep_an_admin(self, but: str) -> None:
        """Without one nobody could make tokens; and without any token everybody could do all."""
        if not any(rights == "admin" for name, rights in self.names().items() if name != but):
            raise ServiceError(
                "One token must keep admin rights: create another admin token first.", 409
            )

    def check(self, header: str | None, needed: str) -> str:
        """The name of the token that a request carries; refused without the right it needs."""
        if not self._known:
            return ""
        scheme, _, token = (header or "").partition(" ")
        digest = _hash(token) if scheme.lower() == "bearer" else b""
        found = None
        for name, (known, rights) in self._known.items():
            if hmac.compare_digest(known, digest):
                found = name, rights
        if found is None:
            raise ServiceError("Send a token: 'Authorization: Bearer ...'.", 401)
        name, rights = found
        if RIGHTS.index(rights) < RIGHTS.index(needed):
            raise ServiceError(f"The token {name!r} may {rights}; this needs {needed}.", 403)
        return name


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
