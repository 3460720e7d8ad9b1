"""One target under atheris, whose coverage of the package leads the search; a process of its own.

`python -m tests.fuzz.guided TARGET EXAMPLES` prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import process_time

CORPUS = Path(".hypothesis", "fuzz")  # kept from run to run
ROOMS = ("io", "compare", "objectives", "callbacks", "core.declaration", "core.presets")
WATCHED = [f"rankadapters.{name}" for name in ROOMS]
LONGEST = 4096  # bytes from which an example is drawn


class Search:
    """Counts examples, and tells findings apart by where they were raised."""

    def __init__(self, target: Callable[[bytes], bytes | None], wanted: int) -> None:
        self.target, self.wanted = target, wanted
        self.examples, self.start = 0, process_time()
        self.findings: dict[str, str] = {}

    def one(self, data: bytes) -> None:
        """Try one input; those that are too short for an example do not count."""
        try:
            self.examples += self.target(data) is not None
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self.examples += 1
            frames = traceback.extract_tb(error.__traceback__)
            ours = [frame for frame in frames if "rankadapters" in frame.filename or "fuzz" in frame.filename]
            place = f"{type(error).__name__} at {ours[-1].filename}:{ours[-1].lineno}"
            self.findings.setdefault(place, "".join(traceback.format_exception(error))[-3000:])
        if self.examples >= self.wanted:
            self.tell()

    def tell(self) -> None:
        """Print what was found and end the process, which libFuzzer would not."""
        found = {
            "examples": self.examples,
            "seconds": process_time() - self.start,
            "findings": list(self.findings.items()),
        }
        os.write(3, json.dumps(found).encode())
        os._exit(0)


def main(name: str, examples: int) -> None:
    """Search."""
    import atheris

    with atheris.instrument_imports(include=WATCHED):
        from tests.fuzz.targets import targets

        target = targets()[name].hypothesis.fuzz_one_input
    warnings.simplefilter("error")
    kept, random = CORPUS / name, Random(0)
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(20):
            Path(folder, str(number)).write_bytes(random.randbytes(LONGEST))
        search = Search(target, examples)
        options = [f"-max_len={LONGEST}", "-rss_limit_mb=0", "-len_control=0", f"-artifact_prefix={kept}/"]
        atheris.Setup([sys.argv[0], *options, str(kept), folder], search.one)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
