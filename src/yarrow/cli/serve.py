"""`yarrow serve`: models by HTTP that learn, lose nothing and can undo."""

from __future__ import annotations

from typing import Any

import click

from yarrow.cli.options import Command, option
from yarrow.errors import needing

WHERE, KEEPING, LIMITS = "Where", "What is kept", "Limits"


@click.command(cls=Command, name="serve", short_help="Models by HTTP that learn and can undo.")
@option(WHERE, "--data", type=click.Path(path_type=str), metavar="DIR",
        help="The directory of all models, made if there is none. One service works in "
        "it.")  # fmt: skip
@option(WHERE, "--host", default="127.0.0.1", metavar="ADDRESS", help="Where to listen. Beyond "
        "this machine there must be a token: see --new-token.")  # fmt: skip
@option(WHERE, "--port", type=click.IntRange(0, 65535), default=8787, metavar="N",
        help="Which port; 0 takes a free one and says which.")  # fmt: skip
@option(WHERE, "--fd", type=click.IntRange(min=0), metavar="N", help="Listen on a socket that is "
        "open already, as systemd hands it over (3): a restart then refuses nobody.")  # fmt: skip
@option(WHERE, "--vw-port", type=click.IntRange(0, 65535), metavar="N",
        help="Also speak the lines of 'vw --daemon' there, to this machine only as they carry "
        "no token, for the model --vw-model.")  # fmt: skip
@option(WHERE, "--vw-model", metavar="NAME", default="vw", help="The model that clients of vw ask "
        "and teach; made, as YarrowClassifier, if there is none.")  # fmt: skip
@option(KEEPING, "--level", type=click.Choice(["always", "everysec", "os"]), default="always",
        help="When an acknowledged label is on disk. always: before it is acknowledged. everysec: "
        "a second later at most. os: when the system likes. Only a power failure tells them "
        "apart: a process that dies loses nothing.")  # fmt: skip
@option(KEEPING, "--ticket-hours", type=click.FloatRange(min=0, min_open=True), default=24.0,
        metavar="HOURS", help="How long the row of a ticket is kept.")  # fmt: skip
@option(KEEPING, "--ticket-mb", type=click.IntRange(min=1), default=1024, metavar="MB",
        help="How much all rows of tickets may take; the oldest go.")  # fmt: skip
@option(LIMITS, "--memory-mb", type=click.IntRange(min=1), default=2048, metavar="MB",
        help="Models in memory; those that were not used for longest rest on disk. One that "
        "takes more by itself learns no more.")  # fmt: skip
@option(LIMITS, "--models", type=click.IntRange(min=1), default=100_000, metavar="N",
        help="How many there may be, keys included.")  # fmt: skip
@option(LIMITS, "--body-mb", type=click.IntRange(min=1), default=64, metavar="MB",
        help="The largest body of a request; streams may be longer.")  # fmt: skip
@option(LIMITS, "--rate", type=click.FloatRange(min=0), default=0.0, show_default="any",
        metavar="N", help="Requests a second of one client.")  # fmt: skip
@option("Other", "--demo", is_flag=True, help="Begin with a stream whose world changes each "
        "minute, and look at the page.")  # fmt: skip
@option("Other", "--webhook", metavar="URL", help="Where alarms are sent, as JSON: the error, the "
        "confidence, the classes or the features of a model have changed.")  # fmt: skip
@option("Other", "--new-token", "new_token", metavar="NAME:RIGHTS", help="Make a token that may "
        "read, learn or admin, print it once, and end. One of the same name is "
        "replaced.")  # fmt: skip
def command(**options: Any) -> None:
    """Serve models by HTTP: predict, learn, feedback for a prediction's ticket, undo.

    Every label is on disk before it is acknowledged, counts once by its id, and can be taken back:
    the model becomes what it would have been without it. See docs/serving.md.

      yarrow serve --demo
      yarrow serve --data models
      yarrow serve --data models --new-token ops:admin
    """
    with needing(None, "yarrow serve", "serve"):
        from yarrow.serve import run
    run.serve(**options)
