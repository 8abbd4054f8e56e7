"""Requests made up from the OpenAPI document: none breaks the service, answers are as it says."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from serve.conftest import served

from yarrow.serve.client import Client
from yarrow.serve.limits import Limits

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")

EXAMPLES = 6  # requests an operation


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_made_up_requests_are_answered_as_the_document_says(tmp_path):
    from schemathesis import checks
    from schemathesis.specs.openapi import checks as openapi_checks

    held = (
        checks.not_a_server_error,
        openapi_checks.status_code_conformance,
        openapi_checks.content_type_conformance,
        openapi_checks.response_schema_conformance,
    )
    with served(tmp_path / "data", Limits(seconds=5)) as (_, url), Client(url) as client:
        client.create("m", {"learner": "arow", "per_key": True})
        for i in range(30):
            client.learn("m", {"a": float(i % 3), "b": 1.0}, "xy"[i % 2])
        schema = schemathesis.openapi.from_url(url + "/openapi.json")
        asked = 0
        for found in schema.get_all_operations():
            operation = found.ok()

            @settings(
                max_examples=EXAMPLES,
                deadline=None,
                database=None,
                derandomize=True,
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy())
            def answers_as_said(case):
                nonlocal asked
                asked += 1
                case.path_parameters = {
                    name: "m" if name == "name" and asked % 2 else value
                    for name, value in (case.path_parameters or {}).items()
                }
                case.call_and_validate(checks=held)

            if operation.method.upper() == "POST" and operation.path == "/tokens":
                continue  # with a token of its own nothing else would be allowed
            answers_as_said()
        assert asked > 100
        client.create("after all of it", {"learner": "arow"})
        assert client.learn("after all of it", {"a": 1.0}, "x").event
