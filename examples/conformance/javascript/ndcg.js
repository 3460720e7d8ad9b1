// NDCG as sklearn@10 declares it, except that one-document queries have a value: linear gains, tied rows share their
// discounts, 0 where nothing is relevant. Answers the questions of `rankadapters conformance check --command`.
"use strict";

function discountOf(rank, k) {
  return k === null || rank <= k ? 1 / Math.log2(rank + 1) : 0;
}

function dcg(labels, scores, k) {
  const order = labels.map((_, row) => row).sort((a, b) => scores[b] - scores[a]);
  let sum = 0;
  for (let first = 0; first < order.length; ) {
    let gains = 0, discounts = 0, last = first;
    for (; last < order.length && scores[order[last]] === scores[order[first]]; last++) {
      gains += labels[order[last]];
      discounts += discountOf(last + 1, k);
    }
    sum += (gains * discounts) / (last - first);
    first = last;
  }
  return sum;
}

function ndcg(query, k) {
  const ideal = dcg(query.labels, query.labels, k);
  return ideal === 0 ? 0 : dcg(query.labels, query.scores, k) / ideal;
}

function answer(question) {
  if (question.queries.some((query) => query.labels.some((label) => label < 0))) {
    return { id: question.id, error: "labels below 0" };
  }
  const values = question.queries.map((query) => ndcg(query, question.k));
  return { id: question.id, value: values.reduce((a, b) => a + b, 0) / values.length };
}

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n"));
