"""Drop-in replacements for other evaluation tools.

`trec_eval` is the command behind `goodgain trec-eval`; `pytrec_eval` and `ir_measures` have the names and the
numbers of those packages, so that code written for them only changes one import.
"""
