/* A main() for the trec_eval 9.0.8 that pytrec_eval-terrier's wheel carries, for machines without the program.

   The wheel's extension holds all of trec_eval but its main file, and exports it. This loads the extension and does
   what that main file does: reads both files, calculates the measures named by -m query by query, prints the means.
   Only `-m NAME[.PARAMETERS]` (a measure or a group of them) and the two files are understood.

   cc -O2 -rdynamic -DEXTENSION='"/path/of/pytrec_eval_ext.so"' trec_eval_main.c -o trec_eval -ldl */

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The extension refers to these data of Python when it is loaded; nothing used here touches them. */
char PyExc_TypeError[4096], PyFloat_Type[4096], PySet_Type[4096], _Py_NoneStruct[4096];

/* The layout of trec_eval 9's structures. */
typedef struct {
    char *measure, *parameters;
} Argument;

typedef struct {
    long per_query, summary, debug;
    char *debug_query;
    long relational, average_complete, judged_only, collection_size, relevance_level, max_documents;
    char *qrels_format, *run_format;
    long zscores;
    Argument *arguments;
} Settings;

typedef struct {
    char *name;
    double value;
} Value;

typedef struct {
    char *query;
    long queries;
    Value *values;
    long count, reserved;
} Scores;

typedef struct {
    char *query, *run, *format;
    void *documents;
} Ranking;

typedef struct {
    long count, reserved;
    Ranking *queries;
} Run;

typedef struct {
    char *query, *format;
    void *documents;
} Judgements;

typedef struct {
    long count, reserved;
    Judgements *queries;
} Qrels;

typedef struct Measure {
    char *name, *explanation;
    int (*init)(Settings *, struct Measure *, Scores *);
    int (*calculate)(const Settings *, const Judgements *, const Ranking *, const struct Measure *, Scores *);
    int (*accumulate)(const Settings *, const struct Measure *, const Scores *, Scores *);
    int (*average)(const Settings *, const struct Measure *, const Qrels *, Scores *);
    int (*print_query)(const Settings *, const struct Measure *, const Scores *);
    int (*print_summary)(const Settings *, struct Measure *, Scores *);
    void *parameters;
    long index; /* -1: not wanted, -2: wanted, otherwise its place among the values */
} Measure;

typedef struct {
    char *name, **members;
} Group;

static void *library;

static void quit(const char *what, const char *detail) {
    fprintf(stderr, "trec_eval: %s %s\n", what, detail ? detail : "");
    exit(2);
}

static void *symbol(const char *name) {
    void *found = dlsym(library, name);
    if (!found) quit("the extension lacks", name);
    return found;
}

static int want(Measure **measures, int count, const char *name) {
    for (int m = 0; m < count; m++) {
        if (strcmp(measures[m]->name, name) == 0) {
            measures[m]->index = -2;
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    library = dlopen(EXTENSION, RTLD_LAZY | RTLD_GLOBAL);
    if (!library) quit("cannot load", dlerror());
    Measure **measures = symbol("te_trec_measures");
    const int measure_count = *(int *)symbol("te_num_trec_measures");
    const Group *groups = symbol("te_trec_measure_nicknames");
    const int group_count = *(int *)symbol("te_num_trec_measure_nicknames");
    int (*get_qrels)(Settings *, char *, Qrels *) = symbol("te_get_qrels");
    int (*get_run)(Settings *, char *, Run *) = symbol("te_get_trec_results");

    Argument *arguments = calloc((size_t)argc + 1, sizeof *arguments);
    if (!arguments) quit("out of memory", NULL);
    Settings settings = {.summary = 1, .relational = 1, .relevance_level = 1, .max_documents = LONG_MAX,
                         .qrels_format = "qrels", .run_format = "trec_results", .arguments = arguments};
    int next = 1, argument_count = 0;
    while (next + 1 < argc && strcmp(argv[next], "-m") == 0) {
        char *name = argv[next + 1], *dot = strchr(name, '.');
        if (dot) {
            *dot = '\0';
            arguments[argument_count++] = (Argument){name, dot + 1};
        }
        int found = 0;
        for (int g = 0; g < group_count && !found; g++) {
            if (strcmp(groups[g].name, name) != 0) continue;
            for (char **member = groups[g].members; *member; member++) want(measures, measure_count, *member);
            found = 1;
        }
        if (!found && !want(measures, measure_count, name)) quit("no such measure:", name);
        next += 2;
    }
    if (next + 2 != argc) quit("use: -m MEASURE ... QRELS RUN", NULL);

    Qrels qrels;
    Run run;
    if (get_qrels(&settings, argv[next], &qrels) < 0) quit("cannot read", argv[next]);
    if (get_run(&settings, argv[next + 1], &run) < 0) quit("cannot read", argv[next + 1]);

    Scores total = {.query = "all"};
    for (int m = 0; m < measure_count; m++) {
        if (measures[m]->index == -2 && measures[m]->init(&settings, measures[m], &total) < 0)
            quit("cannot prepare", measures[m]->name);
    }
    Scores scores = {.values = malloc((size_t)total.count * sizeof(Value)), .count = total.count};
    if (!scores.values) quit("out of memory", NULL);
    memcpy(scores.values, total.values, (size_t)total.count * sizeof(Value));

    for (long q = 0; q < run.count; q++) {
        const Ranking *ranking = &run.queries[q];
        long j = 0; /* from the start each time, as trec_eval does */
        while (j < qrels.count && strcmp(ranking->query, qrels.queries[j].query) != 0) j++;
        if (j == qrels.count) continue;
        for (long v = 0; v < scores.count; v++) scores.values[v].value = 0;
        scores.query = ranking->query;
        for (int m = 0; m < measure_count; m++) {
            if (measures[m]->index < 0) continue;
            if (measures[m]->calculate(&settings, &qrels.queries[j], ranking, measures[m], &scores) < 0)
                quit("cannot calculate", measures[m]->name);
        }
        for (int m = 0; m < measure_count; m++) {
            if (measures[m]->index >= 0) measures[m]->accumulate(&settings, measures[m], &scores, &total);
        }
        total.queries++;
    }
    if (total.queries == 0) quit("no query in both files", NULL);
    for (int m = 0; m < measure_count; m++) {
        if (measures[m]->index < 0) continue;
        measures[m]->average(&settings, measures[m], &qrels, &total);
        measures[m]->print_summary(&settings, measures[m], &total);
    }
    return 0;
}
