"""Learners and their hyper-parameters as options, made from the declarations in their classes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from yarrow.cli.options import FILE, Command, F, Option, option, parse_label, scaling_options
from yarrow.docstrings import summary, written
from yarrow.errors import ParameterError, first_of
from yarrow.saving.registry import learner_named, learners, short_name

if TYPE_CHECKING:
    from yarrow.base.linear import LinearModel
    from yarrow.parameters import Parameter

LEARNER = "Learner"
#: where none is named
DEFAULT, DEFAULT_REGRESSOR = "yarrow", "yarrow-regressor"
#: parameters of `fit`; streams are learned in order
ONLY_FIT = (
    "max_iter",
    "shuffle",
    "random_state",
    "early_stopping",
    "validation_fraction",
    "n_iter_no_change",
    "tol",
)


def _parse_classes(texts: Iterable[str]) -> list[Any]:
    return [parse_label(item) for text in texts for item in text.split(",")]


def _parse_numbers(
    texts: Iterable[str], name: str, like: str, key: Callable[[str], Any]
) -> dict[Any, float]:
    """What stands before each =, and the number behind it."""
    found = {}
    for item in ",".join(texts).split(","):
        before, equals, number = item.rpartition("=")
        try:
            if not equals:
                raise ValueError
            found[key(before)] = float(number)
        except ValueError:
            if item == "balanced":
                like += "; a stream has no end at which classes could be balanced"
            raise ParameterError(
                f"The {name!r} must be like {like}. Got {item!r} instead."
            ) from None
    return found


def _parse_class_weight(texts: Iterable[str]) -> dict[Any, float]:
    return _parse_numbers(texts, "class_weight", "spam=2,ham=1", parse_label)


def _parse_cost(texts: Iterable[str]) -> dict[tuple[Any, Any], float]:
    def pair(text: str) -> tuple[Any, Any]:
        truth, other = text.split(":", 1)
        return parse_label(truth), parse_label(other)

    return _parse_numbers(texts, "cost", "spam:ham=2,ham:spam=5 (true:other=cost)", pair)


def _parse_groups(texts: Iterable[str]) -> Any:
    """A separator, or features and their groups."""
    text = ",".join(texts)
    if "=" not in text or text == "=":
        return text
    pairs = [item.rpartition("=") for item in text.split(",")]
    if not all(name and group for name, _, group in pairs):
        raise ParameterError(f"The 'groups' must be like a=x,b=x, or a separator. Got {text!r}.")
    return {parse_label(name): parse_label(group) for name, _, group in pairs}


def _parse_learners(texts: Iterable[str]) -> list[Any]:
    """Learners by name, each with settings behind colons."""
    found = []
    for item in ",".join(texts).split(","):
        name, *settings = item.split(":")
        found.append(_built(learner_named(name), {}, settings))
    return found


#: parameters that are neither numbers nor words: how they look, and what makes them of texts
_SPECIAL: dict[str, tuple[str, Callable[[Iterable[str]], Any]]] = {
    "classes": ("A,B,...", _parse_classes),
    "class_weight": ("A=W,B=W,...", _parse_class_weight),
    "cost": ("A:B=COST,...", _parse_cost),
    "groups": ("SEPARATOR", _parse_groups),
    "kernel": ("NAME", lambda texts: list(texts)[-1]),
    "learner": ("NAME:R=1:...", lambda texts: _parse_learners(texts)[-1]),
    "learners": ("NAME:R=1,NAME,...", _parse_learners),
}
#: options that are not called as their parameters are, since --learner names the learner itself
_FLAGS = {"learner": "--inner", "learners": "--experts"}


def hyper_parameters(cls: type[LinearModel]) -> dict[str, Parameter]:
    """The parameters of a learner that a command can set."""
    from yarrow.parameters import parameters

    return {
        name: parameter
        for name, parameter in parameters(cls).items()
        if parameter.kind is not None or name in _SPECIAL
    }


def learner_options(cls: type[LinearModel]) -> list[Option]:
    """The options of a learner, its own before those that all learners have."""
    from yarrow.base.classifier import LinearClassifier
    from yarrow.base.regressor import LinearRegressor

    common = hyper_parameters(LinearClassifier).keys() | hyper_parameters(LinearRegressor).keys()
    own: list[Option] = []
    shared: list[Option] = []
    for name, parameter in hyper_parameters(cls).items():
        if name in ONLY_FIT:
            continue
        section = "Options of all learners" if name in common else f"Options of {cls.__name__}"
        default = cls.__dataclass_fields__[name].default
        made = _option(name, parameter, default, section)
        (shared if name in common else own).append(made)
    return own + shared


def _option(name: str, parameter: Parameter, default: Any, section: str) -> Option:
    settings: dict[str, Any] = {"section": section, "default": None}
    flag = _FLAGS.get(name, "--" + name.replace("_", "-"))
    limits = "" if parameter.choices or parameter.kind is bool else parameter.allowed
    limits = limits.removeprefix("None or ").removeprefix("an integer ")
    if parameter.kind is bool:
        flag, default = f"{flag}/--no{flag[1:]}", "yes" if default else "no"
    elif name in _SPECIAL:
        limits = ""
        settings |= {"metavar": _SPECIAL[name][0], "multiple": True}
    elif parameter.choices:
        settings |= {"type": click.Choice(parameter.choices)}
    else:
        settings |= {"type": parameter.kind}
        settings |= {"metavar": {float: "NUMBER", int: "N"}.get(parameter.kind or str, "TEXT")}
    shown = "" if default is None else f"default: {default}"
    notes = "; ".join(note for note in (limits, shown) if note)
    doc = parameter.doc.replace("`", "'")
    # Values of a parameter `learner` must not be taken for the choice of the learner.
    key = f"{name}_inside" if name in _FLAGS else name
    return Option([key, flag], help=doc + (f"  [{notes}]" if notes else ""), **settings)


class LearnerCommand(Command):
    """A command that has, besides its own options, those of the learner named by `--learner`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        name, resumed = _value(args, "--learner"), _value(args, "--resume")
        regression = "--regression" in args[: args.index("--") if "--" in args else None]
        usual = DEFAULT_REGRESSOR if regression else DEFAULT
        cls = None if resumed else learner_named(name or usual)
        ctx.meta["learner"], ctx.meta["chosen"] = cls, bool(name)
        ctx.meta["options"] = learner_options(cls) if cls else []
        if name and resumed:
            raise click.UsageError(
                "--resume continues with the learner of its model: leave out --learner"
            )
        if regression and (cls is None or not cls.regression):
            whose = "the learner of the model" if cls is None else cls.__name__
            raise click.UsageError(
                f"--regression chooses the learner only where none is named; here it is {whose}"
            )
        return super().parse_args(ctx, args)

    def no_such_option(self, ctx: click.Context, name: str) -> str:
        cls = ctx.meta["learner"]
        having = [
            learner
            for learner, other in learners().items()
            if any(name in option.opts for option in learner_options(other))
        ]
        if not having:
            return super().no_such_option(ctx, name)
        if cls is None:
            return f"{name} cannot be used with --resume: the model has its hyper-parameters"
        allowed = ", ".join(option.opts[0] for option in ctx.meta["options"])
        others = first_of(having, 8)
        whose = cls.__name__ if ctx.meta["chosen"] else f"{cls.__name__}, taken without --learner,"
        return f"{whose} has no option {name}; it has {allowed}; {name} is for {others}"

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        params = super().get_params(ctx)
        place = 1 + next(i for i, parameter in enumerate(params) if parameter.name == "settings")
        return [*params[:place], *ctx.meta.get("options", []), *params[place:]]

    def shown_params(self, ctx: click.Context) -> list[click.Parameter]:
        return self.get_params(ctx) if ctx.meta["chosen"] else super().get_params(ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help_text(ctx, formatter)
        cls = ctx.meta["learner"]
        if not ctx.meta["chosen"]:
            with formatter.section("Learners"):
                formatter.write_dl(
                    [(name, summary(cls).strip(".")) for name, cls in learners().items()]
                )
            with formatter.section("Elsewhere"):
                formatter.write_text(
                    "Bandits, which learn from partial feedback: see yarrow compare. Custom rules, "
                    "kernels and feature maps: use Python."
                )
        elif cls is not None:
            with formatter.section(f"{cls.__name__} ({short_name(cls.__name__)})"):
                formatter.write_text("\n\n".join(_paragraphs(cls)))


def _value(args: list[str], name: str) -> str | None:
    """The value of an option that decides which others there are, before they are parsed."""
    for arg, following in zip(args, [*args[1:], ""], strict=False):
        if arg == "--":
            return None
        if arg == name:
            return following
        if arg.startswith(name + "="):
            return arg.removeprefix(name + "=")
    return None


def _paragraphs(cls: type) -> list[str]:
    """What a learner's docstring says before its example."""
    text = written(cls).partition(">>>")[0].replace("`", "")
    return [" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n")]


