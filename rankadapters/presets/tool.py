"""The base class of tools, whose methods and parameters have the names of the tool's own metrics and options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import as_number, as_whole
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.measures import NDCG
from rankadapters.presets.options import Fields, Options
from rankadapters.presets.preset import Preset, preset

Evidence = Literal["run", "read"]


class Tool:
    """A tool that computes ranking metrics: a call with a cutoff returns its NDCG; methods return other measures.

    The `__call__` of a tool without NDCG raises an error.

    Class arguments declare the fields that all presets of the tool share, `class Ranx(Tool, name="ranx",
    ties="input")`. Each preset uses those that its measure has.

    Attributes
    ----------
    name : str
        The tool's name in texts such as `letor4@10`.
    defaults : Fields
        Fields of all presets of the tool, which a preset may override.
    options : dict of str to Option
        By argument of the presets, the fields that it changes.
    presets : dict of str to Preset
        By method, what its decorator declares; a subclass removes a preset by overriding it with an ordinary method.
    package : str
        Name of the package for pip; empty if pip cannot install the tool.
    versions : tuple of str
        The first and the last release for which the presets were confirmed, or the only one.
    evidence : {'run', 'read'}
        Whether numbers of the tool confirm the presets, or only its source (for a definition, the paper).
    """

    name: ClassVar[str]
    package: ClassVar[str] = ""
    versions: ClassVar[tuple[str, ...]] = ()
    evidence: ClassVar[Evidence] = "read"
    defaults: ClassVar[Fields] = {}
    options: ClassVar[Options] = {}
    presets: ClassVar[Mapping[str, Preset]] = {}

    def __init_subclass__(
        cls, *, name: str = "", package: str | None = None, versions: tuple[str, ...] = (),
        evidence: Evidence = "read", **defaults: Any,
    ) -> None:  # fmt: skip
        """Store the class arguments; fields are added to those of the parent class."""
        super().__init_subclass__()
        cls.name, cls.versions, cls.evidence = name, versions, evidence
        cls.package = cls.package if package is None else package
        cls.defaults = {**cls.defaults, **defaults}
        methods = {name: method for kind in reversed(cls.__mro__) for name, method in vars(kind).items()}
        cls.presets = {name: method.preset for name, method in methods.items() if hasattr(method, "preset")}

    @preset(NDCG)
    def __call__(self, k: int | None) -> NDCG:
        """Return the tool's NDCG at a cutoff."""

    @property
    def __name__(self) -> str:
        """The tool's name, since tools are called like functions."""
        return self.name

    def __repr__(self) -> str:
        return f"presets.{self.name}"

    if not TYPE_CHECKING:  # so that type checkers report unknown names

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(name if name.startswith("_") else str(self._unknown(name)))

    @classmethod
    def measures(cls) -> tuple[str, ...]:
        """Return the names of the methods for measures other than NDCG, such as `recip_rank`."""
        return tuple(name for name in cls.presets if name != "__call__")

    def read(self, text: str, **params: Any) -> Convention:
        """Return the convention of a metric, given the tool's own name for it, such as `map_cut_10`.

        Raises
        ------
        ConventionError
            The metric is unknown.
        """
        for method, declared in self.presets.items():
            match = re.fullmatch(declared.reads, text, re.ASCII) if declared.reads and isinstance(text, str) else None
            if match is None:
                continue
            arguments = {name: _argument(value) for name, value in match.groupdict().items() if value is not None}
            parameters = [*(["k"] if declared.takes_k else []), *declared.options]
            refuse_unknown(text, params, tuple(name for name in parameters if name not in arguments))
            k = {"k": None} if declared.takes_k else {}
            convention: Convention = getattr(self, method)(**k | arguments | params)
            return convention
        raise self._unknown(text, params)

    def _unknown(self, text: object, params: Mapping[str, Any] | None = None) -> ConventionError:
        has_ndcg = "__call__" in self.presets
        measures = choices([*([self.name] if has_ndcg else []), *self.measures()])
        suffix = f" with {choices(params)}" if params else ""
        return ConventionError(
            f"{text!r:.80}{suffix} is not a known metric of {self.name}; there are presets for {measures}.",
            hint=f"presets.{self.name}(10)" if has_ndcg else f"presets.{self.name}.{self.measures()[0]}()",
        )


def _argument(text: str) -> float | bool:
    """Parse an argument in a metric's name: a number, or True if it is a word that may be left out."""
    value = as_number(text)
    whole = as_whole(text)
    return whole if whole is not None else True if value is None else value


def split_spec(spec: object, key: str, params: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Split an argument of `read`, a name or a result of `write`, into the metric's name and its parameters."""
    if not isinstance(spec, Mapping):
        return spec, dict(params)
    return spec.get(key), {**{name: value for name, value in spec.items() if name != key}, **params}


def refuse_unknown(spec: object, params: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    """Raise ConventionError for a parameter that the metric does not have."""
    unknown = [name for name in params if name not in allowed]
    if unknown:
        listed = f"; allowed are {choices(allowed)}" if allowed else ""
        raise ConventionError(f"{spec!r:.80} has no parameter {unknown[0]!r}{listed}.")
