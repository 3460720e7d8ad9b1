"""Conventions: everything that decides the value of a ranking measure, declared, with no defaults."""

from __future__ import annotations

import dataclasses
import hashlib
from abc import ABC
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.fields import (
    CHOICES,
    SIGNATURE_ORDER,
    as_cutoff,
    as_empty,
    choices_of,
    number,
    table,
    unknown_value,
)

VERSION = 1

MEASURES: dict[str, type[Convention]] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Convention(ABC):
    """What decides the value of a measure: a frozen value in which no field has a default.

    Conventions compare and hash by what they mean: fields that cannot matter take one spelling
    (`k=None` forces `short="pad"`, `empty=0` turns `query-except-empty` into `query`).
    `str(convention)` is its signature, and `parse(str(convention)) == convention`.

    Parameters
    ----------
    k : int or None
        Cutoff: only ranks 1..k count; None counts all.
    ties : str
        Order of rows with equal scores: `input` (row order), `reverse`, `average` (expectation over all
        orders of the tied rows, McSherry & Najork 2008), `worst`, `best` (by gain), `docid-descending`,
        `docid-ascending` (by UTF-8 bytes).
    precision : str
        `float64` or `float32`: in which scores are compared, hence what is a tie.
    short : str
        A query with fewer than `k` retrieved rows: `pad` (counts as defined), `zero`, `skip`.
    missing : str
        A judged query of which nothing was retrieved: `zero`, `skip`, `error`.
    unjudged : str
        A retrieved row without judgment: `zero` (gain 0), `drop` (as if it had not been retrieved), `error`.
    average : str
        `uniform`, `query` (by query weight), `query-except-empty` (an empty query adds its value
        unweighted while its weight stays in the divisor: LightGBM and XGBoost).

    Raises
    ------
    ConventionError
        A field is left out, unknown, or has a value outside its choices.
    """

    measure: ClassVar[str]
    higher_is_better: ClassVar[bool] = True

    k: int | None
    ties: str
    precision: str
    short: str
    missing: str
    unjudged: str
    average: str
    _label: str = field(default="", init=False, compare=False, repr=False)

    def __new__(cls, *args: object, **fields: object) -> Self:
        """Refuse positional values and incomplete declarations before the generated __init__ sees them."""
        _refuse_incomplete(cls, args, fields)
        return object.__new__(cls)

    def __post_init__(self) -> None:
        """Validate every field, then bring equal meanings to one spelling."""
        if self.k is not None:
            self._set("k", as_cutoff(self.k))
        for name in self.fields():
            value = getattr(self, name)
            if name not in {"k", "gain", "empty"} and not (isinstance(value, str) and value in CHOICES[name]):
                raise unknown_value(name, value)
        if self.k is None:
            self._set("short", "pad")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def fields(cls) -> tuple[str, ...]:
        """Name the fields in the order of the signature."""
        declared = {f.name for f in dataclasses.fields(cls) if f.init}
        return tuple(name for name in SIGNATURE_ORDER if name in declared)

    def to_dict(self) -> dict[str, Any]:
        """Give the fields and their values in the order of the signature."""
        return {name: getattr(self, name) for name in self.fields()}

    def __str__(self) -> str:
        """Write the signature."""
        cutoff = "all" if self.k is None else str(self.k)
        parts = [f"{name}={_text(value)}" for name, value in self.to_dict().items() if name != "k"]
        return "/".join([f"{self.measure}@{cutoff}", *parts, f"v{VERSION}"])

    @property
    def name(self) -> str:
        """Display name: the preset's, or the measure and 7 digits of the signature's SHA-256."""
        measure = str(self).partition("/")[0]
        return f"{measure}/{self._label or hashlib.sha256(str(self).encode()).hexdigest()[:7]}"

    def named(self, label: str) -> Self:
        """Return the same convention under a display label, which is no part of equality or signature."""
        copy = type(self)(**self.to_dict())
        object.__setattr__(copy, "_label", label)
        return copy

    def replace(self, **fields: object) -> Self:
        """Return the convention with some fields changed, and without a preset's label."""
        unknown = set(fields) - set(self.fields())
        if unknown:
            msg = f"{type(self).__name__} has no field {min(unknown)!r}; its fields are {choices(self.fields())}."
            raise ConventionError(msg)
        return type(self)(**{**self.to_dict(), **fields})

    def at(self, k: int | None) -> Self:
        """Return the convention at another cutoff.

        It keeps a preset's label, except from `k=None`, where it is no longer known what the preset says of short
        queries.
        """
        same = self.replace(k=k)
        return same.named(self._label) if self._label and self.k is not None else same

    def diff(self, other: Convention) -> dict[str, tuple[Any, Any]]:
        """Name the fields that differ, each with this convention's value and the other's (None where it has none).

        >>> from rankadapters import presets
        >>> presets.lightgbm(10).diff(presets.yahoo(10))
        {'average': ('query-except-empty', 'uniform')}
        """
        if not isinstance(other, Convention):
            msg = f"{other!r:.80} is no convention.\nHint: conv.diff(ra.presets.yahoo(10))."
            raise ConventionError(msg)
        names = dict.fromkeys(name for name in SIGNATURE_ORDER if name in (*self.fields(), *other.fields()))
        pairs = {name: (getattr(self, name, None), getattr(other, name, None)) for name in names}
        if self.measure != other.measure:
            pairs = {"measure": (self.measure, other.measure), **pairs}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the fields, so that a copy is validated like the original."""
        return _restore, (type(self), self.to_dict(), self._label)


@dataclass(frozen=True, kw_only=True, slots=True)
class Discounted(Convention):
    """A measure that adds up gain x discount over the ranks: what NDCG and DCG share."""

    gain: str
    discount: str

    def __post_init__(self) -> None:
        """Check the gain, and write a table in shortest form."""
        if not isinstance(self.gain, str) or not (self.gain.startswith("table_") or self.gain in CHOICES["gain"]):
            raise unknown_value("gain", self.gain)
        gains = table(self.gain)
        if gains is not None:
            self._set("gain", "_".join(["table", *map(number, gains)]))
        # slots=True makes a new class, so that a bare super() would not find its cell.
        Convention.__post_init__(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class NDCG(Discounted):
    """Normalised discounted cumulative gain.

    NDCG@k = DCG@k / ideal DCG, DCG@k = sum over ranks i <= k of gain(label of the row at rank i) x discount(i).
    The value lies in [0, 1] unless `gain="linear"` meets negative labels, which it takes as they are.

    Parameters
    ----------
    gain : str
        Gain of label l: `exp2` 2^l - 1, `exp2-floor` 2^floor(l) - 1, `linear` l, `linear-positive` max(l, 0),
        `table_0_1_3` by integer label. Negative labels are an error under `exp2`, `exp2-floor` and tables.
    discount : str
        Discount of rank i: `log2` 1/log2(i + 1), `jk2` 1 for i = 1 and 1/log2(i) from i = 2, `reciprocal` 1/i.
    ideal : str
        The ideal list holds all judged rows by descending gain, cut at: `cutoff` k, `retrieved` min(k, rows
        retrieved), `all` not cut.
    empty : float or str
        Value of a query whose ideal DCG is not positive: a number in [0, 1], `skip` or `error`.
    k, ties, precision, short, missing, unjudged, average
        As in `Convention`.

    Raises
    ------
    ConventionError
        A field is left out, unknown, or has a value outside its choices.

    References
    ----------
    Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002.
    Burges et al., Learning to rank using gradient descent, ICML 2005 (for 2^l - 1).
    McSherry & Najork, Computing information retrieval performance measures efficiently in the presence of tied
    scores, ECIR 2008.

    Examples
    --------
    >>> conv = NDCG(k=10, gain="exp2", discount="log2", ideal="cutoff", ties="average", precision="float64",
    ...             short="pad", empty=0, missing="error", unjudged="error", average="uniform")
    >>> print(conv.replace(empty=1).diff(conv))
    {'empty': (1.0, 0.0)}
    """

    measure: ClassVar[str] = "ndcg"

    ideal: str
    empty: float | str

    def __post_init__(self) -> None:
        """Check `empty`, then bring equal meanings to one spelling."""
        self._set("empty", as_empty(self.empty))
        Discounted.__post_init__(self)
        if self.k is None and self.ideal == "all":
            self._set("ideal", "cutoff")
        if self.empty == 0 and self.average == "query-except-empty":
            self._set("average", "query")


@dataclass(frozen=True, kw_only=True, slots=True)
class DCG(Discounted):
    """Discounted cumulative gain: NDCG's numerator, in the unit of the gain.

    DCG@k = sum over ranks i <= k of gain(label of the row at rank i) x discount(i). It has no ideal list and no empty
    query, so neither the fields `ideal` and `empty` nor `average="query-except-empty"`.

    Parameters
    ----------
    gain, discount, k, ties, precision, short, missing, unjudged, average
        As in `NDCG`.

    Raises
    ------
    ConventionError
        A field is left out, unknown, or has a value outside its choices.

    References
    ----------
    Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4), 2002.
    """

    measure: ClassVar[str] = "dcg"

    def __post_init__(self) -> None:
        """Refuse the one averaging that needs empty queries."""
        if self.average == "query-except-empty":
            msg = (
                "DCG has no empty queries, so average='query-except-empty' means nothing; "
                "allowed are 'uniform', 'query'.\nHint: average='query'."
            )
            raise ConventionError(msg)
        Discounted.__post_init__(self)


MEASURES.update({"ndcg": NDCG, "dcg": DCG})


def _text(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def _refuse_incomplete(cls: type[Convention], args: tuple[object, ...], fields: dict[str, object]) -> None:
    if not hasattr(cls, "measure"):
        msg = f"{cls.__name__} is abstract.\nHint: ra.NDCG(k=10, ...), ra.DCG(...) or a preset."
        raise ConventionError(msg)
    if args:
        msg = (
            f"{cls.__name__} is a convention: it takes its fields as keywords and no data.\n"
            f"Hint: ra.evaluate(labels, scores, ra.{cls.__name__}(...), qid=qid)."
        )
        raise ConventionError(msg)
    unknown = [name for name in fields if name not in cls.fields()]
    if unknown:
        msg = f"{cls.__name__} has no field {unknown[0]!r}; its fields are {choices(cls.fields())}."
        raise ConventionError(msg)
    missing = [name for name in cls.fields() if name not in fields]
    if missing:
        lines = [f"  {n}: {choices_of(n)}" for n in missing]
        msg = (
            f"{cls.__name__} needs every field declared; left out:\n" + "\n".join(lines) + "\n"
            "Hint: start from a preset, ra.presets.textbook(10).replace(...)."
        )
        raise ConventionError(msg)


def _restore(cls: type[Convention], fields: dict[str, Any], label: str) -> Convention:
    return cls(**fields).named(label) if label else cls(**fields)
