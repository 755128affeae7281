"""The leaderboard: entries, verdicts on fresh problems, and the commands."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from mc2 import InputError
from mc2.benchmark.leaderboard import (
    make_entry,
    read_entries,
    read_entry,
    read_predictions,
    score_predictions,
    write_entry,
    write_predictions,
)
from mc2.benchmark.leaderboard.entries import parse_about, with_evaluation, write_evaluated
from mc2.benchmark.leaderboard.verify import broken, check_claim, draw_instances, draw_seed, verify
from mc2.geometry import Grid
from mc2.zoo import FAMILIES, generate, read_records
from tests.benchmark.samples import COUNT, GRID, noisy
from tests.cli.test_commands import mc2

ENTRIES = Path(__file__).parents[2] / "leaderboard" / "entries"
ABOUT = {"method": "noise", "authors": "A. Author", "setting": "correction", "walks": 8}


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    file = tmp_path_factory.mktemp("scores") / "p.npz"
    write_predictions(file, *noisy())
    return score_predictions(read_predictions(file, grid=GRID), lpips=False)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "predictions.npz"


@pytest.fixture
def entry(scores):
    return make_entry(scores | {"grid": 256}, **ABOUT)


def test_entries_survive_their_file(tmp_path, scores, entry):
    write_entry(entry, tmp_path / "a.json")
    assert read_entry(tmp_path / "a.json") == entry
    assert read_entries(tmp_path) == [entry]
    assert entry.claimed["poisson"]["psnr"] == pytest.approx(scores["families"]["poisson"]["psnr"]["mean"], rel=1e-5)
    assert entry.checksum == scores["sha256"]
    assert make_entry(scores | {"grid": 256}, entry, walks=4).authors == "A. Author"
    write_entry(entry, tmp_path / "b.json")
    with pytest.raises(InputError, match=r"a\.json is of the same method"):
        read_entries(tmp_path)
    with pytest.raises(InputError, match="256 × 256 pixels, not 32"):
        make_entry(scores, **ABOUT)
    with pytest.raises(InputError, match="a new entry lacks 'method': at most 80"):
        make_entry(scores | {"grid": 256})
    with pytest.raises(InputError, match="unknown key of a new entry 'checksum'"):
        make_entry(scores | {"grid": 256}, **ABOUT, checksum="0" * 64)


def test_nobody_is_evaluated_by_saying_so(tmp_path, entry):
    told = with_evaluation(entry, entry.claimed, "fresh-7", COUNT)
    write_entry(told, tmp_path / "mine.json")
    with pytest.raises(InputError, match=r"mine\.json: says that it was evaluated, but evaluated\.sha256 does not"):
        read_entries(tmp_path)
    write_evaluated(told, tmp_path / "mine.json")
    assert read_entries(tmp_path) == [told]
    better = dataclasses.replace(told, notes="better now")  # another entry than the one that was evaluated
    write_entry(better, tmp_path / "mine.json")
    with pytest.raises(InputError, match="says that it was evaluated"):
        read_entries(tmp_path)
    (tmp_path / "evaluated.sha256").write_text("anything")
    with pytest.raises(InputError, match=r"evaluated\.sha256: 'anything' must be a line of sha256sum"):
        read_entries(tmp_path)


@pytest.mark.parametrize("name", ["Noise", "n-oise", "NOISE."])
def test_names_that_look_alike(tmp_path, entry, name):
    write_entry(entry, tmp_path / "a.json")
    write_entry(dataclasses.replace(entry, method=name, walks=4), tmp_path / "b.json")
    with pytest.raises(InputError, match=f"method = '{name}' looks like 'noise': use another name"):
        read_entries(tmp_path)


def _claimed(part, metric, value):
    return lambda data: data["claimed"][part].__setitem__(metric, value)


BAD_ENTRIES = [
    ({"methd": "x"}, "unknown key 'methd': did you mean 'method'?"),
    ({"method": "  "}, "method = ' ' must be at most 80 of the letters A to Z"),
    ({"authors": " "}, "authors = ' ' must be one line of at most 300 characters, not empty"),
    ({"method": "x" * 81}, "at most 80 of the letters"),
    ({"notes": "two\nlines"}, "must be one line"),
    ({"authors": "right\u202eleft"}, "must be one line"),
    ({"code": "javascript:alert(1)"}, "must be a link that begins with https://"),
    ({"code": "http://example.org"}, "must be a link that begins with https://"),
    ({"paper": "https://"}, "must be a link that begins with https://"),
    ({"paper": 'https://a.org/"onclick=x y'}, "must be a link that begins with https://"),
    ({"code": "https://github.com@evil.com/"}, "and a plain host"),
    ({"code": "https://example.org:8080/"}, "and a plain host"),
    ({"code": "https://127.0.0.1/"}, "and a plain host"),
    ({"code": "https://xn--80ak6aa92e.com/"}, "and a plain host"),
    ({"code": "https://\u0430pple.com/"}, "and a plain host"),
    ({"code": "https://good.org\\@evil.org/"}, "and a plain host"),
    ({"method": "w\u043es"}, "of the letters A to Z"),
    ({"method": "wos "}, "of the letters A to Z"),
    ({"method": "w  s"}, "of the letters A to Z"),
    ({"method": "-.-"}, "of the letters A to Z"),
    ({"setting": "corection"}, "did you mean 'correction'?"),
    ({"walks": -1}, "walks = -1 must be an integer from 0"),
    ({"walks": True}, "walks = True must be an integer"),
    ({"seconds_per_field": "fast"}, "seconds_per_field = 'fast' must be a finite number from 0"),
    ({"split": "train"}, "known: test"),
    ({"count": 4}, "count = 4 must be an integer from 10"),
    ({"generator_version": "2"}, "must be '1'"),
    ({"checksum": "A" * 64}, "64 digits of the predictions' SHA-256"),
    ({"date": "15.11.2026"}, "must be a day such as"),
    ({"evaluated": {}}, "evaluated_split = '' must be a fresh one"),
    ({"evaluated_count": 50}, "where evaluated is null"),
    ({"claimed": []}, "claimed = [] must be an object"),
    (lambda data: data.pop("authors"), "lacks 'authors': one line"),
    (lambda data: data["claimed"].pop("yukawa"), "claimed lacks 'yukawa'"),
    (lambda data: data["claimed"].update(poison={}), "did you mean 'poisson'?"),
    (_claimed("overall", "psnr", 99.0), "claimed.overall.psnr = 99, but its families have mean"),
    (_claimed("laplace", "mse", -1.0), "claimed.laplace.mse = -1.0 must be a finite number of at least 0 or null"),
    (_claimed("laplace", "psnr", None), "claimed.laplace.psnr = null must be a finite number"),
    (_claimed("laplace", "psnr", "high"), "claimed.laplace.psnr = 'high' must be a finite number or null"),
    (_claimed("laplace", "lpips", 0.5), "must be given for all families, or null for all"),
]


@pytest.mark.parametrize(("change", "message"), BAD_ENTRIES, ids=[text for _, text in BAD_ENTRIES])
def test_entries_are_strict(tmp_path, entry, change, message):
    data = dataclasses.asdict(entry)
    data.update(change) if isinstance(change, dict) else change(data)
    file = tmp_path / "entry.json"
    file.write_text(json.dumps(data))
    with pytest.raises(InputError) as caught:
        read_entry(file)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "must be an object"),
        ('{"walks": NaN}', "NaN is not a JSON number"),
        ('{"walks": 1, "walks": 2}', "'walks' is there 2 times"),
        ("[" * 50_000, "nests brackets more than 64 deep"),
        (" " * 100_001, "larger than 100,000 bytes"),
    ],
)
def test_broken_entries(tmp_path, text, message):
    (tmp_path / "entry.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_entry(tmp_path / "entry.json")


def test_what_is_said_on_the_command_line():
    assert parse_about(["method=a=b", "walks=8", "seconds_per_field=0.5"]) == {
        "method": "a=b", "walks": 8, "seconds_per_field": 0.5,
    }  # fmt: skip
    for text, message in (("walks=many", "must be a number"), ("walks", "KEY=VALUE"), ("wolks=8", "did you mean")):
        with pytest.raises(InputError, match=message):
            parse_about([text])


def test_a_claim_must_be_that_of_its_file(entry, scores):
    check_claim(entry, scores)
    entry.claimed["laplace"]["psnr"] += 0.02
    with pytest.raises(InputError, match="noise claims laplace psnr"):
        check_claim(entry, scores)


def boosted(entry, family, gain):
    """The same entry with a bolder claim."""
    claimed = json.loads(json.dumps(entry.claimed))
    claimed[family]["psnr"] += gain
    claimed["overall"]["psnr"] += gain / 5
    return dataclasses.replace(entry, claimed=claimed)


def test_verdicts_from_predictions(path, entry):
    write_predictions(path, *noisy("fresh-7"))
    options = {"predictions": path, "grid": GRID, "lpips": False}
    found = verify(entry, 7, COUNT, **options)
    assert found["holds"]
    assert broken(found) == ""
    row = found["families"]["yukawa"]
    rows = score_predictions(read_predictions(path, "fresh-7", grid=GRID), lpips=False)["instances"]
    spreads = [np.std([own["psnr"] for own in rows[place::5]], ddof=1) for place in range(5)]
    usual = np.sqrt(np.mean(np.square(spreads)))
    for own, spread in zip(found["families"].values(), spreads, strict=True):
        assert own["allowed"] == pytest.approx(1 + 3 * max(spread, usual) * np.sqrt(1 / 2 + 1 / 2))
    bold = verify(boosted(entry, "yukawa", row["allowed"] + 1), 7, COUNT, **options)
    assert not bold["holds"]
    assert [family for family, own in bold["families"].items() if not own["holds"]] == ["yukawa"]
    assert broken(bold).startswith("the claim of noise does not hold: yukawa ")
    assert verify(boosted(entry, "yukawa", row["allowed"] + 1), 7, COUNT, tolerance=20, **options)["holds"]
    with pytest.raises(InputError, match="is of the split 'fresh-7', not 'fresh-8'"):
        verify(entry, 8, COUNT, **options)
    with pytest.raises(InputError, match="count = 5 must be an integer from 10"):
        verify(entry, 7, 5, **options)


def test_verdicts_by_running_the_method(entry):
    asked = {}

    def run(entry, **options):
        asked.update(options, method=entry.method, walks=entry.walks)
        table = {"psnr": {"mean": 19.0, "std": 1.0}}
        return {"families": dict.fromkeys(FAMILIES, table), "overall": table}

    for family in FAMILIES:
        entry.claimed[family]["psnr"] = 20.0
    found = verify(entry, 12, 500, run=run, grid=GRID)
    assert asked["method"] == "noise"
    assert (asked["walks"], asked["split"], asked["count"], asked["grid"]) == (8, "fresh-12", 500, GRID)
    assert found["holds"]  # 1 dB below, and the two instances of each family in the claim allow more
    entry.claimed["poisson"]["psnr"] = 23.5
    assert not verify(entry, 12, 500, run=run, grid=GRID)["holds"]
    with pytest.raises(InputError, match="'noise' is not a method of this package"):
        verify(entry, 12, 500)


def test_a_method_of_the_package_is_run():
    file = read_entry(ENTRIES / "mean.json")
    found = verify(file, 5, 10, grid=GRID, lpips=False, tolerance=20)
    assert found["holds"]
    assert with_evaluation(file, found["evaluated"], "fresh-5", 10).evaluated_count == 10


def test_a_kill_while_an_evaluation_is_written_leaves_valid_entries(tmp_path, entry, monkeypatch):
    def judged(split):
        return with_evaluation(entry, entry.claimed, split, 10)

    write_evaluated(judged("fresh-1"), tmp_path / "a.json")
    with monkeypatch.context() as patch:
        patch.setattr("mc2.benchmark.leaderboard.entries.write_entry", lambda *_: pytest.fail("killed"))
        with pytest.raises(pytest.fail.Exception):
            write_evaluated(judged("fresh-2"), tmp_path / "a.json")
    assert read_entries(tmp_path) == [judged("fresh-1")]
    for split in ("fresh-2", "fresh-3"):
        write_evaluated(judged(split), tmp_path / "a.json")
        assert read_entries(tmp_path) == [judged(split)]
    write_entry(judged("fresh-2"), tmp_path / "a.json")  # evaluated once, but replaced
    with pytest.raises(InputError, match="says that it was evaluated"):
        read_entries(tmp_path)


def test_fresh_seeds_and_instances():
    seeds = {draw_seed() for _ in range(50)}
    assert len(seeds) > 40
    assert all(1 <= seed <= 999_999 for seed in seeds)
    first = list(draw_instances(7, 10))
    assert [instance.id for instance in first] == [f"pdezoo-1/fresh-7/{index:07d}" for index in range(10)]
    assert first[0].atoms != generate("test", 0).atoms
    with pytest.raises(InputError, match="seed = 0 must be an integer from 1"):
        draw_instances(0, 10)


def test_every_entry_here_is_valid():
    entries = read_entries(ENTRIES)
    assert {"wos", "mean"} <= {entry.method for entry in entries}


def test_score_and_verify_as_a_user_does(tmp_path):
    write_predictions(tmp_path / "p.npz", *noisy(grid=Grid()))
    said = ("--about", "method=noise", "--about", "authors=A. Author", "--about", "notes=[bold]")
    asked = ("score", "p.npz", "--no-lpips", "--json", "--out", "scores.json", "--new-entry", "entry.json", *said)
    done = mc2("leaderboard", *asked, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["count"] == COUNT
    assert list(found["families"]) == list(FAMILIES)
    assert (
        19 < found["overall"]["psnr"]["mean"] < 22
    )  # noise of a tenth of the range: 20 dB, and a little from clipping
    assert "instances" not in found
    assert len(json.loads((tmp_path / "scores.json").read_text())["instances"]) == COUNT
    entry = read_entry(tmp_path / "entry.json")
    assert entry.claimed["overall"]["psnr"] == pytest.approx(found["overall"]["psnr"]["mean"], rel=1e-5)

    write_entry(boosted(entry, "poisson", 3.0), tmp_path / "bold.json")
    done = mc2("leaderboard", "score", "p.npz", "--no-lpips", "--entry", "bold.json", folder=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "noise claims poisson psnr" in done.stderr

    done = mc2("leaderboard", "draw", "--seed", 7, "--count", 10, "--out", "problems.jsonl", folder=tmp_path)
    assert "fresh-7" in done.stdout
    drawn = [instance.id for instance in read_records(tmp_path / "problems.jsonl")]
    ids, fields = noisy("fresh-7", grid=Grid())
    assert drawn == ids
    write_predictions(tmp_path / "fresh.npz", ids, fields)
    asked = ("--seed", 7, "--count", 10, "--predictions", "fresh.npz", "--no-lpips", "--write")
    done = mc2("leaderboard", "verify", "entry.json", *asked, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("holds") == 5
    assert read_entry(tmp_path / "entry.json").evaluated_split == "fresh-7"

    done = mc2("leaderboard", "verify", "bold.json", *asked, folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: the claim of noise does not hold: poisson")
    assert read_entry(tmp_path / "bold.json").evaluated is None
    (tmp_path / "bold.json").unlink()

    (tmp_path / "scores.json").unlink()
    done = mc2("leaderboard", "build", "--entries", ".", "--out", "site/index.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[bold]" in (tmp_path / "site" / "index.html").read_text("utf-8")


def test_families_that_a_method_cannot_play_in(path, tmp_path, entry):
    """They are left out of the file, null in the entry, and not verified; and there is no overall score."""
    ids, fields = noisy()
    kept = [index for index in range(COUNT) if index % 5 < 3]
    write_predictions(path, [ids[index] for index in kept], fields[kept])
    found = score_predictions(read_predictions(path, grid=GRID), lpips=False)
    assert found["count"] == COUNT
    partial = make_entry(found | {"grid": 256}, **ABOUT)
    assert partial.claimed["poisson"] == entry.claimed["poisson"]
    assert set(partial.claimed["helmholtz"].values()) == set(partial.claimed["overall"].values()) == {None}
    write_entry(partial, tmp_path / "partial.json")
    assert read_entry(tmp_path / "partial.json") == partial
    ids, fields = noisy("fresh-7")
    write_predictions(path, [ids[index] for index in kept], fields[kept])
    verdict = verify(partial, 7, COUNT, predictions=path, grid=GRID, lpips=False)
    assert verdict["holds"]
    assert list(verdict["families"]) == ["laplace", "poisson", "yukawa"]
    with pytest.raises(InputError, match="claims scores for biharmonic, helmholtz, of which nothing was found"):
        verify(entry, 7, COUNT, predictions=path, grid=GRID, lpips=False)
    write_predictions(path, [ids[index] for index in kept[1:]], fields[kept[1:]])
    with pytest.raises(InputError, match="fresh-7/0000000: missing"):
        read_predictions(path, "fresh-7", grid=GRID)
    data = dataclasses.asdict(partial)
    data["claimed"]["overall"] = data["claimed"]["laplace"]
    with pytest.raises(InputError, match=r"claimed\.overall must be null where a family is, and only there"):
        dataclasses.replace(partial, claimed=data["claimed"])
