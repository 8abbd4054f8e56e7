"""Colours and type of all figures, as CSS: two themes, and print."""

from __future__ import annotations

from yarrow.lazy import resource

#: Okabe and Ito's colours, told apart by colour-blind readers too; yellow is too faint on paper
#: and black on a dark page, so these two are a wine red and the colour of the text.
_LIGHT = {
    "paper": "#ffffff",
    "ink": "#1b1f24",
    "soft": "#57606a",
    "faint": "#d8dee4",
    "quiet": "#b6bec8",
    "shade": "#0b5fa5",
    "c0": "#0072b2",
    "c1": "#d55e00",
    "c2": "#009e73",
    "c3": "#b04a8b",
    "c4": "#c98500",
    "c5": "#3a9bd6",
    "c6": "#882255",
    "c7": "#5f6b33",
}
_DARK = {
    "paper": "#14181d",
    "ink": "#e8ebee",
    "soft": "#a3adb8",
    "faint": "#30373f",
    "quiet": "#515b66",
    "shade": "#5cb3f0",
    "c0": "#4aa8e8",
    "c1": "#ff8a3d",
    "c2": "#2fc799",
    "c3": "#e08cc0",
    "c4": "#f0b429",
    "c5": "#9ad4f7",
    "c6": "#e2688f",
    "c7": "#b3c267",
}
COLOURS = sum(name[1:].isdigit() for name in _LIGHT)


def css() -> str:
    """The style of figures: for a page, or inside an .svg file that stands alone.

    A page may set ``data-theme`` of its root to "light" or "dark"; without it the reader's own
    choice counts. Paper is always light.
    """
    dark = _declared(_DARK)
    series = "".join(f"svg.figure .s{i} {{ --c: var(--c{i}); }}\n" for i in range(COLOURS))
    return (
        f":root {{ {_declared(_LIGHT)} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{\n"
        f":root:not([data-theme=light]) {{ {dark} }} }}\n"
        f"@media screen {{ :root[data-theme=dark] {{ {dark} }} }}\n"
        f"{resource('yarrow.report.figures', 'figures.css')}{series}"
        "svg.figure .sq { --c: var(--quiet); }\nsvg.figure .si { --c: var(--ink); }\n"
    )


def _declared(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
