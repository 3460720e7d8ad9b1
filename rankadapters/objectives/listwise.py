"""Listwise objectives: XE-NDCG, ListNet, QuerySoftMax, QueryRMSE, QueryCrossEntropy, ListMLE."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from rankadapters.core.arrays import Array
from rankadapters.core.data.columns import index_dtype, refused_label
from rankadapters.core.data.queries import Queries, Rows
from rankadapters.core.declaration.fields import Field, Range
from rankadapters.core.ranking.jit import writable
from rankadapters.core.ranking.ordering import order_within
from rankadapters.objectives.base import Objective
from rankadapters.objectives.bound_gradients import Floats32, Gradients, all_rows, kernel_order
from rankadapters.objectives.kernels.listwise import (
    list_mle_gradients,
    query_cross_entropy_gradients,
    query_rmse_gradients,
    softmax_gradients,
    target_softmax,
    xendcg_gradients,
)


class Listwise(Objective):
    """Base class of objectives whose kernel takes whole queries and does not rank their rows.

    The kernel is called as `kernel(scores, order, indptr, [generators,] *settings, grad, hess)`.
    """

    labels: ClassVar[tuple[float, float]] = -np.inf, np.inf  # the lowest and the highest label that is allowed

    @abstractmethod
    def _kernel(self, queries: Queries, rows: Rows) -> tuple[Any, ...]:
        """Return the kernel and its settings."""

    def _rows(self, queries: Queries) -> Rows:
        """Return the rows in the order in which the kernel reads them."""
        return all_rows(queries)

    def _generators(self, n_queries: int) -> Array | None:
        """Return the states of the queries' random number generators, which the kernel advances; None without any."""
        del n_queries
        return None

    def bind(self, queries: Queries, *, n_threads: int | None = None, state: Any = None) -> Gradients:
        """Bind to queries."""
        low, high = self.labels
        outside = (queries.labels < low) | (queries.labels > high)
        if outside.any():
            why = f"but the objective takes labels from {low:g} to {high:g}"
            raise refused_label(queries.labels, outside, why, "map your labels")
        rows, states = self._rows(queries), self._generators(queries.n_queries)
        states = states if states is None or state is None else state
        kernel, *settings = self._kernel(queries, rows)
        order, indptr = kernel_order(rows), writable(rows.indptr)

        def run(scores: Array, grad: Floats32, hess: Floats32, first: int, last: int) -> Iterator[int]:
            generators = () if states is None else (states[first:last],)
            yield int(kernel(scores, order, indptr[first : last + 1], *generators, *settings, grad, hess))

        return Gradients(self, queries, run, n_threads=n_threads, state=states)


@dataclass(frozen=True, kw_only=True)
class XENDCG(Listwise):
    """XE-NDCG: cross entropy against randomized gains, a convex bound of NDCG. Its gradient has third-order terms.

    Let phi_i = 2^floor(label_i) - u_i, with u_i uniform in [0, 1) and drawn anew each round, and rho = softmax(s). With
    t1 = rho - phi / sum(phi), p1 = t1 / (1 - rho), t2 = rho (sum(p1) - p1), p2 = t2 / (1 - rho) and t3 = rho (sum(p2) -
    p2), the gradient is t1 + t2 + t3 and the hessian rho (1 - rho); 0 for a query of one row.

    Parameters
    ----------
    seed
        Query i draws from LightGBM's generator with the seed `seed + i`.

    Raises
    ------
    InputError
        On binding: a label is negative or above 1000.

    References
    ----------
    Bruch, An Alternative Cross Entropy Loss for Learning-to-Rank, WWW 2021, arXiv:1911.09798.
    LightGBM 4.7.0, src/objective/rank_objective.hpp, `RankXENDCG`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> grad, _ = ra.objectives.gradients([1, 0], [0.0, 0.0], ra.objectives.lightgbm.xendcg(), group_sizes=[2])
    >>> bool(grad[0] < 0 < grad[1])
    True
    """

    kind: ClassVar[str] = "xendcg"
    labels: ClassVar[tuple[float, float]] = 0, 1000

    seed: Annotated[
        int, Field(group="value", about="Seed of the first query.", numbers=Range(0, 2**31 - 1, whole=True))
    ]

    def _kernel(self, queries: Queries, rows: Rows) -> tuple[Any, ...]:
        return xendcg_gradients, rows.take(np.exp2(np.floor(queries.labels)))

    def _generators(self, n_queries: int) -> Array:
        return ((self.seed + np.arange(n_queries)) & 0xFFFFFFFF).astype(np.uint32)


@dataclass(frozen=True, kw_only=True)
class ListNet(Listwise):
    """ListNet: cross entropy between softmax(labels) and softmax(scores), the top-one probabilities.

    Loss of a query: -sum softmax(labels)_i log softmax(s)_i; gradient softmax(s) - softmax(labels).

    References
    ----------
    Cao et al., Learning to Rank: From Pairwise Approach to Listwise Approach, ICML 2007, section 4.3.

    Examples
    --------
    >>> import rankadapters as ra
    >>> ra.objectives.gradients([0, 0], [0.0, 0.0], ra.objectives.ListNet(), group_sizes=[2])[0].tolist()
    [0.0, 0.0]
    """

    kind: ClassVar[str] = "listnet"

    def _kernel(self, queries: Queries, rows: Rows) -> tuple[Any, ...]:
        targets = np.empty(queries.n_docs)
        target_softmax(writable(queries.labels), kernel_order(rows), writable(rows.indptr), targets)
        return softmax_gradients, targets, 1.0, 0.0


