"""ListMLE: the likelihood of a list in the order of its labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankadapters.core.data.columns import index_dtype
from rankadapters.core.data.queries import Queries
from rankadapters.core.data.rows import Rows
from rankadapters.core.kernels import dispatch
from rankadapters.core.kernels.ranking import order_within
from rankadapters.objectives.base import Objective
from rankadapters.objectives.bound_gradients import Gradients, all_rows, whole_queries
from rankadapters.objectives.kernels.list_mle import list_mle_gradients


@dataclass(frozen=True, kw_only=True)
class ListMLE(Objective):
    """ListMLE: the likelihood of the list in descending order of its labels, drawn without replacement.

    Loss of a query: -sum over places k of log(exp(s_k) / sum over the rows from k on of exp(s)). Rows of equal labels
    stand in row order, as in Rax, so that another order of rows has other gradients.

    References
    ----------
    Xia, Liu, Wang, Zhang, Li, Listwise approach to learning to rank: theory and algorithm, ICML 2008, section 4. Run:
    gradients of Rax 0.4.0 `listmle_loss` to 1e-12.

    Examples
    --------
    >>> import rankadapters as ra
    >>> ra.objectives.gradients([0, 1], [0.0, 0.0], ra.objectives.ListMLE(), group_sizes=[2])[0].tolist()
    [0.5, -0.5]
    """

    kind: ClassVar[str] = "listmle"

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Prepare for queries."""
        del state

        rows = all_rows(queries)
        order = np.empty(queries.n_docs, index_dtype(queries.n_docs))
        dispatch.run(order_within, rows.take(queries.labels), rows.indptr, order, rows=order.size)
        order = rows.order[order] if rows.order.size else order
        return whole_queries(self, queries, list_mle_gradients, Rows(order, rows.indptr), n_threads=n_threads)
