"""Tools that read and write conventions in their own words, and what they cannot express."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import Field, spell_number
from rankadapters.core.errors import UnsupportedConventionError
from rankadapters.presets.texts import as_convention
from rankadapters.presets.tool import Tool

Spelling = TypeVar("Spelling")  # type in which a toolkit writes a metric: a string, or a dict of parameters


class PresetCall(NamedTuple):
    """A call of a preset: the tool's own name of the metric, the arguments, and the resulting convention."""

    metric: str
    arguments: dict[str, Any]
    convention: Convention


class Vocabulary(Tool, ABC, Generic[Spelling]):
    """A tool with translations between conventions and its own metric names and parameters, in both directions.

    Attributes
    ----------
    title : str
        The tool's name in prose.
    all_retrieved : bool
        Whether the tool regards every row as judged and retrieved, as toolkits do.
    """

    title: ClassVar[str]
    all_retrieved: ClassVar[bool] = True

    def calls(self, convention: Convention) -> Iterator[PresetCall]:
        """Yield calls of the measure's presets, one for each choice of options that could give the convention."""
        for method, declared in self.presets.items():
            if declared.measure is not type(convention):
                continue
            near = {name: declared.option(self, name).near(convention) for name in declared.options}
            k = {"k": self._cutoff(convention)} if declared.takes_k else {}
            for values in product(*near.values()):
                arguments = {**k, **dict(zip(near, values, strict=True))}
                yield PresetCall(declared.reads, arguments, getattr(self, method)(**arguments))

    @lru_cache(maxsize=256)  # noqa: B019 - tools live as long as the program
    def _call(self, convention: Convention) -> PresetCall:
        """Return the call whose convention differs in the fewest fields; an NDCG if the tool lacks the measure."""
        calls = self.calls(convention)
        nearest = min(calls, key=lambda call: len(call.convention.diff(convention)), default=None)
        return nearest or PresetCall("", {}, self.fallback(convention))

    def nearest(self, convention: Convention) -> Convention:
        """Return the nearest convention that the tool can compute, which may be the same one."""
        convention = as_convention(convention)
        return self._adjusted(convention, self._call(convention).convention)

    def _adjusted(self, convention: Any, nearest: Convention) -> Convention:
        """Return the nearest convention, with fields of the requested one that mean the same in the tool."""
        del convention
        return nearest

    def fallback(self, convention: Any) -> Convention:
        """Return the convention to use if the tool lacks the measure; by default, an NDCG at the same cutoff."""
        return self(convention.get("k"))

    def _cutoff(self, convention: Any) -> int | None:
        """Return the nearest cutoff that the tool accepts."""
        k: int | None = convention.get("k")
        return k

    @abstractmethod
    def spell(self, convention: Any) -> Spelling:
        """Return the tool's name or parameters for a convention that it can compute."""

    def write(self, convention: Convention | str) -> Spelling:
        """Return the tool's name or parameters for a convention or for its text; `read` is the inverse.

        Raises
        ------
        UnsupportedConventionError
            The tool cannot express a field; the message names all such fields and the nearest possible convention.
        """
        convention = as_convention(convention)
        nearest = self.nearest(convention)
        require_expressible(self.title, convention, nearest, all_retrieved=self.all_retrieved)
        return self.spell(nearest)


def differing(convention: Convention, nearest: Convention, *, all_retrieved: bool = True) -> dict[str, tuple[Any, Any]]:
    """Return the fields in which a toolkit's nearest convention differs, with the requested and the nearest value.

    Inside a toolkit every row is judged and retrieved. There `missing` and most words of `unjudged` have no effect, and
    `ideal="retrieved"`, which cuts the ideal list at the number of retrieved rows, means the same as `ideal="cutoff"`.

    Parameters
    ----------
    convention : Convention
        The requested convention.
    nearest : Convention
        The nearest convention that the toolkit can express.
    all_retrieved : bool
        Whether every row is judged and retrieved, as inside a toolkit; False compares every field.

    Returns
    -------
    dict of str to (requested, nearest)
        Empty if the toolkit can express the convention.

    Examples
    --------
    >>> from rankadapters import presets
    >>> differing(presets.sklearn(10), presets.catboost(10))
    {'ties': ('average', 'worst'), 'empty': (0.0, 1.0)}
    """
    convention = as_convention(convention)
    kinds = convention.declared().items()

    def matters(name: str, kind: Field) -> bool:
        values = (getattr(declaration, name, None) for declaration in (convention, nearest))
        return not (all_retrieved and kind.group == "retrieval") or any(value in kind.active for value in values)

    # If the measures differ, only the fields of the requested convention matter.
    declared = {"measure", *(name for name, kind in kinds if matters(name, kind))}
    if all_retrieved:
        convention, nearest = convention.all_retrieved(), nearest.all_retrieved()
    fields_that_differ = convention.diff(nearest)
    return {name: values for name, values in fields_that_differ.items() if name in declared}


def require_expressible(
    toolkit: str, convention: Convention, nearest: Convention, *, all_retrieved: bool = True
) -> None:
    """Raise UnsupportedConventionError for a convention that a toolkit cannot express.

    Parameters
    ----------
    toolkit : str
        The toolkit's name in the message.
    convention, nearest : Convention
        As in `differing`.
    all_retrieved : bool
        As in `differing`.

    Raises
    ------
    UnsupportedConventionError
        The conventions differ in a field that matters; the message names all such fields and the nearest convention.

    Examples
    --------
    >>> from rankadapters import presets
    >>> require_expressible("CatBoost", presets.yahoo(10), presets.catboost(10, type="Exp", use_weights=False))
    Traceback (most recent call last):
    ...
    rankadapters.core.errors.UnsupportedConventionError: CatBoost cannot express ties='input', only ties='worst'.
    Hint: the nearest it can express is ndcg@10/gain=exp2/discount=log2/ideal=cutoff/ties=worst/...
    """
    different = differing(convention, nearest, all_retrieved=all_retrieved)
    if different:
        raise UnsupportedConventionError(
            f"{toolkit} cannot express {spelled(different)}.",
            hint=f"the nearest it can express is {nearest}",
            nearest=nearest,
        )


def spelled(different: dict[str, tuple[Any, Any]]) -> str:
    """Describe the result of `differing` in a message.

    >>> spelled({"ties": ("average", "worst"), "empty": (0.0, 1.0)})
    "ties='average', empty=0, only ties='worst', empty=1"
    """
    requested, nearest = (
        ", ".join(f"{name}={as_text(values[side])}" for name, values in different.items()) for side in (0, 1)
    )
    return f"{requested}, only {nearest}"


def as_text(value: object) -> str:
    """Return the text of a field's value, with numbers in their shortest form."""
    return spell_number(value) if isinstance(value, float) else repr(value)
