"""The command that runs the ablations and writes their table."""

import json

from validation import ablations

SMALL = """
[base]
steps = 1
grid = 32
batch = 3
validations = 1
validation_count = 3

[base.network]
architecture = "unet"
widths = [4, 8]
blocks = 1

[runs.plain]

[runs.error.inputs]
channels = ["estimate", "error"]
"""


def test_a_table_comes_out(tmp_path, monkeypatch, capsys):
    (tmp_path / "small.toml").write_text(SMALL)
    arguments = ["--out", tmp_path / "out", "--config", tmp_path / "small.toml", "--budgets", "1,8", "--count", 6]
    monkeypatch.setattr("sys.argv", ["ablations", *map(str, arguments), "--device", "cpu"])
    ablations.main()
    results = json.loads((tmp_path / "out" / "ablations.json").read_text())
    assert list(results) == ["plain", "error"]
    assert list(results["error"]["budgets"]) == ["1", "8"]
    text = (tmp_path / "out" / "ablations.md").read_text()
    assert text.strip() in capsys.readouterr().out
    score = results["error"]["budgets"]["8"]["corrected"]["overall"]
    assert f"| {score:.2f} |" in text
    ablations.main()  # finished runs are not trained again
    assert json.loads((tmp_path / "out" / "ablations.json").read_text()) == results
