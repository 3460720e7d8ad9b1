"""One target under atheris, whose coverage leads the search: `python -m tests.fuzz.guided MODULE TEST EXAMPLES`."""

from __future__ import annotations

import importlib
import sys
import tempfile
import warnings
from pathlib import Path
from random import Random

CORPUS = Path(".hypothesis", "fuzz")  # kept from run to run
ROOMS = ("io", "compare", "objectives", "callbacks", "core.declaration", "core.presets")
WATCHED = [f"rankadapters.{name}" for name in ROOMS]
LONGEST = 4096  # bytes from which an example is drawn


def main(module: str, test: str, examples: int) -> None:
    """Search, and end the process with an error at the first finding."""
    import atheris

    with atheris.instrument_imports(include=WATCHED):
        fuzz_one_input = getattr(importlib.import_module(module), test).hypothesis.fuzz_one_input

    def target(data: bytes) -> None:  # whatever it returns, libFuzzer would take for an order
        fuzz_one_input(data)

    warnings.simplefilter("error")
    kept, random = CORPUS / test.removeprefix("test_"), Random(0)
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(20):
            Path(folder, str(number)).write_bytes(random.randbytes(LONGEST))
        options = [f"-max_len={LONGEST}", "-rss_limit_mb=0", "-len_control=0", f"-artifact_prefix={kept}/"]
        atheris.Setup([sys.argv[0], *options, f"-runs={examples}", str(kept), folder], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
