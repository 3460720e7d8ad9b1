/* NDCG as lightgbm@10 declares it: gains 2^label - 1, tied rows in the order of input, 1 where nothing is relevant.
   Answers the questions of `rankadapters conformance check --command`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 4096
#define MOST_TEXT (1 << 20)

typedef struct {
    double label, score;
    int row;
} Document;

static int by_score(const void *a, const void *b) {
    const Document *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return x->row - y->row;
}

static int by_label(const void *a, const void *b) {
    double x = ((const Document *)a)->label, y = ((const Document *)b)->label;
    return (x < y) - (x > y);
}

static double dcg(const Document *documents, int n, int k) {
    double sum = 0;
    for (int i = 0; i < n && (k == 0 || i < k); i++) sum += (exp2(documents[i].label) - 1) / log2(i + 2.0);
    return sum;
}

static double ndcg(Document *documents, int n, int k) {
    qsort(documents, n, sizeof *documents, by_label);
    double ideal = dcg(documents, n, k);
    qsort(documents, n, sizeof *documents, by_score);
    return ideal == 0 ? 1 : dcg(documents, n, k) / ideal;
}

/* Reads the numbers of the list that follows a key, and moves the text behind it. */
static int numbers(char **text, const char *key, double *values) {
    int n = 0;
    char *at = strchr(strstr(*text, key), '[') + 1;
    while (*at != ']') {
        if (n < MOST_ROWS) values[n++] = strtod(at, &at);
        while (*at == ',' || *at == ' ') at++;
    }
    *text = at;
    return n;
}

int main(void) {
    static char line[MOST_TEXT];
    static double labels[MOST_ROWS], scores[MOST_ROWS];
    static Document documents[MOST_ROWS];
    while (fgets(line, sizeof line, stdin)) {
        int id = atoi(strstr(line, "\"id\":") + 5), k = atoi(strstr(line, "\"k\":") + 4), n_queries = 0, whole = 1;
        double sum = 0;
        for (char *at = line; strstr(at, "\"labels\""); n_queries++) {
            int n = numbers(&at, "\"labels\"", labels);
            numbers(&at, "\"scores\"", scores);
            for (int i = 0; i < n; i++) {
                documents[i] = (Document){labels[i], scores[i], i};
                whole = whole && labels[i] >= 0 && labels[i] == floor(labels[i]);
            }
            sum += ndcg(documents, n, k);
        }
        if (whole)
            printf("{\"id\": %d, \"value\": %.17g}\n", id, sum / n_queries);
        else
            printf("{\"id\": %d, \"error\": \"labels have to be whole numbers from 0 on\"}\n", id);
        fflush(stdout);
    }
    return 0;
}