_LEARNING = [
    option(LEARNER, "--learner", metavar="NAME",
           show_default=f"{DEFAULT}; with --regression {DEFAULT_REGRESSOR}",
           help="The learner, by its short name or that of its class; followed by --help, its "
           "options are shown."),
    option(LEARNER, "--regression", is_flag=True,
           help="Labels are numbers to predict, not classes."),
    option(LEARNER, "--resume", type=FILE, metavar="MODEL", help="Continue to train a saved "
           "model instead, as if it had never been saved."),
    option(LEARNER, "--set", "settings", multiple=True, metavar="NAME=VALUE",
           help="Any hyper-parameter by its name in Python, including those of 'fit'. Repeatable."),
]  # fmt: skip


def learning_options(command: F) -> F:
    """Add the options that choose a learner; the command gets it as `estimator`."""

    @click.pass_context
    @functools.wraps(command)
    def build(ctx: click.Context, /, **values: Any) -> Any:
        _, _, resume, settings, *scaling = (
            values.pop(name)
            for name in ("learner", "regression", "resume", "settings", "scale", "normalize")
        )
        cls = ctx.meta["learner"]
        if cls is None:
            if any(scaling):
                raise click.UsageError(
                    "--scale and --normalize cannot be used with --resume: a model goes on as it "
                    "began"
                )
            if settings:
                raise click.UsageError(
                    "--set cannot be used with --resume: the model has its hyper-parameters"
                )
            return command(estimator=_resumed(resume), **values)
        given = {
            option.name.removesuffix("_inside"): values.pop(option.name)
            for option in ctx.meta["options"]
        }
        estimator = _built(cls, given, settings)
        if any(scaling):
            from yarrow.composite.scaled import scaled

            estimator = scaled(estimator, *scaling)
        return command(estimator=estimator, **values)

    return functools.reduce(lambda f, add: add(f), reversed(_LEARNING), scaling_options(build))  # type: ignore[return-value]


