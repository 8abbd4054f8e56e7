"""The models of a directory: their versions, how they come to be, and how they go."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yarrow
from yarrow.saving.registry import short_name
from yarrow.serve.errors import ServiceError
from yarrow.serve.log import DELETED, NUMBERS, Log
from yarrow.serve.replay import Rebuilder, Version
from yarrow.serve.snapshots import Snapshots
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
    most_models: int

    def __init__(self) -> None:
        self.models: dict[str, Model] = {}
        self._live: dict[int, Version] = {}  # those in memory, the longest unused first
        self._weighing = threading.Lock()
        self.used_memory = 0  # bytes that they take
        for (number,) in self.log.db.execute("SELECT model FROM models").fetchall():
            self._read_model(number, learned=self.log.committed)

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
            build(spec)

        def write() -> tuple[int, int]:
            query = "SELECT 1 FROM models WHERE name = ?"
            if name in self.models or self.log.db.execute(query, (name,)).fetchone():
                raise ServiceError(f"There is a model {name!r} already.", 409)
            if len(self.models) >= self.most_models:
                raise ServiceError(f"There are {self.most_models} models, which is the limit.", 507)
            number = self._next("models")
            version = self._add_version(number, spec, self.log.last, file)
            self.log.db.execute(
                "INSERT INTO models VALUES (?, ?, ?, ?, ?)",
                (number, name, json.dumps(spec), self.log.now(), version),
            )
            return number, version

        def apply(numbers: tuple[int, int]) -> dict[str, Any]:
            self._read_model(numbers[0], learned=None)
            return {"name": name}

        return Operation(write, apply)

    def challenging(self, name: str, spec: Mapping[str, Any], replay: bool = True) -> Operation:
        """A challenger: another version that learns the same events, from the first one on."""
        build(spec)

        def write() -> int:
            model = self.model(name)
            since = min(v.since for v in model.versions.values()) if replay else self.log.last
            return self._add_version(model.number, dict(spec), since)

        def apply(number: int) -> dict[str, Any]:
            self._read_model(self.model(name).number, learned=self.log.committed)
            version = self.model(name).versions[number]
            self.rebuilder.request(version)
            return {"name": name, "version": number}

        return Operation(write, apply)

    def promoting(self, name: str, version: int) -> Operation:
        """Let another version answer."""

        def write() -> None:
            model = self.model(name)
            if version not in model.versions:
                raise ServiceError(f"{name} has no version {version}.", 404)
            if model.versions[version].rebuilding:
                raise ServiceError(f"Version {version} is still being made.", 409)
            query = "UPDATE models SET champion = ? WHERE model = ?"
            self.log.db.execute(query, (version, model.number))

        def apply(_: None) -> dict[str, Any]:
            self.model(name).champion_number = version
            return {"name": name, "champion": version}

        return Operation(write, apply)

    def deleting(self, name: str) -> Operation:
        """Remove a model with all that it has learned."""

        def write() -> Model:
            model = self.model(name)
            db = self.log.db
            marks = ",".join(str(number) for number in model.versions)
            db.execute("DELETE FROM changes WHERE event IN (SELECT event FROM events WHERE "
                       "model = ?)", (model.number,))  # fmt: skip
            for table in ("events", "streams", "versions", "models"):
                db.execute(f"DELETE FROM {table} WHERE model = ?", (model.number,))
            db.execute(f"DELETE FROM snapshots WHERE version IN ({marks})")
            self.log.append(0, DELETED, b"")  # so that no number is given twice
            return model

        def apply(model: Model) -> dict[str, Any]:
            self.models.pop(name, None)
            self.watch.forget(name)
            for version in model.versions.values():
                self.rebuilder.cancel(version)
                with version.lock:
                    version.gone = True
                    self._forget(version)
                version.snapshots.remove_strangers(self.log.db)
            return {"name": name}

        return Operation(write, apply)

    # -- memory ----------------------------------------------------------------------------------

    def weigh(self, version: Version) -> None:
        """Note how much memory a version takes, and that it was used."""
        with self._weighing:
            now = (
                0
                if version.learner is None or version.gone
                else int(version.learner._raw_memory_usage)
            )
            self.used_memory += now - version.memory
            version.memory = now
            self._live.pop(version.number, None)
            if now:
                self._live[version.number] = version

    def _forget(self, version: Version) -> None:
        version.learner = None
        self.weigh(version)

    # -- the tables ------------------------------------------------------------------------------

    def _read_model(self, number: int, learned: int | None) -> None:
        db = self.log.db
        query = "SELECT name, spec, champion FROM models WHERE model = ?"
        name, spec, champion = db.execute(query, (number,)).fetchone()
        model = self.models.get(name) or Model(number, name, json.loads(spec), champion)
        found = db.execute("SELECT version, spec, since FROM versions WHERE model = ?", (number,))
        for version, spec, since in found.fetchall():
            if version in model.versions:
                continue
            snapshots = Snapshots(self.folder / "snapshots", self.log, version)
            snapshots.remove_strangers(db)
            made = Version(version, number, json.loads(spec), since, snapshots)
            made.learned = since if learned is None else learned
            model.versions[version] = made
        self.models[name] = model

    def _next(self, table: Literal["models", "versions"]) -> int:
        """A number of a model or a version, inside a transaction; one is never given twice.

        Tickets are signed with a model's, and the snapshots of a version lie under its own.
        """
        db, tick = self.log.db, NUMBERS[table]
        given = db.execute("SELECT time FROM ticks WHERE tick = ?", (tick,)).fetchone()
        found = db.execute(f"SELECT max({table[:-1]}) FROM {table}").fetchone()[0]
        number = max(int(given[0]) if given else 0, found or 0) + 1
        db.execute("INSERT OR REPLACE INTO ticks VALUES (?, ?)", (tick, number))
        return number

    def _add_version(
        self, model: int, spec: Mapping[str, Any], since: int, file: Any = None
    ) -> int:
        db = self.log.db
        number = self._next("versions")
        if file is not None:
            snapshots = Snapshots(self.folder / "snapshots", self.log, number)
            snapshots.folder.mkdir(parents=True, exist_ok=True)
            yarrow.load(file).save(snapshots.path(since))
            db.execute("INSERT INTO snapshots VALUES (?, ?, 0, 0.0)", (number, since))
        db.execute(
            "INSERT INTO versions VALUES (?, ?, ?, ?)", (number, model, json.dumps(spec), since)
        )
        return number


def _check_name(name: str) -> None:
    parts = name.split("/")
    odd = any(part != part.strip() or part in ("", ".", "..") or "\ufffd" in part for part in parts)
    if odd or len(name) > _NAME_LENGTH or not name.isprintable() or len(parts) > 2:
        raise ServiceError(f"A model's name is 1 to {_NAME_LENGTH} letters without '/': {name!r}.")
    if parts[-1] in _VERBS and len(parts) == 2:
        raise ServiceError(f"A key cannot be called {parts[1]!r}, as paths end so.")


def _loaded(file: str | os.PathLike[str]) -> Any:
    model = yarrow.load(file)
    if not hasattr(model, "learn_one"):
        raise ServiceError(f"A {type(model).__name__} only predicts: upload what `save` wrote.")
    return model
