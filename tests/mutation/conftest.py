"""Without cosmic-ray, which `tox -e mutation` installs, skip the modules that need it."""

from importlib.util import find_spec

NEED_COSMIC_RAY = ("__main__", "places", "report", "session")
collect_ignore = [] if find_spec("cosmic_ray") else [f"{name}.py" for name in NEED_COSMIC_RAY]
