"""A service that learns, loses nothing and can undo: `yarrow serve`.

- log: every event in its order, in SQLite, with the ids that were seen
- writer: one thread; many operations, one transaction, one sync; then learn and answer
- learning: what an event does to a model
- snapshots: model files after some events, the farther back the fewer
- replay: a snapshot and the events since; after a crash, as of an event, without a label
- tickets: rows of predictions, kept until their labels come
- models, service: all of it for one directory, without HTTP
- watch: a drift monitor on every model
- history: undo, correct, erase, as of, diff
- endpoints, api, connection: all of it by HTTP; client and vw speak to it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from yarrow.lazy import exports

if TYPE_CHECKING:  # the names below, for type checkers
    from yarrow.serve.client import AsyncClient as AsyncClient
    from yarrow.serve.client import Client as Client
    from yarrow.serve.service import Service as Service

__all__ = ["AsyncClient", "Client", "Service"]

_HOMES = {"AsyncClient": "client", "Client": "client", "Service": "service"}
__getattr__, __dir__ = exports(__name__, _HOMES)
