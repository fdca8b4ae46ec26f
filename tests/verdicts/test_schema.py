"""The published schema of claims.json, on all that are committed and on what it must refuse."""

import copy
import json
from pathlib import Path

import jsonschema
import pytest

from kbrepro.verdicts.claims import CHANGES, KINDS, VERDICTS

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "claims.schema.json").read_text(encoding="utf-8"))
COMMITTED = sorted((ROOT / "results").glob("paper/*/claims.json"))


def check(content):
    jsonschema.validate(content, SCHEMA, cls=jsonschema.Draft202012Validator)


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.parent.name)
def test_what_is_committed_fits_the_schema(path):
    check(json.loads(path.read_text(encoding="utf-8")))


def test_the_example_for_another_replication_fits_it():
    example = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8").partition("```json\n")[2].partition("```")[0]
    check(json.loads(example))
    with pytest.raises(jsonschema.ValidationError):
        check(json.loads(example.replace('"low": 0.7, ', "")))


def test_the_schema_has_the_words_of_the_rules():
    assert tuple(SCHEMA["$defs"]["verdict"]["enum"]) == VERDICTS
    assert tuple(SCHEMA["$defs"]["kind"]["enum"]) == KINDS
    assert tuple(SCHEMA["$defs"]["change"]["properties"]["direction"]["enum"]) == CHANGES["direction"]


@pytest.mark.parametrize("wrong", [{"verdict": "proved"}, {"parts": {}}, {"quote": "x" * 301}, {"opinion": "good"}])
def test_what_is_wrong_is_refused(wrong):
    content = copy.deepcopy(json.loads(COMMITTED[0].read_text(encoding="utf-8")))
    content["claims"][0] |= wrong
    with pytest.raises(jsonschema.ValidationError):
        check(content)
