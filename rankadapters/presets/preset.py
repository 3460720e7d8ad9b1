"""The decorator `preset`: a preset is a method without a body, whose decorator declares the convention."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.presets.options import Fields, Option, Options

C = TypeVar("C", bound=Convention)
P = ParamSpec("P")

K = r"(?P<k>[1-9]\d*)"  # the cutoff in a tool's own name of a metric


@dataclass(frozen=True, slots=True)
class Preset:
    """A preset: a measure, the tool's name for it, and fields that add to the tool's defaults or replace them.

    Attributes
    ----------
    measure : type
        The measure.
    reads : str
        The tool's own name, a regular expression whose groups are arguments; empty if the tool has no name for it.
    takes_k : bool
        Whether the cutoff is an argument.
    options : dict of str to Option or None
        The option of each argument; None if the tool's `options` define it.
    fields : Fields
        Fields that override the tool's defaults.
    """

    measure: type[Convention]
    reads: str
    takes_k: bool
    options: Mapping[str, Option | None]
    fields: Fields

    def option(self, tool: Any, name: str) -> Option:
        """Return the option for an argument, from the preset or else from the preset's tool."""
        option: Option = self.options[name] or tool.options[name]
        return option

    def convention(self, tool: Any, name: str, arguments: Mapping[str, Any]) -> Convention:
        """Return the convention for the arguments of a call, with the name of the preset."""
        kinds = self.measure.declared()
        defaults = {field: value for field, value in tool.defaults.items() if field in kinds}
        k = {"k": arguments["k"]} if self.takes_k else {}
        named = self.measure(**{**defaults, **self.fields, **k}).named(name)
        changes: dict[str, Any] = {}
        for option in self.options:
            if option in arguments:
                changed = self.option(tool, option).changes(option, arguments[option])
                if isinstance(changed, Convention):
                    return changed
                changes.update(changed)
        return named.replace(**changes) if changes else named


class Make(Protocol):
    """A method that makes a preset's convention."""

    preset: Preset

    def __call__(self, *args: Any, **kwargs: Any) -> Convention:
        """Return the convention for a cutoff and options."""


def preset(
    measure: type[C], reads: str = "", *, options: Options | None = None, **fields: Any
) -> Callable[[Callable[P, C]], Callable[P, C]]:
    """Turn a method into a preset; its body is only a docstring, which gives the evidence.

    The method's arguments are the cutoff and options. The convention starts from the tool's defaults; these fields
    override them, and the options of a call override both.

    Parameters
    ----------
    measure : type
        The measure.
    reads : str
        The tool's own name of the measure, a regular expression whose groups are arguments.
    options : dict of str to Option, optional
        Options of arguments that differ from the tool's `options`.
    **fields
        Fields that override the tool's defaults.
    """

    def declare(method: Callable[P, C]) -> Callable[P, C]:
        arguments = dict.fromkeys(name for name in inspect.signature(method).parameters if name != "self").keys()
        by_name = {name: (options or {}).get(name) for name in arguments if name != "k"}
        declared = Preset(measure, reads, "k" in arguments, by_name, fields)

        @wraps(method)
        def make(*args: P.args, **kwargs: P.kwargs) -> C:
            tool, *cutoff = cast("tuple[Any, ...]", args)
            name = tool.name if method.__name__ == "__call__" else f"{tool.name}.{method.__name__}"
            if declared.takes_k and not cutoff and "k" not in kwargs:
                msg = f"the preset {name} needs k, which was left out: a whole number from 1 on, or None for all ranks."
                raise ConventionError(msg, hint=f"presets.{name}(10)")
            if len(cutoff) + ("k" in kwargs) != declared.takes_k or not kwargs.keys() <= arguments:
                method(*args, **kwargs)  # raises Python's error for wrong arguments
            return cast("C", declared.convention(tool, name, kwargs | dict(zip(["k"], cutoff, strict=False))))

        make.preset = declared  # type: ignore[attr-defined]
        return make

    return declare
