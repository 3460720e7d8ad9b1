"""Which measures an objective that moves or drops rows can take."""

from __future__ import annotations

from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, DCG, ERR, NDCG, RR, FilteredDCG
from rankadapters.objectives.base import require_fixed_ideal


def require_moves(who: str, convention: object) -> None:
    """Refuse a convention whose change under a move is not known.

    Raises
    ------
    ConventionError
        It is of another measure, or has fields that say which rows are ranked or what they weigh.
    """
    if not isinstance(convention, NDCG | DCG | ERR | RR | AP):
        msg = f"{who} needs a convention of NDCG, DCG, ERR, RR or AP, not {convention}."
        raise ConventionError(f"{msg}\nHint: ra.presets.textbook(10); PFound is ra.presets.catboost.pfound(10).")
    require_fixed_ideal(who, convention)
    fields = convention.to_dict()
    for name, wanted in (("retrieve", "all"), ("pool", "queries")):
        if fields.get(name, wanted) != wanted:
            msg = f"{who} moves the rows of a query by rank, but the convention says {name}={fields[name]!r}."
            raise ConventionError(f"{msg}\nHint: convention.replace({name}={wanted!r}).")
    if convention.average == "row":
        msg = f"{who} counts rows by 1, but the convention says average='row'."
        raise ConventionError(f"{msg}\nHint: convention.replace(average='query').")


def require_filter(convention: object) -> None:
    """Refuse a convention that keeps all rows, or orders those that it keeps by their scores."""
    if not isinstance(convention, FilteredDCG):
        msg = f"StochasticFilter needs a convention of FilteredDCG, not {convention}."
        raise ConventionError(f"{msg}\nHint: ra.presets.catboost.filtered_dcg().")
    if convention.precision != "none":
        msg = f"StochasticFilter keeps rows in their own order, but precision={convention.precision!r} ranks them."
        raise ConventionError(f"{msg}\nHint: convention.replace(precision='none', ties='input').")
    if convention.retrieve == "all":
        msg = "StochasticFilter keeps rows by score, but the convention says retrieve='all'."
        raise ConventionError(f"{msg}\nHint: convention.replace(retrieve='from_0').")
