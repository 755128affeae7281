"""The split `conditions`: the same problems everywhere, data that are the solution's, records, refusals."""

import json

import numpy as np
import pytest

import mc2
from mc2.benchmark.methods.registry import make_method
from mc2.benchmark.runner import evaluate
from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.problems.boundary_data import part_points
from mc2.zoo import from_line, generate, make_fields, to_line
from mc2.zoo.build import build_zoo, verify
from mc2.zoo.conditions import FAMILIES, SIZE, impose
from mc2.zoo.laws import number_of, size_of
from mc2.zoo.manifest import digest
from mc2.zoo.shards import Shards, read_description
from mc2.zoo.stream import Stream
from mc2.zoo.told import told

FIRST = 24


@pytest.fixture(scope="module")
def instances():
    return [generate("conditions", index) for index in range(FIRST)]


def test_records_never_change(instances):
    assert digest(instances) == "04430d39674c57917cc6de75be6da1243d05727722d06cee8914503853393a0c"


def test_records_are_read_again(instances):
    for instance in instances[:8]:
        again = from_line(to_line(instance))
        assert again.boundary == instance.boundary
        assert to_line(again) == to_line(instance)


def test_what_is_drawn(instances):
    assert [instance.family for instance in instances[:8]] == 2 * list(FAMILIES)
    kinds = [given.kind for instance in instances for given in instance.boundary]
    assert all(kinds.count(kind) > len(kinds) / 5 for kind in ("dirichlet", "neumann", "robin"))
    assert all(instance.problem.reflecting for instance in instances)
    assert any("cut" in given.part for instance in instances for given in instance.boundary)
    assert instances[0].id == "pdezoo-2/conditions/0000000"
    assert size_of("conditions") == SIZE
    assert number_of("conditions") > number_of("fresh-999999")


@pytest.mark.parametrize("index", range(8))
def test_data_are_those_of_the_solution(instances, index):
    """Against differences of the exact solution along normals."""
    instance = instances[index]
    problem, h = instance.problem, 1e-6
    for number, (condition, given) in enumerate(zip(problem.conditions, instance.boundary, strict=True)):
        x, y, nx, ny = part_points(problem.domain, number, 16)
        slope = (instance.truth(x + h * nx, y + h * ny) - instance.truth(x - h * nx, y - h * ny)) / (2 * h)
        u = instance.truth(x, y)
        expected = {"dirichlet": u, "neumann": slope, "robin": slope + given.coefficient * u}[given.kind]
        scale = np.abs(u).max() + np.abs(slope).max()
        np.testing.assert_allclose(condition.data(x, y, nx, ny), expected, atol=1e-7 * scale)


def test_methods_are_told_the_boundary_alone(instances):
    problem = told(instances[1].problem)
    assert problem.exact is None
    x, y = np.array(problem.domain.sample_interior(1)).T
    for condition in problem.conditions:
        with pytest.raises(InputError, match="boundary data are known on the boundary"):
            condition.data(x, y, np.ones(1), np.zeros(1))


def test_solved(instances):
    instance = instances[0]
    solution = mc2.solve(told(instance.problem), grid=32)
    x, y = (c[solution.mask] for c in solution.grid.points())
    np.testing.assert_allclose(solution.values[solution.mask], instance.truth(x, y), atol=1e-10)


def test_evaluated():
    found = evaluate(make_method("trefftz"), count=1, split="conditions", grid=Grid(32), lpips=False)
    assert found["generator_version"] == "2"
    assert found["overall"]["relative_l2"]["mean"] < 1e-6
    with pytest.raises(InputError, match="fd cannot play in the split 'conditions'"):
        evaluate(make_method("fd"), count=1, split="conditions", grid=Grid(32), lpips=False)


def test_fields_are_the_walks_of_every_instance(instances):
    """Unbiased in every family; Helmholtz's walks know u, and are those of Δu − k²u."""
    found = make_fields(instances[:8], [4, 256], grid=Grid(16), device="cpu")
    assert found.counts[:, 1:].sum() == 0
    for number, instance in enumerate(instances[:8]):
        own = found.mask[number] == 1
        error, variance = (found.mean[number, 1] - found.u[number])[own], found.variance[number, 1][own]
        assert abs(error.sum() / np.sqrt(variance.sum())) < 4.5, instance.id
        exact = instance.truth(*(c[own] for c in Grid(16).points()))
        np.testing.assert_allclose(found.u[number][own], exact, rtol=1e-6)
    with pytest.raises(InputError, match="walk otherwise than others do"):
        make_fields([*instances[:1], generate("test", 0)], [1], grid=Grid(8))


def test_builds_and_streams_hold_the_same_walks(instances, tmp_path):
    build_zoo(tmp_path / "zoo", "conditions", 0, 5, (1, 4), grid=Grid(16), device="cpu", shard_size=3)
    about = read_description(tmp_path / "zoo")
    assert (about.generator_version, about.sampling) == ("2", "green")
    assert not verify(tmp_path / "zoo")
    assert Shards(tmp_path / "zoo")[4]["index"] == 4
    again = build_zoo(tmp_path / "zoo", "conditions", 0, 5, (1, 4), grid=Grid(16), device="cpu", shard_size=3)
    assert again.made == 0
    batch = next(iter(Stream(4, (4,), split="conditions", grid=Grid(16), device="cpu")))
    assert batch.index.tolist() == [0, 1, 2, 3]
    assert np.isfinite(batch.mean).all()
    truth = instances[1].problem.on_grid(instances[1].truth, Grid(16))
    np.testing.assert_allclose(batch.u[1], np.where(batch.mask[1], truth, 0), rtol=1e-5, atol=1e-6)
    with pytest.raises(InputError, match="has no boundary data to extend"):
        Stream(4, (1,), split="conditions", extended=True)


@pytest.mark.parametrize("name", ["wos", "gaussian_1"])
def test_methods_that_see_walks_alone_can_play(name):
    found = evaluate(make_method(name), walks=64, count=4, split="conditions", grid=Grid(32), lpips=False)
    assert found["sampling"] == "green"
    assert found["overall"]["count"] == 4
    assert found["overall"]["relative_l2"]["median"] < 0.5


def test_drawn_without_estimates(instances, tmp_path):
    from typer.testing import CliRunner

    from mc2.cli.main import app

    picture = tmp_path / "instance.png"
    done = CliRunner().invoke(app, ["zoo", "show", "0", "--split", "conditions", "--out", str(picture), "--json"])
    assert json.loads(done.stdout)["record"] == json.loads(to_line(instances[0]))
    assert picture.stat().st_size > 10_000


def damaged(instance, change):
    record = json.loads(to_line(instance))
    change(record)
    return json.dumps(record)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record.pop("boundary"), "records of split 'conditions', and no others"),
        (lambda record: record["boundary"].pop(), "its boundary must say what is given on"),
        (lambda record: record["boundary"][0].update(kind="free"), "kind"),
        (lambda record: record["boundary"][0].update(coefficient=3.0, kind="dirichlet"), "coefficient = 3.0"),
        (lambda record: record["boundary"][0].update(coefficient=3.0, kind="robin"), "is not that of pdezoo-2"),
    ],
)
def test_false_records(instances, change, message):
    with pytest.raises(InputError, match=message):
        from_line(damaged(instances[4], change))


def test_all_is_determined(instances):
    """No problem leaves u open by a constant."""
    for instance in instances:
        if instance.family in ("laplace", "poisson"):
            assert any(given.kind != "neumann" for given in instance.boundary)
        assert impose(instance.problem, instance.boundary).conditions
