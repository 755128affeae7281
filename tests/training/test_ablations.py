"""The command that runs the ablations and writes their table."""

import json
import sys

from validation import ablations

SMALL = """
[base]
steps = 3
rate = 1e-2
grid = 32
batch = 3
validations = 1
validation_count = 3

[base.network]
architecture = "unet"
widths = [4, 8]
blocks = 1

[runs.multi-budget]

[runs.lifted.inputs]
lifted = true
"""


def test_a_table_comes_out(tmp_path, monkeypatch, capsys):
    (tmp_path / "small.toml").write_text(SMALL)
    arguments = ["--out", tmp_path / "out", "--config", tmp_path / "small.toml", "--budgets", "1,8", "--count", 6]
    monkeypatch.setattr("sys.argv", ["ablations", *map(str, arguments), "--device", "cpu"])
    ablations.main()
    results = json.loads((tmp_path / "out" / "ablations.json").read_text())
    assert list(results) == ["multi-budget", "lifted"]
    assert list(results["lifted"]["budgets"]) == ["1", "8"]
    text = (tmp_path / "out" / "ablations.md").read_text()
    assert text.strip() in capsys.readouterr().out
    scores = [results[name]["budgets"]["8"]["corrected"]["overall"] for name in ("lifted", "multi-budget")]
    assert abs(scores[0] - scores[1]) > 0.01
    assert f"| {scores[0]:.2f} |" in text
    assert f"| `lifted` | `multi-budget` | 8 | {scores[0] - scores[1]:+.2f} |" in text
    assert results["lifted"]["log"]["steps"] == 3
    monkeypatch.setattr("sys.argv", [*sys.argv, "--only", "lifted"])
    ablations.main()  # finished runs are not trained again, and all are in the table
    assert json.loads((tmp_path / "out" / "ablations.json").read_text()) == results
