"""Every function that the page of formulas names is there."""

import re
from importlib import import_module

import pytest
from pages import page

_, PAGE = page("docs/names.md").split("## Formulas and functions")
NAMES = re.findall(r"`(kbrepro\.[\w.]+)`", PAGE)


@pytest.mark.parametrize("name", NAMES)
def test_a_function_of_the_page_is_there(name):
    module, _, thing = name.rpartition(".")
    assert callable(getattr(import_module(module), thing))


def test_every_row_names_one():
    rows = re.findall(r"(?m)^\| (?!---).+", PAGE)
    assert len(rows) - 3 == sum("`kbrepro." in row for row in rows) > 20
