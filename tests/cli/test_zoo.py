"""The studies of `mc2 zoo` as a user meets them."""

import json

import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

from mc2.cli.arguments import parse_budgets, parse_families, parse_range
from mc2.cli.main import app
from mc2.errors import InputError
from mc2.zoo import generate, read_records
from mc2.zoo import manifest as manifests
from tests.cli.test_commands import interrupt, mc2

SMALL = ("--grid", 12, "--device", "cpu")


def inside(*arguments):
    """Run a command in this process: a new one takes a second to start."""
    return CliRunner().invoke(app, list(map(str, arguments)))


def contents(*arguments):
    done = inside(*arguments, "--json")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("\n") == 1
    return json.loads(done.stdout)


def test_calibrate_json_has_the_shape_others_rely_on():
    found = contents("zoo", "calibrate", "--per-family", 1, *SMALL)
    assert list(found["families"]) == ["laplace", "poisson", "yukawa", "biharmonic", "helmholtz"]
    for row in found["families"].values():
        assert row["difference"] == pytest.approx(row["psnr"] - row["paper"])
        assert row["count"] == 1
    assert found["families"]["laplace"]["paper"] == 25.22
    assert len(found["tiers"]) == 4
    assert sum(found["tiers"]) == pytest.approx(100)
    assert found["sampling"] == "uniform"


def test_calibrate_says_what_is_outside():
    done = inside("zoo", "calibrate", "--per-family", 1, *SMALL)
    assert done.exit_code == 0
    assert "OUTSIDE" in done.stdout
    assert "estimator 'reduced'" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["convergence", "--cases", 4, "--families", "laplace,helmholtz", *SMALL], ["overall", "cut off", "reduced"]),
        (["difficulty", "--cases", 3, *SMALL], ["very hard", "overall", "paper", "41"]),
        (["stats", "--count", 12], ["stadium", "11.7", "forcing amplitude", "Retries", "λ, yukawa"]),
        (["calibrate", "--per-family", 1, *SMALL], ["biharmonic", "15.01", "± 4"]),
    ],
)
def test_tables_and_figures(tmp_path, arguments, words):
    plot = tmp_path / "figure.png"
    done = inside("zoo", *arguments, "--plot", plot)
    assert done.exit_code == 0, done.output
    for word in words:
        assert word in done.stdout
    assert "figure.png" in done.stdout.replace("\n", "")
    assert imread(plot)[..., :3].std() > 0.05
    assert list(tmp_path.iterdir()) == [plot]
    assert max(map(len, done.stdout.splitlines())) <= 80 + len(str(plot))


def test_convergence_json():
    found = contents("zoo", "convergence", "--cases", 3, "--budgets", "1,4", "--repeats", 2, *SMALL)
    assert found["budgets"] == [1, 4]
    assert found["repeats"] == 2
    assert found["max_steps"] == 256
    assert [len(case["mse"]) for case in found["cases"]] == [2, 2, 2]
    assert set(found["overall"]) == {"median", "min", "max", "within", "count"}
    assert found["truncated_share"] < 1e-3


def test_difficulty_and_stats_json():
    found = contents("zoo", "difficulty", "--cases", 3, *SMALL)
    assert found["split"] == "train"
    assert sum(found["overall"]["shares"]) == pytest.approx(100)
    found = contents("zoo", "stats", "--count", 9, "--split", "validation")
    assert found["count"] == 9
    assert found["families"]["yukawa"] == {
        "count": 3,
        "share": pytest.approx(100 / 3),
        "expected": pytest.approx(100 / 3),
    }


@pytest.mark.slow
def test_show(tmp_path):
    out = tmp_path / "i.png"
    found = contents("zoo", "show", 9, "--budgets", "1,2", "--out", out, *SMALL)
    assert found["record"]["id"] == "pdezoo-1/test/0000009"
    assert found["record"]["estimator"] == "reduced"
    assert [row["walks"] for row in found["estimates"]] == [1, 2]
    assert imread(out)[..., :3].std() > 0.05
    done = inside("zoo", "show", 0, "--split", "train", "--out", out, *SMALL)
    assert done.stdout.startswith("pdezoo-1/train/0000000: laplace")
    assert "64 per pixel: PSNR" in done.stdout


