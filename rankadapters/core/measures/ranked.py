"""Fields that ranked measures share, the classes that declare them, and the plan of sums over ranks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np

from rankadapters.core.arrays import Flags, Floats
from rankadapters.core.binding.lowering import Binding, kept
from rankadapters.core.binding.plans import Plan
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import Cutoff, Field, Range, border, gain_table, label_threshold, spell_number
from rankadapters.core.declaration.fields import Gain as GainField
from rankadapters.core.errors import ConventionError
from rankadapters.core.ranking.ranks import Ranks

TIES = Field(
    group="ranking",
    about="The order of rows with equal scores.",
    rarity=5,
    words={
        "input": "the order of the input",
        "reverse": "the reverse of the input",
        "average": "the expectation over all orders of the tied rows (McSherry and Najork 2008)",
        "worst": "lowest gain first, or irrelevant rows first",
        "best": "highest gain first, or relevant rows first",
        "docid-descending": "by the document ids' UTF-8 bytes, the last first; needs `docid=`",
        "docid-ascending": "by the document ids' UTF-8 bytes; needs `docid=`",
        "together": "all rows of a tie are retrieved at once, at the tie's last rank",
    },
    needs={"docid-descending": "docid", "docid-ascending": "docid"},
)
PRECISION = Field(
    group="ranking",
    about="In which precision scores are compared, which decides what is a tie.",
    rarity=6,
    words={"float64": "as given, in double precision", "float32": "rounded to single precision first"},
)
SHORT = Field(
    group="policy",
    about="A query with fewer than `k` retrieved rows.",
    rarity=7,
    words={"pad": "counts as the formula has it", "zero": "counts 0", "skip": "is left out"},
)
EMPTY = Field(
    group="policy",
    about="A query that has nothing to find (no relevant row, or an ideal DCG of at most 0).",
    rarity=1,
    numbers=Range(0, 1),
    words={"skip": "it is left out", "error": "it is an error"},
    tried=(0.0, 0.5, 1.0, "skip"),
)
MISSING = Field(
    group="retrieval",
    about="A judged query of which nothing was retrieved.",
    rarity=2,
    words={"zero": "counts 0", "skip": "is left out", "error": "is an error"},
    tried=("zero", "skip"),
    column="retrieved",
)
UNJUDGED = Field(
    group="retrieval",
    about="A retrieved row without a judgment.",
    rarity=4,
    words={
        "zero": "has gain 0",
        "drop": "is dropped before ranking",
        "drop-negative": "is dropped before ranking, and so is a row with a label below 0, which TREC's tools take for "
        "unjudged",
        "error": "is an error",
    },
    tried=("zero", "drop"),
    column="judged",
    active=("drop-negative",),
)
GRADED = replace(
    UNJUDGED,
    numbers=Range(0, 1023),  # 2^1024 overflows float64
    meaning="has that label in the ranking, and no place in an ideal list of all judged rows",
    tried=(*UNJUDGED.tried, 1.0),
)
CUTOFF = Cutoff(group="head", about="Only ranks 1..k count; under `None` all ranks do.")
GAIN = GainField(
    group="value",
    about="Gain of a label y (negative labels are an error under `exp2`, `exp2-floor` and tables).",
    rarity=0,
    words={
        "exp2": "2^y - 1",
        "exp2-floor": "2^floor(y) - 1",
        "linear": "y",
        "linear-positive": "max(y, 0)",
    },
    numbered={"from": "1 for y >= B, else 0"},
    tried=("exp2", "exp2-floor", "linear", "linear-positive", "table_0_1_3", "table_0_1_3_7_15"),
    further=("from_1",),
)
DISCOUNT = Field(
    group="value",
    about="Factor of the gain at rank i.",
    rarity=8,
    words={
        "log2": "1 / log2(i + 1)",
        "jk2": "1 for i = 1, 1 / log2(i) from i = 2 on (Järvelin and Kekäläinen 2002 with b = 2, which LETOR uses)",
        "reciprocal": "1 / i",
    },
    numbered={"power": "B^(i - 1)", "log": "1 / log_B(i + 1)"},
    ranges={"power": Range(0, 1, above=True), "log": Range(1, above=True)},
    tried=("log2", "jk2", "reciprocal"),
    further=("log_2.718281828459045", "log_10"),
)
RELEVANT = Field(
    group="value",
    about="Which rows are relevant, by their label y.",
    words={},
    numbered={"above": "y > B", "from": "y >= B"},
    tried=("above_0", "above_0.5", "from_1", "from_2"),
    further=("above_1", "above_2", "above_3", "from_3", "from_4"),
)
RETRIEVE = Field(
    group="ranking",
    about="Which rows enter the ranking, by their score s; the number of rows retrieved counts all the same.",
    words={"all": "every row"},
    numbered={"above": "s > B", "from": "s >= B"},
    tried=("all",),
)

K = Annotated[int | None, CUTOFF]
Gain = Annotated[str, GAIN]
Discount = Annotated[str, DISCOUNT]
Relevant = Annotated[str, RELEVANT]
Retrieve = Annotated[str, RETRIEVE]
Ties = Annotated[
    Literal["input", "reverse", "average", "worst", "best", "docid-descending", "docid-ascending"], TIES
]  # fmt: skip
Precision = Annotated[Literal["float64", "float32"], PRECISION]
Short = Annotated[Literal["pad", "zero", "skip"], SHORT]
Empty = Annotated[float | Literal["skip", "error"], EMPTY]
Missing = Annotated[Literal["zero", "skip", "error"], MISSING]
Unjudged = Annotated[Literal["zero", "drop", "drop-negative", "error"], UNJUDGED]
Graded = Annotated[float | Literal["zero", "drop", "drop-negative", "error"], GRADED]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked(Convention):
    """Base class of the measures of the ranks 1..k."""

    k: K
    ties: Annotated[str, TIES]
    precision: Precision
    short: Short
    missing: Missing
    unjudged: Unjudged

    def unify(self) -> None:
        """Without a cutoff, no query is short."""
        if self.k is None:
            self._set("short", "pad")
        Convention.unify(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Discounted(Ranked):
    """Base class of the measures that multiply gains by discounts of their ranks."""

    gain: Gain
    discount: Discount
    ties: Ties
    unjudged: Graded  # type: ignore[assignment]  # allows numbers too

    def unify(self) -> None:
        """Call `log_2` `log2`, and an `unjudged` label of gain 0 `zero`; refuse a label outside the gain table.

        Under `gain="from_B"` all `unjudged` labels of gain 1 become the smallest one.
        """
        if self.discount == "log_2":
            self._set("discount", "log2")
        if isinstance(self.unjudged, float):
            gains, gain, level = gain_table(self.gain), self.unjudged, border(self.gain)
            if gains:
                if gain >= len(gains) or not gain.is_integer():
                    msg = f"unjudged={spell_number(gain)} is a label outside the gain table of {self.gain}"
                    raise ConventionError(f"{msg}.", hint=f"a whole number below {len(gains)}, or another gain")
                gain = gains[int(gain)]
            elif level is not None:
                _, least = label_threshold(self.gain) or level
                gain = float(gain >= least)
                self._set("unjudged", max(level[1], 0.0) if gain else "zero")
            if gain == 0 or (self.gain == "exp2-floor" and gain < 1):
                self._set("unjudged", "zero")
        Ranked.unify(self)  # a bare super() fails, since slots=True makes a new class


DEGREE = replace(
    RELEVANT,
    words={"label": "every row, as much as its label says", "judged": "every row that is judged"},
    tried=(*RELEVANT.tried, "label"),
    further=(),
)
Degree = Annotated[str, DEGREE]


@kept
def degrees(binding: Binding, relevant: str) -> Floats:
    """Return the degree of relevance of every row, in the caller's order."""
    if relevant == "label":
        return binding.labels
    if relevant == "judged":
        judged = binding.queries.judged
        return binding.row_ones if judged is None else judged.astype(float)
    return binding.relevance(relevant)