def _resumed(path: str) -> LinearModel:
    from yarrow.linear_model import ExportedModel
    from yarrow.saving.export_file import load

    model = load(path)
    if isinstance(model, ExportedModel):
        raise ParameterError(
            f"{path}: is an exported model, which only predicts; resume what --model wrote."
        )
    if not getattr(model, "learns_rows", False):
        raise ParameterError(
            f"{path}: holds a {type(model).__name__}, which cannot be trained on the command line."
        )
    return model  # type: ignore[no-any-return]


def _built(
    cls: type[LinearModel], given: Mapping[str, Any], settings: Iterable[str]
) -> LinearModel:
    from yarrow.parameters import check_parameters

    values = {
        name: _SPECIAL[name][1](value) if name in _SPECIAL else value
        for name, value in given.items()
        if value is not None and value != ()
    }
    model = cls(**(values | dict(_setting(cls, text) for text in settings)))
    check_parameters(model)
    return model


def _setting(cls: type[LinearModel], text: str) -> tuple[str, Any]:
    """A parameter and its value from NAME=VALUE."""
    name, equals, value = text.partition("=")
    known = hyper_parameters(cls)
    if name not in known or not equals:
        raise ParameterError(
            f"--set takes NAME=VALUE with a name among {', '.join(known)}. Got {text!r} instead."
        )
    parameter = known[name]
    if name in _SPECIAL:
        return name, _SPECIAL[name][1]([value])
    if value == "None":
        return name, None
    try:
        if parameter.kind is bool:
            return name, click.BOOL.convert(value, None, None)
        return name, (parameter.kind or str)(value)
    except (ValueError, click.BadParameter):
        raise ParameterError.of(name, value, parameter.allowed) from None
