"""Compare each toolkit's own value with ours, and print one declared NDCG for all, as `rankadapters parity` does."""

import rankadapters as ra

train, test = ra.datasets.mq2008_like(random_state=0)
declared = ra.presets.letor4(10)
report = ra.parity.crosscheck_models(train, test, k=10, convention=declared)

for row in report.rows:
    if row.native_value is None:
        print(f"{row.model:30} {row.note}")
    else:
        print(f"{row.model:30} {row.native_value:.4f} by {row.toolkit}, {row.declared[str(declared)]:.4f} as declared")
print("parity holds" if report.ok else "parity fails")