def test_records(tmp_path):
    out = tmp_path / "r.jsonl"
    done = inside("zoo", "records", "--out", out, "--range", "7:10")
    assert done.exit_code == 0
    assert "3 records" in done.stdout
    assert list(read_records(out)) == [generate("test", index) for index in (7, 8, 9)]


def test_manifest(tmp_path, monkeypatch):
    shipped = manifests.shipped_manifest()
    monkeypatch.setattr(manifests, "make_manifest", lambda report: shipped)
    out = tmp_path / "m.json"
    found = contents("zoo", "manifest", "--write", out)
    assert found["agrees"] is True
    assert found["splits"]["train"]["count"] == 10_000
    assert json.loads(out.read_text()) == shipped
    assert inside("zoo", "manifest").stdout.count(": agrees\n") == 3
    other = json.loads(out.read_text())
    other["splits"]["test"]["sha256"] = "0" * 64
    monkeypatch.setattr(manifests, "make_manifest", lambda report: other)
    done = inside("zoo", "manifest")
    assert isinstance(done.exception, InputError)
    assert str(done.exception) == "the manifest made here differs from the shipped one in test"
    assert f"differs from {shipped['splits']['test']['sha256']}" in done.stdout


def test_manifest_is_made_here(tmp_path, monkeypatch):
    """Its digests are of the records, whatever the count."""
    make = manifests.make_manifest
    monkeypatch.setattr(manifests, "make_manifest", lambda report: make(count=3, report=report))
    done = inside("zoo", "manifest", "--json", "--write", tmp_path / "m.json")
    assert isinstance(done.exception, InputError)
    assert json.loads(done.stdout)["splits"]["test"]["agrees"] is False
    assert json.loads((tmp_path / "m.json").read_text())["splits"]["test"]["count"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "5000"], "index = 5000"),
        (["show", "1", "--out", "a.txt"], "must end in .png"),
        (["show", "1", "--budgets", "8,1"], "must increase"),
        (["convergence", "--families", "laplace,poison"], "did you mean 'poisson'?"),
        (["convergence", "--plot", "missing/a.png"], "there is no folder"),
        (["difficulty", "--split", "exam"], "unknown split 'exam'"),
        (["difficulty", "--grid", "0"], "grid size = 0"),
        (["stats", "--count", "0"], "count = 0"),
        (["calibrate", "--per-family", "1001"], "per_family = 1001"),
        (["calibrate", "--device", "tpu"], "unknown device 'tpu'"),
        (["records", "--out", "a.json"], "must end in .jsonl"),
        (["records", "--out", "a.jsonl", "--range", "5"], "must be A:B"),
        (["manifest", "--write", "a.txt"], "must end in .json"),
    ],
)
def test_bad_input(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = inside("zoo", *arguments)
    assert isinstance(done.exception, InputError)
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_bad_input_is_one_line():
    done = mc2("zoo", "stats", "--split", "exam")
    assert done.returncode == 1
    assert done.stderr == "error: unknown split 'exam': known: test, train, validation\n"


@pytest.mark.slow
def test_interruption(tmp_path):
    arguments = ["zoo", "convergence", "--cases", "3000", "--plot", "a.png"]
    assert interrupt(arguments, tmp_path) == (130, "interrupted: nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def test_ranges():
    assert parse_range("3:10", "test") == range(3, 10)
    assert parse_range(":10", "train") == range(10)
    assert parse_range("4990:", "test") == range(4990, 5000)
    assert parse_range(None, "validation") == range(5000)
    for text in ("", "5", "5:5", "7:3", "-1:3", "0:5001", "a:b", "1:2:3", "1.5:2"):
        with pytest.raises(InputError, match="must be A:B with 0 ≤ A < B ≤ 5000"):
            parse_range(text, "test")
    with pytest.raises(InputError, match="unknown split"):
        parse_range("0:1", "exam")


def test_budgets_and_families():
    assert parse_budgets("1,8, 64") == (1, 8, 64)
    for text in ("", "1,,2", "a", "1.5"):
        with pytest.raises(InputError, match="must be whole numbers"):
            parse_budgets(text)
    for text in ("8,1", "1,1", "0,1"):
        with pytest.raises(InputError, match="must"):
            parse_budgets(text)
    assert parse_families("laplace, helmholtz") == ("laplace", "helmholtz")
    with pytest.raises(InputError, match="unknown family ''"):
        parse_families("")
