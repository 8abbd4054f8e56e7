"""The models of a directory: their versions, how they come to be, and how they go."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yarrow
from yarrow.saving.registry import short_name
from yarrow.serve.errors import ServiceError
from yarrow.serve.log import Log
from yarrow.serve.replay import Rebuilder, Version
from yarrow.serve.snapshots import Pace, Snapshots
from yarrow.serve.spec import build
from yarrow.serve.watch import Watch
from yarrow.serve.writer import Operation

_NAME_LENGTH = 200
_VERBS = ("predict", "learn", "feedback", "undo", "diff", "file", "copy", "versions", "champion")


class Model:
    """A name, its events, and the versions that learn them; the champion answers."""

    def __init__(self, number: int, name: str, spec: dict[str, Any], champion: int) -> None:
        self.number, self.name, self.spec, self.champion_number = number, name, spec, champion
        self.versions: dict[int, Version] = {}

    @property
    def champion(self) -> Version:
        """The version that answers."""
        return self.versions[self.champion_number]


class Models:
    """The catalogue of a service."""

    folder: Path
    log: Log
    rebuilder: Rebuilder
    watch: Watch
    memory: int
    most_models: int

    def __init__(self) -> None:
        self.models: dict[str, Model] = {}
        self._live: dict[int, Version] = {}  # those in memory, the longest unused first
        self._weighing = threading.Lock()
        self._pace = Pace()
        self.used_memory = 0  # bytes that they take
        for model in self.log.models():
            self._add_model(*model, learned=self.log.committed)

    def model(self, name: str) -> Model:
        """A model by its name; `spam/someone` begins with the first row where spam is per key."""
        found = self.models.get(name)
        if found is None:
            raise ServiceError(f"There is no model {name!r}.", 404)
        return found

    def creating(
        self, name: str, spec: Mapping[str, Any], file: str | os.PathLike[str] | None = None
    ) -> Operation:
        """A new model of a spec, or of a model file, which goes on from where it is."""
        _check_name(name)
        spec = dict(spec)
        if file is not None:
            learner = _loaded(file)  # which refuses what is none, and what cannot learn
            spec |= {"learner": short_name(type(learner).__name__), "uploaded": True}
        else:
            self._check_spec(spec)
        text = json.dumps(spec)

        def write() -> tuple[int, int]:
            if self.log.is_model(name):
                raise ServiceError(f"A model {name!r} already exists.", 409)
            if len(self.models) >= self.most_models:
                raise ServiceError(f"There are {self.most_models} models, which is the limit.", 507)
            number = self.log.next_number("models")
            version = self._new_version(number, text, self.log.last, file)
            self.log.add_model(number, name, text, version)
            return number, version

        def apply(numbers: tuple[int, int]) -> dict[str, Any]:
            self._add_model(numbers[0], name, text, numbers[1])
            return {"name": name}

        return Operation(write, apply)

    def challenging(self, name: str, spec: Mapping[str, Any], replay: bool = True) -> Operation:
        """A challenger: another version that learns the same events, from the first one on."""
        self._check_spec(spec)

        def write() -> int:
            model = self.model(name)
            since = min(v.since for v in model.versions.values()) if replay else self.log.last
            return self._new_version(model.number, json.dumps(dict(spec)), since)

        def apply(number: int) -> dict[str, Any]:
            model = self.model(name)
            self._read_versions(model, learned=self.log.committed)
            self.rebuilder.request(model.versions[number])
            return {"name": name, "version": number}

        return Operation(write, apply)

    def promoting(self, name: str, version: int) -> Operation:
        """Let another version answer."""

        def write() -> None:
            model = self.model(name)
            if version not in model.versions:
                raise ServiceError(f"{name} has no version {version}.", 404)
            if model.versions[version].rebuilding:
                raise ServiceError(f"Version {version} is still being built.", 409)
            self.log.set_champion(model.number, version)

        def apply(_: None) -> dict[str, Any]:
            self.model(name).champion_number = version
            return {"name": name, "champion": version}

        return Operation(write, apply)

    def deleting(self, name: str) -> Operation:
        """Remove a model with all that it has learned, and the models of its keys."""

        def write() -> list[Model]:
            keys = [model for key, model in self.models.items() if key.startswith(f"{name}/")]
            gone = [self.model(name), *keys]
            for model in gone:
                self.log.delete_model(model.number)
            return gone

        def apply(gone: list[Model]) -> dict[str, Any]:
            for model in gone:
                self._forget_model(model)
            return {"name": name}

        return Operation(write, apply)

    def _forget_model(self, model: Model) -> None:
        self.models.pop(model.name, None)
        self.watch.forget(model.name)
        for version in model.versions.values():
            self.rebuilder.cancel(version)
            with version.lock:
                version.gone = True
                self.forget(version)
            version.snapshots.remove_unlisted()

    # -- memory ----------------------------------------------------------------------------------

    def _check_spec(self, spec: Mapping[str, Any]) -> None:
        """Refuse a spec that makes no learner, or one that takes all its memory at once."""
        bits = getattr(build(spec), "hash_bits", None) or 0
        if 8 << bits > self.memory:
            raise ServiceError(
                f"A table of 2^{bits} features takes more than the {self.memory >> 20} MB that "
                "models may have: lower hash_bits, or raise --memory-mb.",
                507,
            )

    def check_memory(self, model: Model) -> None:
        """Refuse rows for a model that has grown beyond the memory of all."""
        if sum(version.memory for version in model.versions.values()) > self.memory:
            raise ServiceError(
                f"{model.name} takes more than the {self.memory >> 20} MB that models may have: "
                "raise --memory-mb, or give its spec max_features.",
                507,
            )

    def weigh(self, version: Version) -> None:
        """Note how much memory a version takes, and that it was used."""
        with self._weighing:
            is_live = version.learner is not None and not version.gone
            now = int(version.learner._raw_memory_usage) + version.curve_bytes if is_live else 0
            self.used_memory += now - version.memory
            version.memory = now
            self._live.pop(version.number, None)
            if now:
                self._live[version.number] = version

    def forget(self, version: Version) -> None:
        """Let a version rest: who asks for it next gets it from its file and the log."""
        version.learner = None
        version.samples.clear()
        self.weigh(version)

    # -- the tables ------------------------------------------------------------------------------

    def _add_model(
        self, number: int, name: str, spec: str, champion: int, learned: int | None = None
    ) -> None:
        model = Model(number, name, json.loads(spec), champion)
        self._read_versions(model, learned)
        self.models[name] = model

    def _read_versions(self, model: Model, learned: int | None) -> None:
        for number, spec, since in self.log.versions(model.number):
            if number in model.versions:
                continue
            snapshots = self._snapshots(number)
            snapshots.remove_unlisted()
            made = Version(number, model.number, json.loads(spec), since, snapshots)
            made.learned = since if learned is None else learned
            model.versions[number] = made

    def _snapshots(self, version: int) -> Snapshots:
        return Snapshots(self.folder / "snapshots", self.log, version, self._pace)

    def _new_version(self, model: int, spec: str, since: int, file: Any = None) -> int:
        number = self.log.next_number("versions")
        if file is not None:
            snapshots = self._snapshots(number)
            snapshots.folder.mkdir(parents=True, exist_ok=True)
            yarrow.load(file).save(snapshots.path(since))
            self.log.put_snapshot(number, since)
        self.log.add_version(number, model, spec, since)
        return number


def _check_name(name: str) -> None:
    parts = name.split("/")
    odd = any(part != part.strip() or part in ("", ".", "..") or "\ufffd" in part for part in parts)
    if odd or len(name) > _NAME_LENGTH or not name.isprintable() or len(parts) > 2:
        raise ServiceError(f"A model's name is 1 to {_NAME_LENGTH} letters without '/': {name!r}.")
    if parts[-1] in _VERBS and len(parts) == 2:
        raise ServiceError(f"A key cannot be called {parts[1]!r}, the name of an operation.")


def _loaded(file: str | os.PathLike[str]) -> Any:
    model = yarrow.load(file)
    if not hasattr(model, "learn_one"):
        raise ServiceError(f"A {type(model).__name__} only predicts: upload what `save` wrote.")
    return model
