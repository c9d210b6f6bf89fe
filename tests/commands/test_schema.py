from __future__ import annotations

import json

from typer.testing import CliRunner

from rag_guard.cli import app
from rag_guard.schema import Report, Status


def test_schema_names_every_field_and_status_of_a_report() -> None:
    result = CliRunner().invoke(app, ["schema"])
    schema = json.loads(result.stdout)
    assert result.exit_code == 0
    assert set(schema["properties"]) == set(Report.model_fields)
    assert schema["$defs"]["Status"]["enum"] == [status.value for status in Status]


def test_schema_of_an_example() -> None:
    schema = json.loads(CliRunner().invoke(app, ["schema", "--example"]).stdout)
    assert set(schema["properties"]) == {"answer", "documents", "question", "id"}
    assert schema["required"] == ["answer"]
