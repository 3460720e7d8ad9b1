"""What importing the package loads, the public names, and the error for a missing toolkit."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rankadapters as ra
from tests.helpers.parameters import long_except
from tests.project.public_calls import public_modules

PACKAGES = {
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    "catboost": "catboost",
    "sklearn": "scikit-learn",
    "dask": "dask",
    "spark": "pyspark",
}


def output_of(code):
    """Return the output of code that runs in a new process."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_the_error_for_a_missing_toolkit_names_its_extra():
    code = f"""
import sys
sys.modules.update(dict.fromkeys({[*PACKAGES, "pyspark"]}))
import rankadapters as ra
ra.evaluate([1, 0], [1, 0], ra.presets.yahoo(1), group_sizes=[2])
for toolkit in {[*PACKAGES]}:
    try:
        getattr(ra, toolkit)
    except ImportError as error:
        assert isinstance(error, ra.MissingToolkitError)
        print(error)
"""
    lines = (f'{name} is not installed.\nHint: pip install "rankadapters[{key}]"\n' for key, name in PACKAGES.items())
    assert output_of(code) == "".join(lines)


OPTIONAL = (
    "adjustText", "argcomplete", "catboost", "dask", "distributed", "duckdb", "lightgbm", "matplotlib",
    "mlflow", "numba", "pandas", "pyarrow", "pyspark", "rich", "scipy", "sklearn", "tqdm", "wandb", "xgboost",
    "yaml",
)  # fmt: skip
NEEDED_BY_TOOLKITS = ("dask", "distributed", "pandas", "pyarrow", "scipy", "sklearn", "yaml")


@pytest.mark.parametrize("missing", long_except(["all", *NEEDED_BY_TOOLKITS], "all"))
def test_help_and_getmembers_work_whatever_package_is_missing(missing):
    """Submodules that cannot be imported are left out; asking for one raises an error that names its extra."""
    code = f"""
import inspect, pydoc, sys
sys.modules.update(dict.fromkeys({OPTIONAL if missing == "all" else (missing,)}))
import rankadapters as ra
assert "NDCG(" in pydoc.render_doc(ra)
listed = {{name for name, value in inspect.getmembers(ra) if inspect.ismodule(value)}}
for name in ra._SUBMODULES:
    try:
        module = getattr(ra, name)
    except ra.MissingToolkitError as error:
        assert name not in listed
        assert f'Hint: pip install "rankadapters[{{name}}]"' in str(error)
    else:
        assert name in listed
        assert pydoc.render_doc(module)
        assert [name for name, _ in inspect.getmembers(module)] == dir(module)
print("done")
"""
    assert output_of(code) == "done\n"


def test_importing_the_package_loads_none_of_its_modules_and_reading_a_convention_loads_numpy_alone():
    """The command must answer Ctrl-C from its first moment on."""
    code = """
import sys
import rankadapters as ra
print([name for name in sys.modules if name.startswith("rankadapters.")])
conv = ra.parse("lightgbm.map@10+empty=0")
assert ra.parse(str(conv)) == conv
print([name for name in ("numba", "pandas", "scipy", "sklearn", "lightgbm", "dask", "pyspark") if name in sys.modules])
"""
    assert output_of(code) == "[]\n[]\n"


def test_public_names_exist_and_unknown_names_raise():
    namespace = {}
    exec("from rankadapters import *", namespace)  # noqa: S102 - a function cannot have a star import
    assert set(ra.__all__) <= set(namespace)
    assert {"NDCG", "AP", "Success", "evaluate", "presets", "__version__"} <= set(ra.__all__) <= set(dir(ra))
    assert ra.NDCG is namespace["NDCG"]
    assert ra.presets.lightgbm(3) == ra.parse("lightgbm@3")
    for name in ("nothing", "measures", "_nothing", "__nothing__"):
        with pytest.raises(AttributeError, match=f"module 'rankadapters' has no attribute '{name}'"):
            getattr(ra, name)


def test_dir_of_every_public_module_lists_only_its_public_names():
    modules = {name: module for name, module in public_modules() if name} | {"presets.": ra.presets}
    assert {"audit.", "objectives.", "objectives.lightgbm."} <= set(modules)
    assert {name: dir(module) for name, module in modules.items()} == {
        name: sorted(module.__all__) for name, module in modules.items()
    }
    names = {name for module in modules.values() for name in module.__all__}
    assert not {"Any", "Iterator", "Mapping", "Make", "maker", "takes_k", "annotations"} & names
    assert [name for name in names if name.startswith("_")] == []


@pytest.mark.long
def test_doctests_collected_first_import_no_module_a_second_time():
    """pytest may import a module only after its package, which imports it too: two classes of one name would differ."""
    pytest.importorskip("sklearn")
    code = """
import sys, pytest
pytest.main(["--collect-only", "-q", "rankadapters/sklearn/parity.py"])
import rankadapters as ra
print(sys.modules["rankadapters.sklearn.parity"].check_parity is ra.sklearn.check_parity)
"""
    assert output_of(code).endswith("True\n")
