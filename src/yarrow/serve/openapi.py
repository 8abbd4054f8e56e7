"""The OpenAPI document, made of the table of endpoints and the messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

import yarrow
from yarrow.serve.messages import Problem

if TYPE_CHECKING:
    from yarrow.serve.endpoints import Endpoint


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
    found: dict[str, Any] = {
        "operationId": endpoint.says + ("_of_key" if "key" in names else ""),
        "summary": (endpoint.act.__doc__ or "").strip().split("\n")[0],
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in names
        ],
        "responses": {
            "200": answer,
            "4XX": {"description": "refused, with one sentence", "content": problem},
            "5XX": {"description": "the service's own trouble", "content": problem},
        },
    }
    if endpoint.takes is not None:
        content = {"application/json": {"schema": known[str(endpoint.takes)]}}
        found["requestBody"] = {"required": True, "content": content}
    if endpoint.right is not None:
        found["security"] = [{"token": []}]
    return found
