"""The reader of results of `compare`, fed mutated files."""

from __future__ import annotations

import tempfile

from hypothesis import given

from rankadapters.compare import Results
from tests.fuzz.budget import bits, both, in_memory, share
from tests.fuzz.mutations import mutated, mutated_bytes
from tests.fuzz.plain_results import Cell, cells_of

RESULTS = [
    "method,dataset,measure,value,source,higher_is_better\na,MQ2007,MAP,0.450,paper,True\nb,MQ2007,MAP,.5e-1,,true\n",
    'method,dataset,measure,value\r\n"a, b",D1,letor4@10,0.4612\r\nb,"D ""1""",letor4@10,5.\r\nb,D1,yahoo.err,1E-3\r\n',
    "value,higher_is_better,measure,dataset,method\n\n12,False,RMSE,D1,a\n+1e2,FALSE,RMSE,D2,a\n9007199254740993,False,RMSE,D,a\n",
    "\nmethod,dataset,measure,value,higher_is_better\ra,D1,NDCG@10,-0.0,TRUE\ra,D1,ndcg@10,1e-400,True\r",
]
PIECES = [
    "MAP",
    "map",
    "letor4@10",
    "letor4@5",
    "yahoo@10",
    "NDCG@10",
    "True",
    "False",
    "value",
    "a",
    "D1",
    '"a',
    'b"',
    ",,",
]


@share(0.03)
@given(mutated_bytes(mutated(RESULTS, PIECES)))
def test_results(data):
    def read():
        with tempfile.NamedTemporaryFile(dir=in_memory()) as file:
            file.write(data)
            file.flush()
            found = Results.read(file.name)
        return [
            Cell(
                found.methods[method], found.datasets[dataset], found.measures[measure], *bits(value), decimals,
                source, found.higher[measure],
            )
            for method, dataset, measure, value, decimals, source in zip(
                found.method, found.dataset, found.measure, found.values, found.decimals, found.sources, strict=True
            )
        ]  # fmt: skip

    both(read, lambda: cells_of(data))
