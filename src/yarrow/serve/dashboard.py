"""The page at `/`, and the state that it shows."""

from __future__ import annotations

import asyncio
import itertools
import time
from importlib import resources
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from yarrow.online.learners import is_regression
from yarrow.serve.catalogue import version_state
from yarrow.serve.errors import ServiceError
from yarrow.serve.models import Model
from yarrow.serve.replay import Version

if TYPE_CHECKING:
    from yarrow.serve.api import Api

_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_FILES = ("index.html", "page.css", "page.js", "charts.js", "uPlot.iife.min.js", "uPlot.min.css")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
_WINDOW = 20  # samples, a second each, in a point of the curve
_POINTS = 300


async def page(api: Api, request: Request) -> Response:
    """The dashboard."""
    name = request.path_params.get("file", "index.html")
    if name not in _FILES:
        raise ServiceError(f"There is no {name!r}.", 404)
    content = resources.files("yarrow.serve").joinpath("page", name).read_bytes()
    return Response(content, headers=_HEADERS, media_type=_TYPES[name[name.rindex(".") :]])


async def state(api: Api, request: Request) -> Any:
    """What the page shows: all names, and one model in detail."""
    service, name = api.service, request.query_params.get("model", "")
    names = sorted(service.models)
    model = service.models.get(name) or (service.models[names[0]] if names else None)
    shown = model.name if model else None
    alarms = [alarm for alarm in service.watch.alarms if alarm["model"] == shown][::-1][:8]
    found: dict[str, Any] = {"models": names[:1000], "events": service.log.committed}
    found |= {"alarms": alarms, "model": None, "rate": 0.0}
    if model is not None:
        found["rate"] = _rate(model.champion)
        hour_ago = await asyncio.to_thread(
            lambda: service.reader.last_event_at(model.number, time.time() - 3600)
        )
        found["model"] = _detail(api, model) | {"hour_ago": max(hour_ago, model.champion.since)}
    return found


def _detail(api: Api, model: Model) -> dict[str, Any]:
    seen = api.service.watch.seen(model.name)
    versions = [
        msgspec.structs.asdict(version_state(model, version)) | {"curve": curve(version)}
        for version in model.versions.values()
    ]
    regression = model.champion.learner is not None and is_regression(model.champion.learner)
    found = {"name": model.name, "regression": regression, "versions": versions}
    return found | {"throughput": throughput(model.champion), **seen}


def curve(version: Version) -> list[tuple[float, float]]:
    """The error over time, each point over the seconds before it."""
    samples = list(version.samples)
    points = []
    for place in range(1, len(samples)):
        when, rows, loss = samples[place]
        _, before_rows, before_loss = samples[max(0, place - _WINDOW)]
        if rows > before_rows:
            points.append((when, max(0.0, (loss - before_loss) / (rows - before_rows))))
    step = max(1, len(points) // _POINTS)
    return points[::-step][::-1]


def throughput(version: Version) -> list[tuple[float, float]]:
    """The rows learned a second, over time."""
    samples = list(version.samples)
    step = max(1, len(samples) // _POINTS)
    chosen = samples[::-step][::-1]
    return [
        (end, max(0.0, (last - first) / (end - begin)))
        for (begin, first, _), (end, last, _) in itertools.pairwise(chosen)
        if end > begin
    ]


def _rate(version: Version) -> float:
    samples = list(version.samples)[-5:]
    if len(samples) < 2 or time.time() - samples[-1][0] > 5:
        return 0.0
    (begin, first, _), (end, last, _) = samples[0], samples[-1]
    return max(0.0, (last - first) / max(1e-9, end - begin))
