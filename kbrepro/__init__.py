"""kbrepro: a reproducible replication of five papers on kernelized (Gaussian-process) bandits."""

__version__ = "0.1.0"
