"""One result by every route: a model of the service is a local run over the same events.

For every learner that learns rows: with a restart in the middle, a label taken back, one corrected,
and as of an event, bit for bit.
"""

from __future__ import annotations

from importlib import import_module

import pytest
from serve.support import FEATURES, file_of, labelled_rows, service_file, teach

from yarrow.online.learners import is_regression
from yarrow.saving.registry import LEARN_LABELS, PACKAGES
from yarrow.serve import history
from yarrow.serve.errors import ServiceError
from yarrow.serve.history import Selection
from yarrow.serve.service import Service
from yarrow.serve.spec import _class_named, build

ROWS = labelled_rows(60, seed=4)
ARROWS = [{"learner": "arow", "parameters": {"r": r}} for r in (0.1, 10.0)]
#: what no default can be
PARAMETERS = {
    "GroupLassoClassifier": {"groups": {f"c{j}": j % 3 for j in range(FEATURES)}},
    "OFSClassifier": {"B": 3},
    "SOFSClassifier": {"B": 3},
    "LateLabelLearner": {"learner": ARROWS[0]},
}
#: what no spec can make, or what no row with a label can teach
NOT_HERE = {
    "CustomClassifier": "a rule of the user's own needs Python",
    "CustomRegressor": "a rule of the user's own needs Python",
    "ExportedModel": "it only predicts",
    "StructuredClassifier": "its feature map is a function",
}


def specs():
    for kind in (*LEARN_LABELS, "composite"):
        for name in import_module(f"yarrow.{PACKAGES[kind]}").__all__:
            if name in NOT_HERE:
                continue
            try:
                _class_named(name)
            except ServiceError:
                continue
            yield {"learner": name, "parameters": PARAMETERS.get(name, {})}


def labelled(model):
    """The rows with the labels that a learner wants: values, two classes, or three."""
    numbers = {"a": 1, "b": -1, "c": 2}
    if not getattr(model, "learns_labels", True):
        return [(x, None) for x, _ in ROWS]
    if is_regression(model):
        return [(x, float(numbers[y])) for x, y in ROWS]
    return ROWS


@pytest.mark.parametrize("spec", specs(), ids=lambda spec: spec["learner"])
def test_the_service_and_a_local_run_are_one(spec, tmp_path):
    try:
        rows = labelled(build(spec))
    except ServiceError as error:
        if "missing" not in str(error) and "learners" not in str(error):
            raise
        spec = {**spec, "parameters": {"learners": ARROWS}}
        rows = labelled(build(spec))

    def local(given):
        model = build(spec)
        for x, y in given:
            model.learn_one(x, y) if y is not None else model.learn_one(x)
        return file_of(model, tmp_path / "local")

    with Service(tmp_path / "data", level="os") as service:
        service.run(service.creating("m", spec))
        answers = teach(service, "m", rows[:25])
        if any("error" in answer for answer in answers):  # it is for two classes
            service.run(service.deleting("m"))
            rows = [(x, y if y != "c" else "a") for x, y in rows]
            service.run(service.creating("m", spec))
            answers = teach(service, "m", rows[:25])
        assert not any("error" in answer for answer in answers), answers
    with Service(tmp_path / "data", level="os") as service:
        answers = teach(service, "m", rows[25:], 25)
        assert service_file(service, "m", tmp_path / "a") == local(rows)
        service.run(history.undoing(service, "m", Selection(ids=["row 11"])))
        kept = rows[:11] + rows[12:]
        assert service_file(service, "m", tmp_path / "a") == local(kept)
        if rows[30][1] is not None:
            label = rows[31][1]
            change = history.undoing(service, "m", Selection(ids=["row 30"]), label=label)
            service.run(change)
            kept[29] = (kept[29][0], label)
            assert service_file(service, "m", tmp_path / "a") == local(kept)
        past = history.as_of(service, "m", event=answers[9]["event"])
        assert file_of(past, tmp_path / "a") == local(kept[:34])
