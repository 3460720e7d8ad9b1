"""What needs cosmic-ray, which `tox -e mutation` brings, is not looked at without it."""

from importlib.util import find_spec

NEEDING = ("__main__", "places", "report", "session")
collect_ignore = [] if find_spec("cosmic_ray") else [f"{name}.py" for name in NEEDING]
