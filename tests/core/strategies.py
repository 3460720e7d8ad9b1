"""Generated conventions."""

from __future__ import annotations

from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.fields import CHOICES

GAINS = ("exp2", "exp2-floor", "linear", "linear-positive", "table_0_1_3_7", "table_1_2_2.5_1e+30")


@st.composite
def conventions(draw: st.DrawFn, *, lenient: bool = False) -> ra.Convention:
    """Any convention; a lenient one has no policy `error`."""
    policies = {name: [c for c in CHOICES[name] if c != "error" or not lenient] for name in ("missing", "unjudged")}
    fields = {name: draw(st.sampled_from(CHOICES[name])) for name in ("discount", "ties", "precision", "short")}
    fields |= {name: draw(st.sampled_from(values)) for name, values in policies.items()}
    fields["k"] = draw(st.sampled_from([None, 1, 2, 3, 5, 10, 13, 29, 1000]))
    fields["gain"] = draw(st.sampled_from(GAINS))
    if draw(st.booleans()):
        return ra.DCG(**fields, average=draw(st.sampled_from(["uniform", "query"])))
    empty = draw(st.one_of(st.floats(0, 1), st.sampled_from([0, 1, "skip", *([] if lenient else ["error"])])))
    average, ideal = draw(st.sampled_from(CHOICES["average"])), draw(st.sampled_from(CHOICES["ideal"]))
    return ra.NDCG(**fields, empty=empty, average=average, ideal=ideal)
