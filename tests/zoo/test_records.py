"""Records: the same instance after writing and reading, and nothing but errors from damaged ones."""

import json
import random

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.functions import read_expression
from mc2.geometry import Grid
from mc2.zoo import (
    FAMILIES,
    from_line,
    from_record,
    generate,
    make_fields,
    read_records,
    to_line,
    to_record,
    write_records,
)


def test_round_trip(tmp_path):
    instances = [generate("test", index) for index in range(50)]
    assert write_records(instances, tmp_path / "a.jsonl") == 50
    back = list(read_records(tmp_path / "a.jsonl"))
    assert list(map(to_line, back)) == list(map(to_line, instances))
    x, y = np.random.default_rng(0).uniform(-1, 1, (2, 50))
    for a, b in zip(instances, back, strict=True):
        np.testing.assert_array_equal(a.problem.exact(x, y), b.problem.exact(x, y))
        text = read_expression(to_record(a)["u"])(x, y)
        np.testing.assert_allclose(text, a.problem.exact(x, y), rtol=1e-10, atol=1e-10 * np.abs(text).max())


def test_records_say_what_the_paper_asks_for():
    for index, family in enumerate(FAMILIES):
        record = to_record(generate("test", index))
        assert record["kind"] == family
        assert (record["lam"] > 0) == (family == "yukawa")
        assert (record["k"] > 0) == (family == "helmholtz")
        assert record["estimator"] == ("reduced" if family == "helmholtz" else "standard")
        assert record["terms"] == len(record["atoms"])
        assert (record["std_f"] > 0) == (family != "laplace")
        assert json.loads(to_line(generate("test", index))) == record


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "heat"}, "unknown kind 'heat'"),
        ({"kind": ["poisson"]}, "unknown kind"),
        ({"split": "tset"}, "did you mean 'test'"),
        ({"index": 10**30}, "index = 1000"),
        ({"u": "__import__('os').system('true')"}, "u = .* disagrees with the rest"),
        ({"terms": 9}, "terms = 9 disagrees"),
        ({"terms": 4.5}, "terms = 4.5 must be an integer"),
        ({"id": "other"}, "id = 'other' disagrees"),
        ({"std_u": "much"}, "std_u = 'much'"),
        ({"std_f": float("inf")}, "std_f = inf"),
        ({"domain": {"shape": "disk", "radius": 0.1}}, "fails the filter 'domain interior'"),
        ({"domain": {"shape": "blob"}}, "unknown shape"),
        ({"domain": "disk"}, "must be a table"),
        ({"atoms": []}, "at least one"),
        ({"atoms": [{"type": "poly"}]}, "atom poly needs"),
        ({"atoms": [{"type": "h_polar"}]}, "unknown atom 'h_polar'"),
        ({"atoms": [{"a": 1}]}, 'an object with a "type"'),
        ({"atoms": 7}, "must be a list"),
        ({"rejected": ["nothing"]}, r"unknown rejected\[0\] 'nothing'"),
        ({"tier": "impossible"}, "unknown tier"),
        ({"estimator": "reduced"}, "estimator = 'reduced' disagrees"),
        ({"version": 1}, "version = 1 must be a text"),
        ({"version": "<b>"}, "version = '<b>' must be a text"),
        ({"std_f": -5}, "std_f = -5.0 disagrees"),
        ({"std_u": 1e9}, "std_u = 1000000000.0 disagrees"),
        ({"mse_32": "<b>"}, "mse_32 = '<b>' must be a finite number"),
        ({"mse_32": -1.0}, "mse_32 = -1.0 must be a finite number of at least 0"),
        ({"mse_32": 0.5, "tier": "hard"}, "tier = 'hard' disagrees with mse_32 = 0.5, which makes it 'medium'"),
        ({"tier": []}, "unknown tier"),
        ({"rejected": [[]]}, r"unknown rejected\[0\]"),
        ({"lam": False}, "lam = False must be a finite number"),
        ({"index": 6, "id": "pdezoo-1/test/0000006"}, "is not that of pdezoo-1/test/0000006"),
        ({"split": "fresh-1", "id": "pdezoo-1/fresh-1/0000001"}, "is not that of pdezoo-1/fresh-1/0000001"),
        ({"lamda": 1.0}, "did you mean 'lam'"),
    ],
)
def test_wrong_records_are_refused(change, message):
    record = to_record(generate("test", 1)) | change
    with pytest.raises(InputError, match=message) as caught:
        from_record(record)
    assert "\n" not in str(caught.value)


