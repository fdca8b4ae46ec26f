"""Chowdhury and Gopalan (2017), IGP-UCB and GP-TS: problems of known norm, widths, noise."""