@kept
def irrelevance(binding: Binding, relevant: str, least: float) -> Floats:
    """Return 1 for every judged row of a label from `least` on that is not relevant, else 0, in the caller's order."""
    judged = binding.queries.judged
    counts = (binding.labels >= least) & (True if judged is None else judged)
    irrelevant: Floats = (counts & (binding.relevance(relevant) == 0)).astype(float)
    return irrelevant


def weighted_sums(ranks: Ranks, column: Floats, weights: Floats, divisor: Floats) -> Floats:
    """Return the sum of column x weight over the ranks of each query, divided by a number of the query."""
    return ranks.discounted_sums(column, weights) / divisor


def plan(
    convention: Any, binding: Binding, column: Floats, *, divisor: Floats, empty: Flags, weights: Floats | None = None,
    by: Floats | None = None,
) -> Plan:  # fmt: skip
    """Return the plan of sum over ranks 1..k of column x weight / divisor; without `weights` every rank weighs 1.

    The value is 0 where the divisor is 0. If the convention is pooled, the plan divides only the sums of all queries,
    and a query is empty if its divisor is 0.
    """
    discounts = binding.discounts("power_1", binding.cutoff(convention.k)) if weights is None else weights
    mass, divided = (divisor, binding.query_ones) if convention.pooled else (None, divisor)
    empty = empty if mass is None else mass <= 0
    return binding.plan(
        convention, weighted_sums, empty=empty, by=by, by_rank={"weights": discounts},
        by_query={"divisor": np.where(empty | (divided <= 0), 1.0, divided)}, column=column, only_sums=True, mass=mass,
    )  # fmt: skip
