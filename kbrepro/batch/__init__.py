"""Runs notebooks, keeps their results whole, makes the report, plays a reader's policy beside the papers'."""

import sys

# jsonschema, which checks notebooks, would compile grammars of internet addresses for two seconds in every process
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None bars an import
