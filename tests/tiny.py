"""Kept trials and figures without a store: columns of numbers, for tests of claims."""

import numpy as np


class Columns:
    """What `Kept` has of it that tables ask for: one statistic."""

    def __init__(self, **labels):
        self.labels = {
            label: {rule: np.array(values, float) for rule, values in rules.items()}
            for label, rules in labels.items()
        }

    def column(self, label, rule, statistic):
        assert statistic == "total"
        return self.labels[label][rule]

    def loaded(self, load):
        return load(self)


class Shown:
    """What a figure shows in one experiment, by rule and statistic, as predicates ask for it."""

    def __init__(self, columns, axis=1.0):
        self.columns, self.axis = columns, axis

    def __call__(self, rule, statistic="total"):
        return np.array([self.columns[rule, statistic]], float)

    def __getitem__(self, rule):
        return self(rule)
