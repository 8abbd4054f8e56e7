"""Colours and type of all figures, as CSS: two themes, and print."""

from __future__ import annotations

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

FONTS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'

_RULES = f"""
svg.figure {{ background: var(--paper); color: var(--ink); font-family: {FONTS}; }}
svg.figure text {{ fill: var(--ink); }}
svg.figure .soft {{ fill: var(--soft); }}
svg.figure .strong {{ font-weight: 650; }}
svg.figure .axis {{ stroke: var(--soft); fill: none; }}
svg.figure .rule {{ stroke: var(--faint); fill: none; }}
svg.figure .mark {{ stroke: var(--ink); fill: none; }}
svg.figure .curve {{ stroke: var(--c); fill: none; stroke-width: 2; stroke-linejoin: round; }}
svg.figure .thin {{ stroke-width: 1; }}
svg.figure .thick {{ stroke-width: 3.2; }}
svg.figure .leader {{ stroke: var(--c); fill: none; }}
svg.figure .band {{ fill: var(--c); opacity: .18; }}
svg.figure .dot {{ fill: var(--c); stroke: var(--paper); }}
svg.figure .bar {{ fill: var(--c); }}
svg.figure .box {{ fill: var(--c); fill-opacity: .25; stroke: var(--c); }}
svg.figure .ring {{ fill: none; stroke: var(--ink); stroke-width: 1.5; }}
svg.figure .shade {{ fill: var(--shade); }}
svg.figure .cell {{ fill: none; stroke: var(--faint); }}
"""


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
        f"{_RULES.strip()}\n{series}"
        "svg.figure .sq { --c: var(--quiet); }\nsvg.figure .si { --c: var(--ink); }\n"
    )


def _declared(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
