"""What a window title tells about the thing that is worked on.

ActivityWatch knows an application and a title, not a file. One and the same document must get one
and the same name, whatever its editor writes around it.
"""

from __future__ import annotations

import posixpath
import re

__all__ = ["is_browser", "is_web_address", "resource_of"]

_BROWSERS = re.compile(
    r"firefox|chrom(e|ium)|brave|vivaldi|opera|safari|microsoft.?edge|msedge|librewolf|epiphany|"
    r"\bzen\b|\barc\b|iexplore|falkon|qutebrowser",
    re.IGNORECASE,
)
_CHANGED = re.compile(r"^(?:[*●•]\s*|\(\d+\)\s*|\[\d+\]\s*)+")  # unsaved, or so many new messages
_IN_FOLDER = re.compile(r"^(?P<name>[^/\s][^/]*?)\s[+=-]?\s?\((?P<folder>~?/[^)]*)\)")  # as Vim
_PATH = re.compile(r"(?:^|(?<=[\s:(\[\"']))(?P<path>~?/[^\s:)\]\"'*?<>|]+)")
_SEPARATOR = re.compile(r"\s+[-–—|]\s+")  # noqa: RUF001  # dashes as applications write them


def is_browser(application: str) -> bool:
    """Whether an application shows web pages."""
    return bool(_BROWSERS.search(application))


def is_web_address(resource: str) -> bool:
    """Whether a resource is a page that a browser could open."""
    return resource.startswith(("http://", "https://"))


def resource_of(application: str, title: str) -> str:
    """The name of what a window shows: a path where the title has one, else title and application.

    Examples
    --------
    >>> resource_of("gvim", "notes.md + (~/letters) - GVIM")
    '~/letters/notes.md'
    >>> resource_of("Alacritty", "me@desk: ~/src/yarrow")
    '~/src/yarrow'
    >>> resource_of("soffice", "*Budget 2026.ods — LibreOffice Calc")
    'window:soffice/Budget 2026.ods'
    >>> resource_of("thunderbird", "")
    ''
    """
    text = _CHANGED.sub("", title).strip()
    if not text:
        return ""
    in_folder = _IN_FOLDER.match(text)
    if in_folder:
        return posixpath.join(in_folder["folder"], in_folder["name"])
    path = _PATH.search(text)
    if path and len(path["path"]) > 2:
        return path["path"].rstrip(".,/") or "/"
    return f"window:{application or 'unknown'}/{_without_application(text)}"


def _without_application(title: str) -> str:
    """The title without the last part, in which applications name themselves."""
    parts = _SEPARATOR.split(title)
    if len(parts) < 2:
        return title
    end = title.rfind(parts[-1])
    return _SEPARATOR.sub(" - ", title[:end].rstrip(" -–—|"))  # noqa: RUF001
