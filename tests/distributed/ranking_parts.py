"""Ranking data in partitions that lie on given workers of a Dask cluster."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ranking_data import Ranking

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")


def workers_of(client):
    return sorted(client.scheduler_info()["workers"])


def cut_at_queries(data: Ranking, n_parts: int) -> list[Ranking]:
    """Cut rows into parts of whole queries."""
    bounds = np.linspace(0, data.sizes.size, n_parts + 1).astype(int)
    return [_part(data, data.sizes[:first].sum(), data.sizes[:last].sum()) for first, last in zip(bounds, bounds[1:])]


def cut_at_rows(data: Ranking, n_parts: int) -> list[Ranking]:
    """Cut rows into parts of about one size, wherever that is in a query."""
    bounds = np.linspace(0, data.y.size, n_parts + 1).astype(int)
    return [_part(data, first, last) for first, last in zip(bounds, bounds[1:])]


def _part(data, first, last):
    qid = data.qid[first:last]
    return Ranking(data.X[first:last], data.y[first:last], qid, np.unique(qid, return_counts=True)[1])


def placed(client, parts: list[Ranking], workers=None) -> Ranking:
    """Dask arrays whose chunks are these parts, each held by the worker of its place, in turn."""
    workers = workers or workers_of(client)
    chosen = [workers[place % len(workers)] for place in range(len(parts))]

    def column(name):
        arrays = [getattr(part, name) for part in parts]
        futures = [client.scatter(array, workers=[worker], hash=False) for array, worker in zip(arrays, chosen)]
        shaped = [
            da.from_delayed(dask.delayed(future), array.shape, array.dtype) for future, array in zip(futures, arrays)
        ]
        return client.persist(da.concatenate(shaped))

    return Ranking(*(column(name) for name in Ranking._fields))
