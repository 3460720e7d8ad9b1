"""Pages as notebooks: their Python blocks run when the documentation is built, each page in a process of its own.

A block marked ``python`` is a cell, and what it prints, returns or draws stands below it; a block marked ``py`` is only
shown. A comment ``<!-- drawn: ... -->`` before a block is the text in place of what it draws.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import nbformat.v4 as notebook

import rankadapters

DOCS = Path(__file__).parent
BLOCK = re.compile(r"^(?:<!-- drawn: (?P<drawn>.*?) -->\n)?```python\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
SETTINGS = """c.IPKernelApp.log_level = "ERROR"  # each would warn that others on this machine could listen
c.HistoryManager.enabled = False
"""
PYTHON = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def read(text: str) -> notebook.NotebookNode:
    """Make a notebook of a page."""
    cells, lines, end = [], [], 0
    for block in BLOCK.finditer(text):
        cells += [notebook.new_markdown_cell(text[end : block.start()]), cell(block["code"], block["drawn"])]
        lines += [text.count("\n", 0, end), text.count("\n", 0, block.start("code"))]
        end = block.end()
    cells.append(notebook.new_markdown_cell(text[end:]))
    lines.append(text.count("\n", 0, end))
    return notebook.new_notebook(cells=cells, metadata={**PYTHON, "source_map": lines})


def cell(code: str, alt_text: str | None) -> notebook.NotebookNode:
    """Make a cell whose pictures have a text."""
    image = {"image": {"alt": " ".join(alt_text.split())}} if alt_text else {}
    return notebook.new_code_cell(code.rstrip(), metadata={"mystnb": image})


def still() -> list[str]:
    """Return the pages without blocks to run, for which no process is started."""
    pages = (page for page in DOCS.rglob("*.md") if not BLOCK.search(page.read_text(encoding="utf-8")))
    return [page.relative_to(DOCS).as_posix() for page in pages]


def prepare(app: object) -> None:
    """Let the processes import the package that is documented, ask nobody, and write into the build's folder alone."""
    folder = Path(app.doctreedir) / "executed"
    temporary = folder / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    folders = {name: str(folder / name.lower()) for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")}
    os.environ |= folders | {
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "MLFLOW_ALLOW_FILE_STORE": "true",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_TRACKING_URI": (folder / "mlflow").as_uri(),
        "PYTHONPATH": os.pathsep.join(
            [str(Path(rankadapters.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
        ),
        "OMP_NUM_THREADS": "1",  # the pages themselves run beside each other, and their numbers are the same everywhere
        "TMPDIR": str(temporary),
        "WANDB_ERROR_REPORTING": "false",
        "WANDB_SILENT": "true",
    }
    os.environ.setdefault("MPLCONFIGDIR", str(folder / "matplotlib"))
    tempfile.tempdir = str(temporary)
    profile = Path(folders["IPYTHONDIR"]) / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text(SETTINGS, encoding="utf-8")


def keep_outputs(app: object) -> None:
    """Keep what is drawn, and the notebooks, in the build's folder rather than beside it."""
    folder = str(Path(app.doctreedir) / "executed" / "outputs")
    app.env.mystnb_config = app.env.mystnb_config.copy(output_folder=folder)
