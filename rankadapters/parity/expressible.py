"""Which fields of a convention a toolkit cannot express, and the nearest convention that it can."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankadapters.core.convention import NDCG, Convention
from rankadapters.core.errors import ConventionError, UnsupportedConventionError
from rankadapters.core.fields import number


def differing(convention: Convention, nearest: Convention) -> dict[str, tuple[Any, Any]]:
    """Name the fields in which a toolkit's nearest convention differs, each with the wanted and the nearest value.

    Inside a toolkit every row is judged and retrieved. Hence `missing` and `unjudged` say nothing there, and an ideal
    list cut at the rows retrieved (`ideal="retrieved"`) is one cut at k.

    Parameters
    ----------
    convention : Convention
        What is wanted.
    nearest : Convention
        The nearest that the toolkit can express.

    Returns
    -------
    dict of str to (wanted, nearest)
        Empty where the toolkit expresses the convention.

    Examples
    --------
    >>> from rankadapters import presets
    >>> differing(presets.sklearn(10), presets.catboost(10))
    {'ties': ('average', 'worst'), 'empty': (0.0, 1.0)}
    """
    require_convention(convention)
    fields_that_differ = _all_retrieved(convention).diff(_all_retrieved(nearest))
    # Of a convention of another measure, only what the wanted one declares can be missed.
    declared = {"measure", *convention.fields()} - {"missing", "unjudged"}
    return {name: values for name, values in fields_that_differ.items() if name in declared}


def require_expressible(toolkit: str, convention: Convention, nearest: Convention) -> None:
    """Refuse a convention that a toolkit cannot express.

    Parameters
    ----------
    toolkit : str
        Its name, as in the message.
    convention, nearest : Convention
        As in `differing`.

    Raises
    ------
    UnsupportedConventionError
        The two mean different numbers; the message names every such field and the nearest convention.

    Examples
    --------
    >>> from rankadapters import presets
    >>> require_expressible("CatBoost", presets.yahoo(10), presets.catboost(10, type="Exp", use_weights=False))
    Traceback (most recent call last):
    ...
    rankadapters.core.errors.UnsupportedConventionError: CatBoost cannot express ties='input', only ties='worst'.
    Hint: the nearest it can express is ndcg@10/gain=exp2/discount=log2/ideal=cutoff/ties=worst/...
    """
    different = differing(convention, nearest)
    if different:
        msg = f"{toolkit} cannot express {spelled(different)}.\nHint: the nearest it can express is {nearest}."
        raise UnsupportedConventionError(msg, nearest=nearest)


def nearest_expressible(native_metric: Callable[[Convention], object], convention: Convention) -> Convention:
    """Ask a toolkit's `native_metric` for the nearest convention that it can express.

    Parameters
    ----------
    native_metric : callable
        Takes a convention, and raises through `require_expressible` where the toolkit cannot express it.
    convention : Convention
        What is wanted.

    Returns
    -------
    Convention
        The convention itself where the toolkit expresses it.
    """
    try:
        native_metric(convention)
    except UnsupportedConventionError as error:
        if error.nearest is None:
            raise
        # A nearest that names only what stands in the way may yet differ in a field that follows from it.
        return nearest_expressible(native_metric, error.nearest)
    return convention


def spelled(different: dict[str, tuple[Any, Any]]) -> str:
    """Write what `differing` found.

    >>> spelled({"ties": ("average", "worst"), "empty": (0.0, 1.0)})
    "ties='average', empty=0, only ties='worst', empty=1"
    """
    wanted, nearest = (
        ", ".join(f"{name}={as_text(values[side])}" for name, values in different.items()) for side in (0, 1)
    )
    return f"{wanted}, only {nearest}"


def require_convention(convention: object) -> None:
    """Refuse what is no convention."""
    if not isinstance(convention, Convention):
        msg = f"{convention!r:.80} is no convention.\nHint: ra.presets.textbook(10), or ra.parse(signature)."
        raise ConventionError(msg)


def _all_retrieved(convention: Convention) -> Convention:
    if isinstance(convention, NDCG) and convention.ideal == "retrieved":
        return convention.replace(ideal="cutoff")
    return convention


def as_text(value: object) -> str:
    """Write the value of a field, numbers in shortest form."""
    return number(value) if isinstance(value, float) else repr(value)
