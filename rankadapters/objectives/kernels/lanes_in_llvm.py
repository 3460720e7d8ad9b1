"""What numba needs to compile `lanes`: the type of four numbers, and each operation as packed instructions."""

# ruff: noqa: ARG001, ARG005 - numba hands over more than a function needs, by these names

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, float64, int64, types, uint64, void
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import lower_builtin, models, register_model

from rankadapters.objectives.kernels.lanes import LANES

intrinsic: Any = extending.intrinsic  # typed, it would ask of callers what numba hands over
_PACKED, _WHOLE = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(ir.IntType(64), LANES)


class Lanes(types.Type):
    """The type of four float64."""

    def __init__(self) -> None:
        super().__init__(name="Lanes")


lanes = Lanes()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _PACKED)


def _define(operation, name):
    """Let an operator work lane by lane."""
    infer_global(operation)(type(name, (ConcreteTemplate,), {"cases": [signature(lanes, lanes, lanes)]}))
    lower_builtin(operation, lanes, lanes)(lambda _, builder, __, given: getattr(builder, name)(*given))


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")
_define(operator.truediv, "fdiv")


def _place(context, builder, array_type, array, row):
    """Point at four neighbours in an array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [row]), _PACKED.as_pointer())


def _all(builder, number):
    """Fill all lanes with one number."""
    packed = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    packed = builder.insert_element(packed, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(packed, packed, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


@intrinsic
def same(_, number):
    """As `lanes.same`."""
    return lanes(float64), lambda context, builder, sig, given: _all(builder, given[0])


@intrinsic
def load(_, array, row):
    """As `lanes.load`."""

    def code(context, builder, sig, given):
        found = builder.load(_place(context, builder, sig.args[0], *given))
        found.align = 8
        return found

    return lanes(array, uint64), code


@intrinsic
def store(_, array, row, values):
    """As `lanes.store`."""

    def code(context, builder, sig, given):
        builder.store(given[2], _place(context, builder, sig.args[0], *given[:2])).align = 8
        return context.get_dummy_value()

    return void(array, uint64, lanes), code


@intrinsic
def pick(_, array, rows, first):
    """As `lanes.pick`."""

    def code(context, builder, sig, given):
        array, rows = (
            context.make_array(kind)(context, builder, one).data
            for kind, one in zip(sig.args[:2], given[:2], strict=True)
        )
        found = ir.Constant(_PACKED, ir.Undefined)
        for lane in range(LANES):
            place = builder.add(given[2], ir.Constant(given[2].type, lane))
            row = builder.zext(builder.load(builder.gep(rows, [place])), ir.IntType(64))
            number = builder.load(builder.gep(array, [row]))
            found = builder.insert_element(found, number, ir.Constant(ir.IntType(32), lane))
        return found

    return lanes(array, rows, uint64), code


@intrinsic
def at(_, values, lane):
    """As `lanes.at`."""
    return float64(lanes, int64), lambda context, builder, sig, given: builder.extract_element(*given)


@intrinsic
def magnitude(_, values):
    """As `lanes.magnitude`."""

    def code(context, builder, sig, given):
        bits = builder.and_(builder.bitcast(given[0], _WHOLE), ir.Constant(_WHOLE, [2**63 - 1] * LANES))
        return builder.bitcast(bits, _PACKED)

    return lanes(lanes), code


@intrinsic
def where_greater(_, a, b, chosen, other):
    """As `lanes.where_greater`."""

    def code(context, builder, sig, given):
        a, b, chosen, other = given
        return builder.select(builder.fcmp_ordered(">", a, b), chosen, other)

    return lanes(lanes, lanes, lanes, lanes), code


@intrinsic
def only_at(_, number, lane):
    """As `lanes.only_at`."""

    def code(context, builder, sig, given):
        places = ir.Constant(_WHOLE, list(range(LANES)))
        there = builder.icmp_unsigned("==", places, _all(builder, given[1]))
        return builder.select(there, _all(builder, given[0]), ir.Constant(_PACKED, [0.0] * LANES))

    return lanes(float64, uint64), code


@intrinsic
def only_first(_, values, count):
    """As `lanes.only_first`."""

    def code(context, builder, sig, given):
        places = ir.Constant(_WHOLE, list(range(LANES)))
        kept = builder.icmp_unsigned("<", places, _all(builder, given[1]))
        return builder.select(kept, given[0], ir.Constant(_PACKED, [0.0] * LANES))

    return lanes(lanes, uint64), code
