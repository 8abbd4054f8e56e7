"""The command line: one command per file, each a thin layer over the package."""

from __future__ import annotations

import importlib
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from yarrow import __version__
from yarrow.cli.options import Commands
from yarrow.errors import ReadingWarning, UnknownFeaturesWarning, YarrowError

COMMANDS = (
    "train",
    "predict",
    "evaluate",
    "compare",
    "tune",
    "inspect",
    "convert",
    "datasets",
    "reproduce",
    "serve",
    "activity",
)


class Yarrow(Commands):
    """The commands, imported when needed; a user's error is one sentence and exit code 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"yarrow.cli.{name}").command
        return command

    def main(  # type: ignore[override]  # one signature is enough
        self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **extra: Any
    ) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _warner()
                for category in (ReadingWarning, UnknownFeaturesWarning):
                    warnings.simplefilter("always", category)
                result = super().main(args, standalone_mode=False, **extra)
        except click.ClickException as error:
            _fail(_usage(error))
        except YarrowError as error:
            _fail(_with_options(str(error)))
        except OSError as error:
            named = "" if error.filename is None else f"{error.filename}: "
            _fail(f"{named}{error.strerror or error}")
        except MemoryError:
            _fail("there is not enough memory")
        except (KeyboardInterrupt, click.Abort):
            _fail("interrupted", 128 + signal.SIGINT)
        if not standalone_mode:
            return result
        sys.exit(result if isinstance(result, int) else 0)


def _warner() -> Any:
    """What shows a warning as a sentence, without the place in the code, and none twice."""
    shown = set()

    def warn(message: Warning | str, category: type[Warning], *place: Any, **rest: Any) -> None:
        text = message.on_command_line() if hasattr(message, "on_command_line") else str(message)
        if text not in shown:
            click.echo(f"yarrow: {text}", err=True)
        shown.add(text)

    return warn


#: errors name parameters as Python has them; here they are options
_AS_OPTIONS = {
    "longest_line allows": "--longest-line allows",
    "say delimiter=": "say --delimiter ",
    "YarrowRegressor, or insist by max_classes=": (
        "YarrowRegressor (--regression), or insist by --max-classes "
    ),
    "and regressors take real targets": "and regressors (--regression) take real targets",
    "real targets are for regressors": "real targets are for regressors (--regression)",
    "say format=": "say --format ",
    "put this mark among the 'missing' ones": "put this mark among the missing ones (--missing)",
    "among the 'categories', or this mark among the 'missing' ones": (
        "among the categories (--category), or this mark among the missing ones (--missing)"
    ),
}


def _with_options(sentence: str) -> str:
    for words, options in _AS_OPTIONS.items():
        sentence = sentence.replace(words, options)
    return sentence


def _usage(error: click.ClickException) -> str:
    sentence = error.format_message()
    if isinstance(error, click.UsageError) and error.ctx and not error.message.endswith("instead."):
        return f"{sentence.rstrip('.')}; see '{error.ctx.command_path} --help'"
    return sentence


def _fail(sentence: str, code: int = 2) -> NoReturn:
    text = " ".join(sentence.split())
    click.echo(f"yarrow: {text}{'' if text.endswith(('.', '!', '?')) else '.'}", err=True)
    sys.exit(code)


@click.group(
    name="yarrow",
    cls=Yarrow,
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Each command explains itself: yarrow train --help",
)
@click.version_option(__version__, message="yarrow %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Online learning for sparse streams.

    Learners that take one row at a time, survive noise, follow drift and stay sparse.

      yarrow evaluate mail.svm.gz
      yarrow train mail.svm.gz --model mail.yarrow
      yarrow predict mail.yarrow new.svm > labels.txt
      yarrow inspect mail.yarrow
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
