"""Base classes of objectives: values that declare a loss, bind to queries and compute its gradients."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.declared import Declared, read_signature
from rankadapters.core.declaration.fields import Field
from rankadapters.core.errors import ConventionError, choices
from rankadapters.presets.texts import as_convention, tool_name

if TYPE_CHECKING:
    from rankadapters.objectives.bound_gradients import Gradients

# Fields with no effect in training: empty and missing queries have no gradient, and no row is unjudged.
IDLE = frozenset({"empty", "missing", "unjudged"})
OBJECTIVES: dict[str, type[Objective]] = {}
PRESETS: dict[str, dict[str, Callable[[], Objective]]] = {}  # by toolkit, from the end of the toolkit's file


@dataclass(frozen=True, kw_only=True)
class ConventionField(Field):
    """A convention that is part of an objective; it comes after the version in the signature.

    Attributes
    ----------
    measures : str
        The allowed measures, for messages; empty for any.
    """

    measures: str = ""

    @property
    def allowed(self) -> str:
        """The allowed values, for messages."""
        return f"a convention of {self.measures}" if self.measures else "a convention"

    def check(self, name: str, value: Any) -> Convention:
        """Return the value as a convention, parsed if it is a text."""
        del name
        return as_convention(value)


class Objective(Declared):
    """A training objective; its fields declare everything that its gradients depend on.

    Objectives compare and hash by their fields. `str(objective)` is the signature, and
    `ra.objectives.parse(str(objective)) == objective`.
    """

    __slots__ = ()

    noun: ClassVar[str] = "kind"
    start: ClassVar[str] = "a preset, ra.objectives.lightgbm.lambdarank().replace(...)"
    uses: ClassVar[str] = (
        "ra.lightgbm.objective(loss), ra.xgboost.objective(loss) or ra.catboost.train(params, pool, loss, conv)"
    )
    kind: ClassVar[str]
    of_pairs: ClassVar[bool] = False  # whether the loss is a sum over pairs, as a position bias requires
    idle: ClassVar[frozenset[str]] = frozenset()  # fields of the convention that no gradient depends on

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Register the class under its kind, for `parse`."""
        super().__init_subclass__(**kwargs)
        if "kind" in cls.__dict__:
            OBJECTIVES[cls.kind] = cls

    def diff(self, other: Declared | str) -> dict[str, tuple[Any, Any]]:
        """Return each field that differs as (own value, the other's value); None if an objective lacks the field."""
        return Declared.diff(self, as_objective(other))

    @abstractmethod
    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Bind to queries; pass the `state` of an earlier binding to the same queries to continue from it."""

    @property
    def uses_weights(self) -> bool:
        """Whether a dataset's weights multiply the gradients; False if the convention ignores weights."""
        convention: Convention | None = getattr(self, "convention", None)
        return convention is None or convention.weighting is not None

    @property
    def divides_weights(self) -> bool:
        """Whether query weights are divided by their mean before they multiply the gradients."""
        return False

    @property
    def precision(self) -> str | None:
        """Precision in which scores are compared and subtracted; None for the precision of the input scores."""
        return "float64"


def parse(text: str) -> Objective:
    """Read an objective from its text; `parse(str(objective)) == objective`.

    Parameters
    ----------
    text : str
        A signature, or the name of a toolkit's objective, with its defaults: `lightgbm.lambdarank`, `xgboost.ndcg`.

    Raises
    ------
    ConventionError
        The signature is truncated, misspells a field, or has an unknown kind or version; or the preset does not exist.

    Examples
    --------
    >>> from rankadapters import objectives
    >>> parse(str(objectives.lightgbm.lambdarank())) == parse("lightgbm.lambdarank")
    True
    """
    if isinstance(text, str) and "/" not in text and tool_name(text.partition(".")[0]) in PRESETS:
        return _preset(text)
    return cast("Objective", read_back(text, OBJECTIVES, "kind", "an objective"))


def read_back(text: object, registry: Mapping[str, type[Declared]], noun: str, noun_phrase: str) -> Declared:
    """Parse a signature into a value of `registry`; the text must equal the value's str()."""
    if not isinstance(text, str):
        msg = f"{text!r:.80} is not {noun_phrase}'s signature."
        raise ConventionError(msg, hint=f"str() of {noun_phrase}")
    value = read_signature(text, registry, noun)
    if str(value) != text:
        msg = f"{text!r} is not the exact signature of {noun_phrase}."
        raise ConventionError(msg, hint=f"{str(value)!r}")
    return value


def as_objective(value: object) -> Objective:
    """Return an objective unchanged, or parse a text: a signature, or a preset such as `lightgbm.lambdarank`.

    Raises
    ------
    ConventionError
        The value is not an objective, and the text names none.

    Examples
    --------
    >>> as_objective("catboost.query_rmse")
    QueryRMSE()
    """
    if isinstance(value, Objective):
        return value
    if isinstance(value, str) and tool_name(re.split("[/.]", value)[0]) in {*OBJECTIVES, *PRESETS} - {value}:
        return parse(value)
    msg = f"{value!s:.80} is not an objective."
    raise ConventionError(msg, hint=f"{_way_to_objective(value)}")


def _preset(text: str) -> Objective:
    """Return the objective of a preset such as `lightgbm.lambdarank`, with default arguments."""
    toolkit, _, name = text.partition(".")
    presets = PRESETS[tool_name(toolkit)]
    if name not in presets:
        msg = f"{text!r:.80} is not an objective of {tool_name(toolkit)}, which has {choices(presets)}."
        raise ConventionError(msg, hint=f"'{tool_name(toolkit)}.{next(iter(presets))}'")
    return presets[name]()


def _way_to_objective(value: Any) -> str:
    """Return a hint that says how to get an objective from a value of the wrong type."""
    if isinstance(getattr(value, "objective", None), Objective):
        return "its .objective is one"
    if isinstance(value, type) and issubclass(value, Objective):
        return f"{value.__name__}(...) with every field"
    try:
        as_convention(value)
    except ConventionError:
        return "'lightgbm.lambdarank', or ra.objectives.lightgbm.lambdarank()"
    return "ra.objectives.lambdarank(convention, truncation=30) is one under a convention"
