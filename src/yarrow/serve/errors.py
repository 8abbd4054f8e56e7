"""What the service refuses: one sentence, and the HTTP status that says whose turn it is."""

from __future__ import annotations

from yarrow.errors import YarrowError


class ServiceError(YarrowError):
    """A request that is not carried out; nothing has changed."""

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status