@dataclass(frozen=True, kw_only=True)
class QuerySoftMax(Listwise):
    """CatBoost's QuerySoftMax: cross entropy of softmax(beta s) against the labels, which are not normalized.

    Loss of a query: -sum label_i log softmax(beta s)_i. With L the sum of its labels, the gradient is beta (L softmax_i
    - label_i) and the hessian beta L (beta softmax_i (1 - softmax_i) + ridge). A query without a positive label has no
    gradient.

    Parameters
    ----------
    ridge
        CatBoost's `lambda`.

    Raises
    ------
    InputError
        On binding: a label is negative or above 1e30.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.cpp, `TQuerySoftMaxError`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> ra.objectives.gradients([1, 0], [0.0, 0.0], "catboost.query_soft_max", group_sizes=[2])[0].tolist()
    [-0.5, 0.5]
    """

    kind: ClassVar[str] = "query-soft-max"
    labels: ClassVar[tuple[float, float]] = 0, 1e30

    beta: Annotated[float, Field(group="value", about="Scale of the scores.", numbers=Range(0, above=True))]
    ridge: Annotated[float, Field(group="value", about="Added to each second derivative.", numbers=Range(0, 1))]

    def _kernel(self, queries: Queries, rows: Rows) -> tuple[Any, ...]:
        return softmax_gradients, rows.take(queries.labels), self.beta, self.ridge


@dataclass(frozen=True, kw_only=True)
class QueryRMSE(Listwise):
    """CatBoost's QueryRMSE: squared error after each query's best constant shift of the scores.

    Loss of a query: sum (s_i - label_i - mean(s - label))^2 / 2. The gradient is the term in brackets, the hessian 1.

    References
    ----------
    CatBoost 1.2.10, catboost/private/libs/algo_helpers/error_functions.h, `TQueryRmseError`.

    Examples
    --------
    >>> import rankadapters as ra
    >>> ra.objectives.gradients([1, 0], [5.0, 5.0], ra.objectives.QueryRMSE(), group_sizes=[2])[0].tolist()
    [-0.5, 0.5]
    """

    kind: ClassVar[str] = "query-rmse"

    def _kernel(self, queries: Queries, rows: Rows) -> tuple[Any, ...]:
        return query_rmse_gradients, rows.take(queries.labels)


@dataclass(frozen=True, kw_only=True)
class QueryCrossEntropy(Listwise):
    """CatBoost's QueryCrossEntropy: log loss, mixed with the log loss after each query's best shift of the scores.

    Loss of a query: sum of (1 - alpha) l(label_i, s_i) + alpha l(label_i, s_i + c). Here l is the log loss of the
    logistic function, and c in [-20, 20] is the shift that minimizes the second part; inside this range, the shifted
    probabilities add up to the sum of the labels. The second part is dropped if all labels of a query are within 1e-5
    of its first label in float32.

    Raises
    ------
    InputError
        On binding: a label is outside [0, 1].

    References
    ----------
    CatBoost, "Ranking: objectives and metrics", QueryCrossEntropy; catboost/cuda/targets/kernel/query_cross_entropy.cu,
    whose training uses 1e-5, while the metric in catboost/libs/metrics/metric.cpp uses 1e-20. Run: derivatives equal
    to differences of the metric of 1.2.10.

    Examples
    --------
    >>> import rankadapters as ra
    >>> value = ra.objectives.QueryCrossEntropy(alpha=1)
    >>> ra.objectives.gradients([1, 0], [7.0, 7.0], value, group_sizes=[2])[0].round(6).tolist()
    [-0.5, 0.5]
    """

    kind: ClassVar[str] = "query-cross-entropy"
    labels: ClassVar[tuple[float, float]] = 0, 1

    alpha: Annotated[float, Field(group="value", about="Share of the shifted part.", numbers=Range(0, 1))]

    def _kernel(self, queries: Queries, rows: Rows) -> tuple[Any, ...]:
        return query_cross_entropy_gradients, rows.take(queries.labels), self.alpha


@dataclass(frozen=True, kw_only=True)
class ListMLE(Listwise):
    """ListMLE: likelihood of sampling rows without replacement in descending order of their labels.

    Loss of a query: -sum over positions k of log(exp(s_k) / sum of exp(s) over the rows from k on). Rows of equal
    labels keep their row order, as in Rax, so gradients depend on the order of your rows.

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

    def _kernel(self, queries: Queries, rows: Rows) -> tuple[Any, ...]:
        del queries, rows
        return (list_mle_gradients,)

    def _rows(self, queries: Queries) -> Rows:
        rows = super()._rows(queries)
        order = order_within(-rows.take(queries.labels), rows.indptr).astype(index_dtype(queries.n_docs))
        row_order = kernel_order(rows)
        return Rows(row_order[order] if row_order.size else order, rows.indptr)
