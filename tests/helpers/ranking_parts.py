"""Rankings cut into parts, and placed on chosen workers of a Dask cluster."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import Ranking

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")


def workers_of(client):
    """Return the sorted addresses of the workers.

    `client.scheduler_info()` now and then has no workers: the client replaces it every two seconds by one without them.
    """
    return sorted(client.nthreads())


def cut_at_queries(data: Ranking, n_parts: int) -> list[Ranking]:
    """Cut rows into parts of whole queries."""
    bounds = np.linspace(0, data.sizes.size, n_parts + 1).astype(int)
    rows = [data.sizes[:bound].sum() for bound in bounds]
    return [_part(data, first, last) for first, last in pairwise(rows)]


def cut_at_rows(data: Ranking, n_parts: int) -> list[Ranking]:
    """Cut rows into parts of about equal size; a part may end within a query."""
    bounds = np.linspace(0, data.y.size, n_parts + 1).astype(int)
    return [_part(data, first, last) for first, last in pairwise(bounds)]


def _part(data, first, last):
    qid = data.qid[first:last]
    return Ranking(data.X[first:last], data.y[first:last], qid, ra.Queries(data.y[first:last], qid=qid).group_sizes)


def scatter_parts(client, parts: list[Ranking], workers=None) -> Ranking:
    """Return Dask arrays whose chunks are the parts, placed on the workers in turn."""
    workers = workers or workers_of(client)

    def place(array, index):
        future = client.scatter(array, workers=[workers[index % len(workers)]], hash=False)
        return da.from_delayed(dask.delayed(future), array.shape, array.dtype)

    def column(name):
        chunks = [place(getattr(part, name), index) for index, part in enumerate(parts)]
        return client.persist(da.concatenate(chunks))

    return Ranking(*(column(name) for name in Ranking._fields))
