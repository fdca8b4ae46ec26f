"""nbval starts its kernels as `kbrepro refresh` does, whatever is set around them."""

import os
from pathlib import Path


def pytest_configure(config):
    if config.option.nbval:
        from kbrepro.batch import run

        os.environ.update(run.without_data(Path(__file__).parent))
