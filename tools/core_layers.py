"""Which folder of core/ may include which; `make lint` calls this.

Includes of the core's own files are paths from core/. A file beside the folders is a layer by
itself. Each line may include itself and what it names, and nothing else.
"""

import re
import sys
from pathlib import Path

MAY_INCLUDE = {
    "text": "",
    "error.hpp": "text",
    "data": "text error.hpp",
    "input": "text error.hpp data",
    "simd": "data",
    "rules": "simd",
    "state": "error.hpp data simd",
    "loops": "error.hpp data simd rules state",
    "learner": "error.hpp data simd rules state",
    "mixture": "error.hpp data simd rules state learner",
    "registry": "loops learner mixture",
    "model.hpp": "error.hpp data state learner registry",
    "saved_state.hpp": "state loops model.hpp",
    "stream.hpp": "data model.hpp",
    "activity": "error.hpp",
}
PYTHON = "bindings"  # the only folder that knows Python, and the only one that may include all


def problems(core: Path) -> list[str]:
    """A sentence for each include that goes the wrong way."""
    found = []
    for file in sorted(core.rglob("*.[chi]*")):
        layer = file.relative_to(core).parts[0]
        if layer == PYTHON:
            continue
        allowed = {layer, *MAY_INCLUDE.get(layer, "").split()}
        for kind, path in re.findall(r'^#include ([<"])([^>"]+)', file.read_text(), re.MULTILINE):
            if kind == "<":
                if path.startswith(("nanobind/", "Python.h")):
                    found.append(f"{file}: only {core / PYTHON} may include {path}")
            elif not (core / path).is_file():
                found.append(f"{file}: {path} is no path from {core}")
            elif path.split("/")[0] not in allowed:
                found.append(f"{file}: {layer} may not include {path}")
        if layer not in MAY_INCLUDE:
            found.append(f"{file}: its layer is not in the table of tools/core_layers.py")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(problems(Path("core"))) or 0)
