"""The measures, a file for each family: the fields, the plan that the fields make, and the formula in numpy."""

from __future__ import annotations

from rankadapters.core.declaration.convention import Convention

# A line registers a measure; lists of measures have this order. `import A as A` marks A as public.
# isort: off
from rankadapters.core.measures.ndcg import NDCG as NDCG
from rankadapters.core.measures.ndcg import DCG as DCG
from rankadapters.core.measures.ap import AP as AP
from rankadapters.core.measures.auc import AUC as AUC
from rankadapters.core.measures.rr import RR as RR
from rankadapters.core.measures.precision import Precision as Precision
from rankadapters.core.measures.precision import Recall as Recall
from rankadapters.core.measures.rr import Success as Success
from rankadapters.core.measures.err import ERR as ERR
from rankadapters.core.measures.rbp import RBP as RBP
from rankadapters.core.measures.precision import RPrecision as RPrecision
from rankadapters.core.measures.precision import FMeasure as FMeasure
from rankadapters.core.measures.precision import FallOut as FallOut
from rankadapters.core.measures.filtered_dcg import FilteredDCG as FilteredDCG
from rankadapters.core.measures.rr import Coverage as Coverage
from rankadapters.core.measures.bpref import Bpref as Bpref
from rankadapters.core.measures.pair_logit import PairLogit as PairLogit
from rankadapters.core.measures.losses import QueryRMSE as QueryRMSE
from rankadapters.core.measures.losses import QuerySoftMax as QuerySoftMax
from rankadapters.core.measures.losses import QueryCrossEntropy as QueryCrossEntropy
from rankadapters.core.measures.correlations import Spearman as Spearman
from rankadapters.core.measures.correlations import Kendall as Kendall
from rankadapters.core.measures.correlations import Pearson as Pearson

# isort: on

MEASURES: dict[str, type[Convention]] = {
    measure.measure: measure
    for measure in list(globals().values())
    if isinstance(measure, type) and issubclass(measure, Convention) and measure is not Convention
}
