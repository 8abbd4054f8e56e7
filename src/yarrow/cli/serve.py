"""`yarrow serve`: models by HTTP that learn, lose nothing and can undo."""

from __future__ import annotations

from typing import Any

import click

from yarrow.cli.options import Command, option
from yarrow.errors import needing

WHERE, KEEPING, LIMITS = "Where", "What is kept", "Limits"


@click.command(cls=Command, name="serve", short_help="Models by HTTP that learn and can undo.")
@option(WHERE, "--data", type=click.Path(path_type=str), metavar="DIR",
        help="Directory of the models, created if there is none. Only one service can use it at a "
        "time.")  # fmt: skip
@option(WHERE, "--host", default="127.0.0.1", metavar="ADDRESS", help="Address to listen on. One "
        "that other machines can reach needs a token: see --new-token.")  # fmt: skip
@option(WHERE, "--port", type=click.IntRange(0, 65535), default=8787, metavar="N",
        help="Port to listen on; 0 picks a free one and prints it.")  # fmt: skip
@option(WHERE, "--fd", type=click.IntRange(min=0), metavar="N", help="Listen on a socket that is "
        "already open, as systemd passes it (3): a restart then refuses nobody.")  # fmt: skip
@option(WHERE, "--vw-port", type=click.IntRange(0, 65535), metavar="N",
        help="Also accept the protocol of 'vw --daemon' on this port, for the model --vw-model; "
        "only from this machine, since it carries no token.")  # fmt: skip
@option(WHERE, "--vw-model", metavar="NAME", default="vw", help="The model that VW clients use; "
        "created as a YarrowClassifier if there is none.")  # fmt: skip
@option(KEEPING, "--level", type=click.Choice(["always", "everysec", "os"]), default="always",
        help="When an acknowledged label is on disk. always: before it is acknowledged. everysec: "
        "within a second. os: when the operating system writes it. They differ only after a power "
        "failure: if the process dies, nothing is lost.")  # fmt: skip
@option(KEEPING, "--ticket-hours", type=click.FloatRange(min=0, min_open=True), default=24.0,
        metavar="HOURS", help="How long the row of a ticket is kept.")  # fmt: skip
@option(KEEPING, "--ticket-mb", type=click.IntRange(min=1), default=1024, metavar="MB",
        help="Disk space for the rows of tickets; beyond it the oldest are deleted.")  # fmt: skip
@option(LIMITS, "--memory-mb", type=click.IntRange(min=1), default=2048, metavar="MB",
        help="Memory for models; beyond it the least recently used are moved to disk. A model "
        "that needs more by itself stops learning.")  # fmt: skip
@option(LIMITS, "--models", type=click.IntRange(min=1), default=100_000, metavar="N",
        help="Maximum number of models, including those of keys.")  # fmt: skip
@option(LIMITS, "--body-mb", type=click.IntRange(min=1), default=64, metavar="MB",
        help="Maximum size of a request body; streams may be longer.")  # fmt: skip
@option(LIMITS, "--rate", type=click.FloatRange(min=0), default=0.0, show_default="unlimited",
        metavar="N", help="Maximum number of requests per second from one client.")  # fmt: skip
@option("Other", "--demo", is_flag=True, help="Start with a simulated stream whose concept drifts "
        "every minute.")  # fmt: skip
@option("Other", "--webhook", metavar="URL", help="Where to post alarms as JSON: when the error, "
        "the confidence, the classes or the features of a model have changed.")  # fmt: skip
@option("Other", "--new-token", "new_token", metavar="NAME:RIGHTS", help="Create a token with the "
        "rights read, learn or admin, print it and exit; one of the same name is "
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
