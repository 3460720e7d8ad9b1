"""Run one target with atheris, which is guided by coverage: `python -m tests.fuzz.guided MODULE TEST EXAMPLES`."""

from __future__ import annotations

import importlib
import sys
import tempfile
import warnings
from pathlib import Path
from random import Random

CORPUS = Path(".hypothesis", "fuzz")  # kept from run to run
PACKAGES = ("io", "compare", "objectives", "callbacks", "core.declaration", "presets")
INSTRUMENTED = [f"rankadapters.{name}" for name in PACKAGES]
MAX_BYTES = 4096  # at most so many bytes decide one example


def main(module: str, test: str, examples: int) -> None:
    """Search, and end the process with an error at the first failure."""
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED):
        fuzz_one_input = getattr(importlib.import_module(module), test).hypothesis.fuzz_one_input

    def target(data: bytes) -> None:  # returns None, since libFuzzer interprets other values
        fuzz_one_input(data)

    warnings.simplefilter("error")
    corpus, random = CORPUS / test.removeprefix("test_"), Random(0)
    corpus.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(20):
            Path(folder, str(number)).write_bytes(random.randbytes(MAX_BYTES))
        options = [f"-max_len={MAX_BYTES}", "-rss_limit_mb=0", "-len_control=0", f"-artifact_prefix={corpus}/"]
        atheris.Setup([sys.argv[0], *options, f"-runs={examples}", str(corpus), folder], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
