"""What a preset is: a method without a body, whose convention is declared beside it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar, Unpack, cast

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.core.presets.options import Fields, Option, Options

C = TypeVar("C", bound=Convention)
P = ParamSpec("P")

K = r"(?P<k>[1-9]\d*)"  # a cutoff in a tool's own name of a metric


@dataclass(frozen=True, slots=True)
class Preset:
    """A preset: a measure, the tool's own name of it, and what it declares beside the defaults of its tool.

    Attributes
    ----------
    measure : type
        The measure.
    reads : str
        The tool's own name, a regular expression whose groups are arguments; empty where it is not read.
    takes_k : bool
        Whether the cutoff is an argument.
    options : dict of str to Option or None
        By argument what it changes; None where the tool says it.
    fields : Fields
        What it declares.
    """

    measure: type[Convention]
    reads: str
    takes_k: bool
    options: Mapping[str, Option | None]
    fields: Fields

    def option(self, tool: Any, name: str) -> Option:
        """Give what an argument changes: as the preset says, or else its tool."""
        option: Option = self.options[name] or tool.options[name]
        return option

    def convention(self, tool: Any, name: str, arguments: Mapping[str, Any]) -> Convention:
        """Make the convention that arguments ask for, under the name of the preset."""
        defaults = {field: value for field, value in tool.defaults.items() if field in self.measure.fields()}
        k = {"k": arguments["k"]} if self.takes_k else {}
        convention = self.measure(**{**defaults, **self.fields, **k})
        changes: dict[str, Any] = {}
        for option in [option for option in self.options if option in arguments]:
            changed = self.option(tool, option).changes(option, arguments[option])
            if isinstance(changed, Convention):
                return changed
            changes.update(changed)
        named = convention.named(name)
        return named.replace(**changes) if changes else named


def preset(
    measure: type[C], reads: str = "", *, options: Options | None = None, **fields: Unpack[Fields]
) -> Callable[[Callable[P, C]], Callable[P, C]]:
    """Make a preset of a method whose body is its docstring, the evidence.

    The method's arguments are the cutoff and options. Its convention has the tool's defaults, then these fields, then
    what the options change that a call names.

    Parameters
    ----------
    measure : type
        The measure.
    reads : str
        The tool's own name of it, a regular expression whose groups are arguments.
    options : dict of str to Option, optional
        What its arguments change, where that is not as the tool's `options` have it.
    **fields
        What it declares beside the defaults of its tool.
    """

    def declare(method: Callable[P, C]) -> Callable[P, C]:
        arguments = inspect.signature(method).parameters
        own = {name: (options or {}).get(name) for name in arguments if name not in {"self", "k"}}
        declared = Preset(measure, reads, "k" in arguments, own, fields)

        @wraps(method)
        def make(*args: P.args, **named: P.kwargs) -> C:
            tool, *cutoff = cast("tuple[Any, ...]", args)
            name = tool.name if method.__name__ == "__call__" else f"{tool.name}.{method.__name__}"
            if declared.takes_k and not cutoff and "k" not in named:
                msg = f"the preset {name} needs k, which was left out: a whole number from 1 on, or None for all ranks."
                raise ConventionError(msg, hint=f"presets.{name}(10)")
            method(*args, **named)  # it does nothing, but Python refuses arguments that it does not take
            return cast("C", declared.convention(tool, name, {**named, **dict(zip(["k"], cutoff, strict=False))}))

        make.preset = declared  # type: ignore[attr-defined]
        return make

    return declare


def presets_of(kind: type) -> dict[str, Preset]:
    """Give a tool's presets by the names of their methods; a method that is no preset takes one away."""
    methods = {name: method for kind in reversed(kind.__mro__) for name, method in vars(kind).items()}
    return {name: method.preset for name, method in methods.items() if hasattr(method, "preset")}
