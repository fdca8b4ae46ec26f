"""Kept trials without a store: columns of numbers by (label, rule), for tests of claims."""

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
