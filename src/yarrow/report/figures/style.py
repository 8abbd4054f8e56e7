"""Colours and type of all figures, as CSS: two themes, and print."""

from __future__ import annotations

from yarrow.lazy import resource

#: Okabe and Ito's colours, told apart by colour-blind readers too; yellow is too faint on paper
#: and black on a dark page, so these two are a wine red and the colour of the text.
_PALETTE = {  # on a light page, and on a dark one
    "paper": ("#ffffff", "#14181d"),
    "ink": ("#1b1f24", "#e8ebee"),
    "soft": ("#57606a", "#a3adb8"),
    "faint": ("#d8dee4", "#30373f"),
    "quiet": ("#b6bec8", "#515b66"),
    "shade": ("#0b5fa5", "#5cb3f0"),
    "c0": ("#0072b2", "#4aa8e8"),
    "c1": ("#d55e00", "#ff8a3d"),
    "c2": ("#009e73", "#2fc799"),
    "c3": ("#b04a8b", "#e08cc0"),
    "c4": ("#c98500", "#f0b429"),
    "c5": ("#3a9bd6", "#9ad4f7"),
    "c6": ("#882255", "#e2688f"),
    "c7": ("#5f6b33", "#b3c267"),
}
_LIGHT, _DARK = ({name: pair[i] for name, pair in _PALETTE.items()} for i in (0, 1))
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
