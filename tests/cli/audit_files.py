"""Small input files and arguments of the audit commands."""

from __future__ import annotations

LABELS, QID = [2, 0, 0, 1, 0, 0, 0], [7, 7, 7, 8, 8, 9, 9]
SCORES = {"good": [3, 2, 1, 2, 1, 1, 1], "bad": [1, 2, 3, 1, 2, 1, 1]}
ROWS = "".join(
    f"{label} qid:{qid} 1:{good} 2:{bad} #docid = d{row}\n"
    for row, (label, qid, good, bad) in enumerate(zip(LABELS, QID, *SCORES.values(), strict=True))
)
QRELS = "".join(f"{qid} 0 d{row} {label}\n" for row, (qid, label) in enumerate(zip(QID, LABELS, strict=True)))
COMMANDS = {
    "explain": ("explain", "--a", "yahoo@3", "--b", "letor4@3"),
    "identify": ("identify", "0.6667", "--k", "3"),
    "order": ("order", "--convention", "yahoo@3", "letor4@3", "--resamples", "19"),
    "profile": ("profile", "--k", "3"),
}
