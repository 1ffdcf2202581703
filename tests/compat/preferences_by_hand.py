"""trec_eval's preference measures once more, pair by pair, from their descriptions."""

from __future__ import annotations

import math
from itertools import combinations, product


def preferences(subgroups):
    """Counter of (preferred, other) of one group; closed under transitivity if it has several subgroups."""
    pairs: dict[tuple[str, str], int] = {}
    for rows in subgroups.values():
        for (one, high), (other, low) in product(rows, rows):
            if high > low:
                pairs[one, other] = pairs.get((one, other), 0) + 1
    if len(subgroups) == 1:
        return pairs
    pairs = dict.fromkeys(pairs, 1)
    docs = {doc for pair in pairs for doc in pair}
    for middle in docs:  # Floyd and Warshall
        for one, other in product(docs, docs):
            if one != other and (one, middle) in pairs and (middle, other) in pairs:
                pairs[one, other] = 1
    return pairs


class Run:
    """Where a preference stands: both retrieved, one of them, or none; fulfilled or not."""

    def __init__(self, ranking, judged):
        self.rank = {d: i for i, d in enumerate(d for d in ranking if d in judged)}
        self.last = {d: i for i, d in enumerate(sorted(judged - set(self.rank)), len(self.rank))}

    def place(self, doc):
        return self.rank.get(doc, self.last.get(doc))

    def fulfilled(self, one, other):
        return one in self.rank and (other not in self.rank or self.rank[one] < self.rank[other])

    def counted(self, one, other, variant):
        retrieved = (one in self.rank) + (other in self.rank)
        return retrieved >= {"": 0, "_imp": 1, "_ret": 2}[variant]


def values(groups, ranking):
    judged = {d for subgroups in groups.values() for rows in subgroups.values() for d, _ in rows}
    run = Run(ranking, judged)
    by_group = [preferences(groups[g]) for g in sorted(groups)]
    result = {}
    for variant in ("", "_ret", "_imp"):
        shares, done, all_done, all_there = [], 0, 0, 0
        for pairs in by_group:
            there = sum(n for p, n in pairs.items() if run.counted(*p, variant))
            done = sum(
                n for p, n in pairs.items() if run.counted(*p, variant) and run.fulfilled(*p)
            )
            shares.append(done / there if there else 0.0)
            all_done, all_there = all_done + done, all_there + there
        result[f"prefs_simp{variant}"] = all_done / all_there if all_there else 0.0
        result[f"prefs_avgjg{variant}"] = sum(shares) / len(shares)
        if variant != "_imp":
            result[f"prefs_num_prefs_ful{variant}"] = all_done
            result[f"prefs_avgjg_Rnonrel{variant}"] = balanced(groups, by_group, run, variant)
        if not variant:
            result["prefs_num_prefs_poss"] = all_there
        result[f"prefs_pair{variant}"] = over_pairs(by_group, judged, run, variant)
    return result


def over_pairs(by_group, judged, run, variant):
    shares = []
    for one, other in combinations(judged, 2):
        ahead = sum(pairs.get((one, other), 0) for pairs in by_group)
        behind = sum(pairs.get((other, one), 0) for pairs in by_group)
        if ahead + behind and run.counted(one, other, variant):
            good = ahead * run.fulfilled(one, other) + behind * run.fulfilled(other, one)
            shares.append(good / (ahead + behind))
    return math.fsum(shares) / len(shares) if shares else 0.0


def balanced(groups, by_group, run, variant):
    """With R nonrelevant documents in a group of R relevant ones; a group without any pair makes it 0."""
    total = 0.0
    for name, pairs in zip(sorted(groups), by_group, strict=True):
        subgroups = groups[name]
        rows = [row for subgroup in sorted(subgroups) for row in subgroups[subgroup]]
        if len(subgroups) > 1:
            rows = list(dict(rows).items())
        inside = [(d, v) for d, v in rows if variant != "_ret" or d in run.rank]
        relevant = sum(v > 0 for _, v in inside)
        nonrelevant = len(inside) - relevant
        if relevant >= nonrelevant:
            chosen = {p: n for p, n in pairs.items() if run.counted(*p, variant)}
            added = relevant - nonrelevant
            good = sum(n for p, n in chosen.items() if run.fulfilled(*p))
            good += added * sum(v > 0 for d, v in rows if d in run.rank)
            there = sum(chosen.values()) + added * sum(v > 0 for _, v in rows)
        else:
            good, there = recounted(subgroups, pairs, rows, run, variant, relevant)
        total += good / there if there else math.nan
    return total / len(groups) if total > 0 else 0.0


def recounted(subgroups, pairs, rows, run, variant, relevant):
    by_place = sorted(rows, key=lambda row: run.place(row[0]))
    zero = [d for d, v in by_place if v <= 0]
    if len(subgroups) > 1:
        limit = sum(v > 0 for _, v in rows)  # of all, also for _ret
        listed = [d for d in zero if variant != "_ret" or d in run.rank]
        dropped = set(listed[limit:])
        chosen = [p for p in pairs if not dropped & set(p) and run.counted(*p, variant)]
        return sum(run.fulfilled(*p) for p in chosen), len(chosen)
    few = [d for d in zero[:relevant] if variant != "_ret" or d in run.rank]
    docs = [(d, v) for d, v in rows if variant != "_ret" or d in run.rank]
    listed = [(a, b) for (a, high), (b, low) in product(docs, docs) if high > low > 0]
    listed += [(a, b) for (a, _), b in product(docs, few)]  # nonrelevant ones among each other, too
    good = sum(a in run.rank and run.place(a) < run.place(b) for a, b in listed)
    return good, len(listed)
