"""Compare each toolkit's own value with ours, and print one declared NDCG for all, as `rankadapters parity` does."""

import rankadapters as ra

train, test = ra.datasets.mq2008_like(random_state=0)
declared = ra.presets.letor4(10)
report = ra.parity.crosscheck_models(train, test, k=10, convention=declared)

for row in report.rows:
    if row.value is None:
        print(f"{row.source:10}  {row.reason}")
    else:
        print(f"{row.source:10}  {row.value:.4f}, {row.declared[str(declared)]:.4f} under {declared.name}")
print("parity holds" if report.ok else "parity fails")
