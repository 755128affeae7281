"""Vector-valued data: a problem for every channel, whatever says what they are."""

import numpy as np
import pytest

import mc2
from mc2.geometry import Disk, Rectangle, Square

COLOURS = ["sin(3*x)", "cos(y)", "x*y"]
PLATE = Rectangle(1.0, 0.5) - Disk(0.2, name="pipe")


def by_tuple(x, y):
    return np.sin(3 * x), np.cos(y), x * y


def by_last_axis(x, y):
    return np.stack([np.sin(3 * x), np.cos(y), x * y], -1)


@pytest.mark.parametrize("data", [COLOURS, by_tuple, by_last_axis], ids=["list", "tuple", "last axis"])
@pytest.mark.filterwarnings("ignore:.*called on whole arrays")
def test_channels_are_solved_together(data):
    problems = mc2.channels(mc2.Laplace, Disk(), boundary=data)
    found = mc2.solve_many(problems, grid=16)
    for own, text in zip(found, COLOURS, strict=True):
        alone = mc2.solve(mc2.Laplace(Disk(), boundary=text), grid=16)
        assert own(0.3, 0.2) == pytest.approx(float(alone(0.3, 0.2)), abs=1e-9)
    walked = mc2.estimate_many(problems, 4, grid=8)
    np.testing.assert_array_equal(walked[2].mean, mc2.estimate(problems[2], 4, grid=8).mean)


def test_parts_and_images_have_channels_and_all_else_is_common():
    first, second = mc2.channels(
        mc2.Poisson, PLATE, source=[1, 2], boundary={"pipe": [3, "4*x"], "top": mc2.Neumann(0), "*": 0}
    )
    assert first.source(0.0, 0.3) == 1
    assert second.source(0.0, 0.3) == 2
    pipe = [part.name for part in PLATE.parts].index("pipe")
    assert [problem.conditions[pipe].value(0.2, 0.0) for problem in (first, second)] == [3, pytest.approx(0.8)]
    assert first.reflecting
    assert second.reflecting
    image = np.random.default_rng(0).uniform(size=(4, 4, 3))
    problems = mc2.channels(mc2.Yukawa, Square(0.5), lam=2.0, source=0, boundary=(image, (-0.5, 0.5, -0.5, 0.5)))
    assert [float(problem.boundary(-0.375, -0.375)) for problem in problems] == pytest.approx(
        list(image[0, 0]), abs=1e-3
    )


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"boundary": 1}, "needs data with several values"),
        ({"boundary": []}, "needs an entry for each"),
        ({"boundary": ["x", 1], "source": [1, 2, 3]}, "as many everywhere: "),
        ({"boundary": {"rim": [1, 2], "*": [1, 2, 3]}}, "as many on all parts"),
        ({"boundary": lambda x: x}, "needs data with several values"),
        ({"boundary": [1, "nonsense"]}, "nonsense"),
    ],
)
def test_what_is_no_channel_is_refused_in_one_line(data, said):
    with pytest.raises(mc2.InputError, match=said) as told:
        mc2.channels(mc2.Poisson, Disk(), **({"source": 0} | data))
    assert "\n" not in str(told.value)
