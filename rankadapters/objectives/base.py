"""What every objective is: a declared value that binds to queries and gives gradients."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import isfunction, signature
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, cast

from rankadapters.core.data.queries import Queries
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.declared import Declared, read_signature
from rankadapters.core.declaration.fields import Field
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.measures import NDCG
from rankadapters.core.presets.texts import as_convention

if TYPE_CHECKING:
    from rankadapters.objectives.bound_gradients import Gradients

OBJECTIVES: dict[str, type[Objective]] = {}
TOOLS = ("lightgbm", "xgboost", "catboost")  # modules of this folder, with the presets of each toolkit


@dataclass(frozen=True, kw_only=True)
class ConventionField(Field):
    """A convention that is part of an objective; it stands behind the signature's version.

    Attributes
    ----------
    measures : str
        Of which measures, for messages; empty for any.
    """

    measures: str = ""

    @property
    def allowed(self) -> str:
        """What the field may be, for messages."""
        return f"a convention of {self.measures}" if self.measures else "a convention"

    def check(self, name: str, value: Any) -> Convention:
        """Take a convention or its text."""
        del name
        return as_convention(value)


class Objective(Declared):
    """What decides a gradient, all of it declared.

    Objectives compare and hash by their fields. `str(objective)` is the signature, and
    `ra.objectives.parse(str(objective)) == objective`.
    """

    __slots__ = ()

    noun: ClassVar[str] = "kind"
    start: ClassVar[str] = "a preset, ra.objectives.lightgbm.lambdarank().replace(...)"
    kind: ClassVar[str]
    of_pairs: ClassVar[bool] = False  # a sum over pairs of rows, which a position bias can correct

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let `parse` find the class by its kind."""
        super().__init_subclass__(**kwargs)
        if "kind" in cls.__dict__:
            OBJECTIVES[cls.kind] = cls

    def diff(self, other: Declared | str) -> dict[str, tuple[Any, Any]]:
        """Name the fields that differ from another objective or its signature; each has both values, None for none."""
        return Declared.diff(self, as_objective(other))

    @abstractmethod
    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Prepare for queries; `state` goes on where an earlier binding to the same queries left off."""

    @property
    def uses_weights(self) -> bool:
        """Whether the weights of a dataset multiply the gradients: not where a convention leaves them out."""
        convention: Convention | None = getattr(self, "convention", None)
        return convention is None or convention.weighting is not None

    @property
    def divides_weights(self) -> bool:
        """Whether the weights of queries are divided by their mean before they multiply."""
        return False

    @property
    def precision(self) -> str | None:
        """In which scores are compared and subtracted; None takes them as they are given."""
        return "float64"

    @property
    def idle(self) -> frozenset[str]:
        """Fields of its convention that no gradient depends on."""
        return frozenset()


@dataclass(frozen=True, kw_only=True)
class UnderNDCG(Objective):
    """What objectives share that take gains, discounts and ideal lists of an NDCG convention."""

    convention: Annotated[
        NDCG, ConventionField(group="tail", about="Gains, discounts and the ideal DCG.", measures="NDCG")
    ]

    def unify(self) -> None:
        """Require an NDCG."""
        if not isinstance(self.convention, NDCG):
            msg = f"{type(self).__name__} needs a convention of NDCG, not {self.convention}."
            raise ConventionError(f"{msg}\nHint: ra.presets.lightgbm(30), or ra.NDCG(...).")
        require_fixed_ideal(type(self).__name__, self.convention)

    @property
    def idle(self) -> frozenset[str]:
        """Fields that say what queries without a gradient count, and rows that a training set does not hold."""
        return frozenset({"empty", "missing", "unjudged"})

    @property
    def precision(self) -> str | None:
        """In which scores are compared and subtracted; None takes them as they are given."""
        return "float32" if self.convention.precision == "float32" else None


def parse(text: str) -> Objective:
    """Read an objective from its text; `parse(str(objective)) == objective`.

    Parameters
    ----------
    text : str
        A signature, or a toolkit's objective with its defaults: `lightgbm.lambdarank`, `xgboost.ndcg`.

    Raises
    ------
    ConventionError
        A signature is truncated, misspells a field, or has an unknown kind or version; or there is no such preset.

    Examples
    --------
    >>> from rankadapters import objectives
    >>> parse(str(objectives.lightgbm.lambdarank())) == parse("lightgbm.lambdarank")
    True
    """
    if isinstance(text, str) and "/" not in text and text.partition(".")[0] in TOOLS:
        return _preset(text)
    return cast("Objective", read_back(text, OBJECTIVES, "kind", "an objective"))


def read_back(text: object, registry: Mapping[str, type[Declared]], noun: str, what: str) -> Declared:
    """Read a value of a registry from what is exactly its signature."""
    if not isinstance(text, str):
        msg = f"{text!r:.80} is not {what}'s signature.\nHint: str() of {what}."
        raise ConventionError(msg)
    value = read_signature(text, registry, noun)
    if str(value) != text:
        msg = f"{text!r} is not how {what} writes itself.\nHint: {str(value)!r}."
        raise ConventionError(msg)
    return value


def require_fixed_ideal(objective: str, convention: Convention) -> None:
    """Refuse an ideal list that other scores change: a gradient takes it for constant."""
    if getattr(convention, "ideal_follows_scores", False):
        msg = f"{objective} needs an ideal DCG that no score changes, but the convention says ideal='top-only'."
        raise ConventionError(f"{msg}\nHint: train under convention.replace(ideal='cutoff'); evaluate under any.")


def as_objective(value: object) -> Objective:
    """Return an objective, or the one of a text: a signature, or a preset such as `lightgbm.lambdarank`.

    Raises
    ------
    ConventionError
        The value is neither.

    Examples
    --------
    >>> as_objective("catboost.query_rmse")
    QueryRMSE()
    """
    if isinstance(value, Objective):
        return value
    if isinstance(value, str) and re.split("[/.]", value)[0] in {*OBJECTIVES, *TOOLS} - {value}:
        return parse(value)
    msg = f"{value!s:.80} is not an objective.\nHint: {_way_to_objective(value)}."
    raise ConventionError(msg)


def _preset(text: str) -> Objective:
    """Return the objective of a preset with its defaults."""
    tool, _, method = text.partition(".")
    module = import_module(f"{__package__}.{tool}")
    makers = {name: make for name, make in vars(module).items() if _is_preset(make, module.__name__)}
    if method not in makers:
        msg = f"{text!r:.80} is not an objective of {tool}, which has {choices(makers)}."
        raise ConventionError(f"{msg}\nHint: '{tool}.{next(iter(makers))}'.")
    objective: Objective = makers[method]()
    return objective


def _is_preset(make: object, module: str) -> bool:
    """Tell whether a function of a module makes an objective without being told anything."""
    if not isfunction(make) or make.__module__ != module or make.__name__.startswith("_"):
        return False
    made = make.__annotations__["return"]
    needed = [name for name, at in signature(make).parameters.items() if at.default is at.empty]
    return not needed and made in {cls.__name__ for cls in OBJECTIVES.values()}


def _way_to_objective(value: Any) -> str:
    """Say how what was given instead of an objective leads to one."""
    if isinstance(getattr(value, "objective", None), Objective):
        return "its .objective is one"
    if isinstance(value, type) and issubclass(value, Objective):
        return f"{value.__name__}(...) with every field"
    try:
        as_convention(value)
    except ConventionError:
        return "'lightgbm.lambdarank', or ra.objectives.lightgbm.lambdarank()"
    return "ra.objectives.lambdarank(convention, truncation=30) is one under a convention"
