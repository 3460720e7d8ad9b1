"""The engines themselves, as the other tests of this folder find them."""

from __future__ import annotations


def test_a_cluster_has_its_workers(cluster2, cluster3):
    assert [len(client.scheduler_info()["workers"]) for client in (cluster2, cluster3)] == [2, 3]


def test_spark_runs_python(spark):
    assert sorted(row.id for row in spark.range(3).mapInPandas(lambda parts: parts, "id long").collect()) == [0, 1, 2]
