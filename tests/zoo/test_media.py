"""The split `coefficients`: what is drawn, sources that are the solution's, records, streams, methods."""

import json

import numpy as np
import pytest

import mc2
from mc2.benchmark.methods.registry import make_method
from mc2.benchmark.runner import evaluate
from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.zoo import from_line, generate, make_fields, to_line
from mc2.zoo.build import build_zoo
from mc2.zoo.laws import number_of, size_of
from mc2.zoo.manifest import digest
from mc2.zoo.media import SIZE, draw_medium
from mc2.zoo.random import uniforms
from mc2.zoo.stream import Stream
from mc2.zoo.told import told

FIRST = 24


@pytest.fixture(scope="module")
def instances():
    return [generate("coefficients", index) for index in range(FIRST)]


def test_records_never_change(instances):
    assert digest(instances) == "b1f2b5e70dc0b4f0b3bb7175d14cebe9601a52134faff7b82207e946bdaa82d2"


def test_records_are_read_again(instances):
    for instance in instances[:6]:
        again = from_line(to_line(instance))
        assert again.medium == instance.medium
        assert to_line(again) == to_line(instance)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"diffusion": "x"}, "it must be positive everywhere"),
        ({"diffusion": "__import__('os')"}, "diffusion"),
        ({"drift": ["0"]}, "four texts"),
        ({"diffusion": "1" + "+1" * 300}, "none longer"),
        ({"reaction": "7"}, "disagrees|not that of|fails"),
    ],
)
def test_broken_records_are_refused(instances, change, message):
    data = json.loads(to_line(instances[0]))
    data["coefficients"] |= change
    with pytest.raises(InputError, match=message) as caught:
        from_line(json.dumps(data))
    assert "\n" not in str(caught.value)


def test_records_of_other_splits_have_no_coefficients(instances):
    data = json.loads(to_line(generate("test", 1)))
    with pytest.raises(InputError, match="and no others, are elliptic"):
        from_line(json.dumps(data | {"coefficients": json.loads(to_line(instances[0]))["coefficients"]}))
    data = json.loads(to_line(instances[0]))
    del data["coefficients"]
    with pytest.raises(InputError, match="and no others, are elliptic"):
        from_line(json.dumps(data))


def test_what_is_drawn(instances):
    contrasts = []
    for instance in instances:
        alpha = instance.problem.operator.varying.diffusion(*instance.domain.sample_interior(500, seed=0).T)
        contrasts.append(alpha.max() / alpha.min())
    assert max(contrasts) <= 10
    assert max(contrasts) > 4
    media = [draw_medium(iter(uniforms("2", "coefficients/medium", index, 0))) for index in range(1000)]
    for zero in ([own.drift == ("0", "0") for own in media], [own.reaction == "0" for own in media]):
        assert 0.45 < np.mean(zero) < 0.55
    assert instances[0].id == "pdezoo-2/coefficients/0000000"
    assert size_of("coefficients") == SIZE
    assert number_of("coefficients") > number_of("conditions") > number_of("fresh-999999")


@pytest.mark.parametrize("index", range(4))
def test_sources_are_those_of_the_solution(instances, index):
    """Against differences of α, of fluxes, and of u."""
    instance, h = instances[index], 1e-3
    problem, u = instance.problem, instance.truth
    own = problem.operator.varying
    x, y = problem.domain.sample_interior(60, seed=1).T
    flow = 0.0
    for dx, dy in ((h, 0), (0, h)):
        for sign in (1, -1):
            middle = own.diffusion(x + 0.5 * sign * dx, y + 0.5 * sign * dy)
            flow = flow + middle * (u(x + sign * dx, y + sign * dy) - u(x, y)) / h**2
    slopes = (u(x + h, y) - u(x - h, y)) / (2 * h), (u(x, y + h) - u(x, y - h)) / (2 * h)
    left = flow + sum(part(x, y) * slope for part, slope in zip(own.drift, slopes, strict=True))
    left = left - own.reaction(x, y) * u(x, y)
    assert np.abs(left - problem.source(x, y)).max() < 1e-2 * np.abs(problem.source(x, y)).max()


def test_solved(instances):
    instance = instances[11]
    solution = mc2.solve(told(instance.problem), grid=32)
    x, y = (c[solution.mask] for c in solution.grid.points())
    np.testing.assert_allclose(solution.values[solution.mask], instance.truth(x, y), atol=1e-11)


def test_methods(instances):
    """Those that know varying coefficients play; the others say that they do not."""
    grid = Grid(48)
    for name, most in (("fd", 5e-3), ("mc2-rounds", 1e-3)):
        found = evaluate(name, split="coefficients", count=2, grid=grid, lpips=False)
        assert list(found["families"]) == ["elliptic"]
        assert found["absent"] == []
        assert found["generator_version"] == "2"
        assert found["overall"]["relative_l2"]["median"] < most
    assert "elliptic" not in make_method("mc2-physics").families
    with pytest.raises(InputError, match="can play in none"):
        evaluate("mc2-physics", split="coefficients", count=1, grid=grid, lpips=False)


def test_fields_and_streams(instances):
    """Walked as the split says, and the same by both doors."""
    stream = Stream(batch=2, budgets=(4,), split="coefficients", grid=Grid(16), device="cpu")
    examples = next(iter(stream))
    assert examples.family.tolist() == [5, 5]
    assert examples.index.tolist() == [0, 1]
    fields = make_fields(instances[:2], (4,), grid=Grid(16), device="cpu")
    np.testing.assert_array_equal(fields.u, examples.u)
    inside = examples.mask.astype(bool)
    error = (examples.mean - examples.u)[inside]
    assert np.mean(error**2 / np.maximum(examples.variance[inside], 1e-6)) < 10
    with pytest.raises(InputError, match="made on the CPU"):
        Stream(split="coefficients", lifted=True)
    with pytest.raises(InputError, match="make their fields apart"):
        make_fields([instances[0], generate("test", 0)], (4,), grid=Grid(8), device="cpu")


def test_builds_are_refused(tmp_path):
    with pytest.raises(InputError, match="has records, fields and streams, and no builds"):
        build_zoo(tmp_path / "out", split="coefficients", stop=2)