def test_a_laplace_record_must_be_harmonic():
    record = to_record(generate("test", 1))
    with pytest.raises(InputError, match="unknown atom"):
        from_record(record | {"kind": "laplace"})


def test_added_keys_may_be_there():
    from_record(to_record(generate("test", 1)) | {"tier": "hard", "mse_32": 1.5})


def _damage(value, rng):
    """Something like a record, with one thing in it changed."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        return (
            value | {key: _damage(value[key], rng)}
            if rng.random() < 0.9
            else {k: v for k, v in value.items() if k != key}
        )
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.randrange(len(value))
        return [*value[:place], _damage(value[place], rng), *value[place + 1 :]]
    return rng.choice([None, True, "", "x", -1, 0, 1e308, 10**400, 1.5, [], {}, [[]], {"shape": "disk"}, "nan", -0.0])


@pytest.mark.slow
def test_damaged_records_give_one_line():
    rng = random.Random(0)
    refused = 0
    for number in range(3000):
        record = to_record(generate("test", number % 40))
        try:
            found = from_record(_damage(record, rng))
        except InputError as error:
            refused += 1
            assert "\n" not in str(error)
        else:
            assert found.problem is not None
    assert refused > 2000
    line = to_line(generate("test", 0))
    for _ in range(500):
        cut = list(line)
        cut[rng.randrange(len(cut))] = rng.choice('{}[],":x0-.e\\\u2028')
        try:
            from_line("".join(cut))
        except InputError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("line", ["", "[" * 100_000, "NaN", '{"id": Infinity}', "null", '"text"', "{" * 5000])
def test_what_is_no_record(line):
    with pytest.raises(InputError):
        from_line(line)


def test_long_lines_are_not_read(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b" " * 100_000)
    with pytest.raises(InputError, match="characters: at most 65,536 are read"):
        list(read_records(tmp_path / "a.jsonl"))


def test_files_name_the_line(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text(to_line(generate("test", 0)) + "\n{}\n")
    with pytest.raises(InputError, match=r"a.jsonl: line 2: record None: lacks 'id'"):
        list(read_records(file))
    with pytest.raises(InputError, match="no such file"):
        list(read_records(tmp_path / "missing.jsonl"))
    with pytest.raises(InputError, match=r"must end in .jsonl"):
        write_records([], tmp_path / "a.json")


def test_an_interrupted_file_is_not_there(tmp_path):
    def broken():
        yield generate("test", 0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_records(broken(), tmp_path / "a.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_fields_and_the_paper_s_npz(tmp_path):
    instances = [generate("test", index) for index in range(5)]
    fields = make_fields(instances, [1, 8], grid=Grid(32), device="cpu")
    assert fields.mean.shape == fields.variance.shape == (5, 2, 32, 32)
    for n, instance in enumerate(instances):
        problem = instance.problem
        np.testing.assert_array_equal(fields.mask[n], problem.mask(Grid(32)))
        np.testing.assert_allclose(fields.u[n], problem.on_grid(problem.exact, Grid(32)), rtol=1e-6, atol=1e-7)
    fields.save_npz(tmp_path / "a.npz", 3, 8)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as data:
        assert sorted(data) == ["clean", "mask", "noisy"]
        assert {data[name].dtype for name in data} == {np.dtype("float32")}
        np.testing.assert_array_equal(data["noisy"], fields.mean[3, 1])
        np.testing.assert_array_equal(data["clean"], fields.u[3])
        np.testing.assert_array_equal(data["mask"], fields.mask[3])
    with pytest.raises(InputError, match="budget 4 was not walked"):
        fields.save_npz(tmp_path / "b.npz", 0, 4)
