"""The OpenAPI document, made of the table of endpoints and the messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

import yarrow
from yarrow.serve.errors import ServiceError
from yarrow.serve.messages import Problem

if TYPE_CHECKING:
    from yarrow.serve.endpoints import Endpoint

_WHOLE, _TEXT, _NUMBER = {"type": "integer", "minimum": 0}, {"type": "string"}, {"type": "number"}
#: query parameters, by operation
_QUERIES: dict[str, dict[str, Any]] = {
    "predict": {"index_base": {"type": "integer", "enum": [0, 1]}},
    "learn": {"stream": _TEXT, "line": {"type": "integer", "minimum": 1}, "source": _TEXT,
              "index_base": {"type": "integer", "enum": [0, 1]}},
    "download": {"event": _WHOLE, "time": _NUMBER},
    "difference": {"since": _WHOLE, "until": _WHOLE,
                   "since_time": _NUMBER, "until_time": _NUMBER},
    "state": {"model": _TEXT},
}  # fmt: skip
_FILE = "application/octet-stream"
_LINES = ("application/x-ndjson", "text/x-svmlight", "text/x-vw")
#: bodies beside JSON
_BODIES = {
    "learn": _LINES,
    "predict": _LINES,
    "create": (_FILE,),
}
#: answers that are no JSON
_ANSWERS = {"download": _FILE, "metrics": "text/plain", "page": "text/html", "page_file": "*/*"}


def check_query(operation: str, given: Iterable[str]) -> None:
    """Refuse unknown query parameters: they would have no effect."""
    known = _QUERIES.get(operation, {})
    for name in given:
        if name not in known:
            takes = ", ".join(known) or "none"
            raise ServiceError(f"Unknown query parameter {name[:80]!r}; this path takes {takes}.")


def document(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """All endpoints, what they take and what they give."""
    kinds = [*(kind for e in endpoints for kind in (*_kinds(e.takes), *_kinds(e.gives))), Problem]
    schemas, components = msgspec.json.schema_components(
        kinds, ref_template="#/components/schemas/{name}"
    )
    known = dict(zip(map(str, kinds), schemas, strict=True))
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, known)
    return {
        "openapi": "3.1.0",
        "info": {"title": "yarrow serve", "version": yarrow.__version__},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _kinds(declared: Any) -> tuple[Any, ...]:
    return () if declared is None else declared if isinstance(declared, tuple) else (declared,)


def _operation(endpoint: Endpoint, known: dict[str, Any]) -> dict[str, Any]:
    names = re.findall(r"{(\w+)}", endpoint.path)
    problem = {"application/json": {"schema": known[str(Problem)]}}
    answer: dict[str, Any] = {"description": "done"}
    if endpoint.gives is not None:
        schemas = [known[str(kind)] for kind in _kinds(endpoint.gives)]
        schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        answer["content"] = {"application/json": {"schema": schema}}
        if endpoint.operation == "predict":  # of lines
            answer["content"][_LINES[0]] = {"schema": _TEXT}
    elif endpoint.operation in _ANSWERS:
        answer["content"] = {_ANSWERS[endpoint.operation]: {"schema": _TEXT}}
    else:
        answer["content"] = {"application/json": {"schema": {"type": "object"}}}
    found: dict[str, Any] = {
        "operationId": endpoint.operation + ("_of_key" if "key" in names else ""),
        "summary": (endpoint.act.__doc__ or "").strip().split("\n")[0],
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in names
        ]
        + [
            {"name": name, "in": "query", "required": False, "schema": schema}
            for name, schema in _QUERIES.get(endpoint.operation, {}).items()
        ],
        "responses": {
            "200": answer,
            "4XX": {"description": "refused, with one sentence", "content": problem},
            "5XX": {"description": "the service's own trouble", "content": problem},
        },
    }
    if endpoint.takes is not None:
        content = {"application/json": {"schema": known[str(endpoint.takes)]}}
        content |= {kind: {"schema": _TEXT} for kind in _BODIES.get(endpoint.operation, ())}
        found["requestBody"] = {"required": True, "content": content}
    if endpoint.right is not None:
        found["security"] = [{"token": []}]
    return found
