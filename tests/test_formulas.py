"""Every function that the page of formulas names is there."""

import re
from importlib import import_module

import pytest
from pages import page

PAGE = page("docs/formulas.md")
NAMES = re.findall(r"`(kbrepro\.[\w.]+)`", PAGE)


@pytest.mark.parametrize("name", NAMES)
def test_a_function_of_the_page_is_there(name):
    module, _, thing = name.rpartition(".")
    assert callable(getattr(import_module(module), thing))


def test_every_row_names_one():
    rows = [
        line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| ---")
    ]
    assert len(rows) - 3 == sum("`kbrepro." in row for row in rows) > 20
