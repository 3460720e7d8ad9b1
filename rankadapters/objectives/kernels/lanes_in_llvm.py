"""The operations of `lanes` as SIMD instructions, for numba to compile."""

# ruff: noqa: ARG001, ARG005 - numba passes arguments by these names, also those that a function does not need

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, float64, int64, types, uint64, void
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from rankadapters.objectives.kernels import LANES

intrinsic: Any = extending.intrinsic  # its real type has an argument that numba passes, not callers
_PACKED, _WHOLE = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(ir.IntType(64), LANES)


class Lanes(types.Type):
    """The numba type of four float64 numbers."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


lanes = Lanes()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _PACKED)


def _define(operation, name):
    """Define an operator on `Lanes`, which works lane by lane."""
    infer_global(operation)(type(name, (ConcreteTemplate,), {"cases": [signature(lanes, lanes, lanes)]}))
    lower_builtin(operation, lanes, lanes)(lambda _, builder, __, arguments: getattr(builder, name)(*arguments))


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")
_define(operator.truediv, "fdiv")


def _pointer(context, builder, array_type, array, row):
    """Return a pointer to four adjacent numbers of an array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [row]), _PACKED.as_pointer())


def _all(builder, number):
    """Return a vector with one number in all lanes."""
    packed = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    packed = builder.insert_element(packed, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(packed, packed, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


@intrinsic
def same(_, number):
    """Return four copies of one number."""
    return lanes(float64), lambda context, builder, sig, arguments: _all(builder, arguments[0])


@intrinsic
def load(_, array, row):
    """Return array[row : row + 4]."""

    def code(context, builder, sig, arguments):
        values = builder.load(_pointer(context, builder, sig.args[0], *arguments))
        values.align = 8
        return values

    return lanes(array, uint64), code


@intrinsic
def store(_, array, row, values):
    """Write four values to array[row : row + 4]."""

    def code(context, builder, sig, arguments):
        builder.store(arguments[2], _pointer(context, builder, sig.args[0], *arguments[:2])).align = 8
        return context.get_dummy_value()

    return void(array, uint64, lanes), code


@intrinsic
def at(_, values, lane):
    """Return the number in one lane."""
    return float64(lanes, int64), lambda context, builder, sig, arguments: builder.extract_element(*arguments)


@intrinsic
def magnitude(_, values):
    """Return absolute values."""

    def code(context, builder, sig, arguments):
        bits = builder.and_(builder.bitcast(arguments[0], _WHOLE), ir.Constant(_WHOLE, [2**63 - 1] * LANES))
        return builder.bitcast(bits, _PACKED)

    return lanes(lanes), code


@intrinsic
def where_greater(_, a, b, chosen, alternative):
    """Return `chosen` in the lanes where a > b, else `alternative`."""

    def code(context, builder, sig, arguments):
        a, b, chosen, alternative = arguments
        return builder.select(builder.fcmp_ordered(">", a, b), chosen, alternative)

    return lanes(lanes, lanes, lanes, lanes), code


@intrinsic
def only_first(_, values, count):
    """Return four values, with 0 in place of all but the first `count`."""

    def code(context, builder, sig, arguments):
        lanes_by_index = ir.Constant(_WHOLE, list(range(LANES)))
        is_first = builder.icmp_unsigned("<", lanes_by_index, _all(builder, arguments[1]))
        return builder.select(is_first, arguments[0], ir.Constant(_PACKED, [0.0] * LANES))

    return lanes(lanes, uint64), code
