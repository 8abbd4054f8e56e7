"""Models by HTTP: create, upload, copy, download, challenge, promote, delete."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import FileResponse

from yarrow.errors import ModelFileError, NotFittedError
from yarrow.serve import history, messages
from yarrow.serve.errors import ServiceError
from yarrow.serve.models import Model
from yarrow.serve.replay import Version
from yarrow.serve.rows import seconds, whole

if TYPE_CHECKING:
    from yarrow.serve.api import Api


async def list_models(api: Api, request: Request) -> Any:
    """All models."""
    return messages.Models(sorted(api.service.models))


async def create(api: Api, request: Request) -> Any:
    """A model of a spec, or of a model file."""
    name = api.name(request)
    if api.header(request, b"content-type").startswith("application/octet-stream"):
        with tempfile.NamedTemporaryFile(suffix=".yarrow") as file:
            file.write(await api.body(request))
            file.flush()
            try:
                operation = await asyncio.to_thread(api.service.creating, name, {}, file.name)
            except ModelFileError as error:  # without a path that says nothing to a sender
                raise ServiceError(str(error).replace(file.name, "The file"), 422) from None
            await api.run(operation)
    else:
        spec = await api.read(request, dict[str, Any])
        known = api.service.models.get(name)
        if known is None or known.spec != spec:  # else the answer was lost, and it is asked again
            await api.run(api.service.creating(name, spec))
    return _state(api.service.model(name))


async def about(api: Api, request: Request) -> Any:
    """A model and its versions."""
    return _state(await api.model(request))


def _state(model: Model) -> messages.ModelState:
    versions = [version_state(model, version) for version in model.versions.values()]
    return messages.ModelState(model.name, model.spec, versions)


def version_state(model: Model, version: Version) -> messages.VersionState:
    """A version of a model, and how it does."""
    learner = version.learner
    name = version.spec.get("learner", "") if learner is None else type(learner).__name__
    counts = version.rows, version.loss, version.progress
    return messages.VersionState(version.number, name, *counts, version is model.champion)


async def delete(api: Api, request: Request) -> Any:
    """Remove a model with all that it has learned, and the models of its keys."""
    return await api.run(api.service.deleting(api.name(request)))


async def copy(api: Api, request: Request) -> Any:
    """A copy that goes on by itself."""
    message = await api.read(request, messages.Copy)
    model = await api.model(request)
    learner = await api.learner(model)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        await _save(model, learner, path)
        await api.run(api.service.creating(message.to, {}, path))
    return _state(api.service.model(message.to))


async def download(api: Api, request: Request) -> Any:
    """The model file, now or as of an event or a time."""
    model, query = await api.model(request), request.query_params
    event, when = query.get("event"), query.get("time")
    if event is not None or when is not None:
        number, moment = None if event is None else whole(event), seconds(when)
        learner = await asyncio.to_thread(
            lambda: history.as_of(api.service, model.name, event=number, time=moment)
        )
    else:
        learner = await api.learner(model)
    descriptor, path = tempfile.mkstemp(suffix=".yarrow")
    os.close(descriptor)
    try:
        await _save(model, learner, path)
    except BaseException:
        os.unlink(path)
        raise
    return _Once(path, media_type="application/octet-stream", filename="model.yarrow")


async def _save(model: Model, learner: Any, path: str) -> None:
    try:
        await asyncio.to_thread(learner.save, path)
    except NotFittedError:
        raise ServiceError(f"{model.name} had learned nothing by then.", 409) from None


class _Once(FileResponse):
    """A file that is gone when it was sent."""

    async def __call__(self, *args: Any) -> None:
        try:
            await super().__call__(*args)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(self.path)


async def challenge(api: Api, request: Request) -> Any:
    """A challenger of another spec."""
    message = await api.read(request, messages.Challenge)
    model = await api.model(request)
    spec = message.spec | ({"promote": True} if message.promote else {})
    await api.run(api.service.challenging(model.name, spec, message.replay))
    return _state(model)


async def promote(api: Api, request: Request) -> Any:
    """Let another version answer."""
    message = await api.read(request, messages.Champion)
    model = await api.model(request)
    await api.run(api.service.promoting(model.name, message.version))
    return _state(model)
