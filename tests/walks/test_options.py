"""The options of walks as keywords of public functions."""

import inspect
from dataclasses import fields

import pytest

import mc2
from mc2.geometry import Disk, Square
from mc2.walks.options import MAX_REFLECTED, Options, WalkOptions, steps_allowed

LAPLACE = mc2.Laplace(Disk(), boundary="x")
REFLECTING = mc2.Laplace(Square(), boundary={"right": mc2.Neumann(0), "*": "x"})


@pytest.mark.parametrize("name", ["estimate", "trajectory", "estimate_many", "estimate_batch", "solve", "solve_many"])
def test_functions_that_walk_show_every_option_with_its_default(name):
    shown = inspect.signature(getattr(mc2, name)).parameters
    own = {field.name: field.default for field in fields(Options)} | {"max_steps": None}
    assert WalkOptions.__annotations__.keys() == own.keys()
    assert {option: shown[option].default for option in own} == own
    assert all(parameter.kind is not parameter.VAR_KEYWORD for parameter in shown.values())


@pytest.mark.parametrize("function", [mc2.estimate, mc2.solve])
def test_an_unknown_option_is_named_with_the_nearest_known_one(function):
    with pytest.raises(mc2.InputError, match=r"'epsilom': did you mean 'epsilon'\?"):
        function(LAPLACE, epsilom=1e-3)


def test_zero_steps_are_refused_by_every_function():
    for function in (mc2.estimate, mc2.solve):
        with pytest.raises(mc2.InputError, match="max_steps = 0 must be"):
            function(LAPLACE, max_steps=0)


def test_walks_that_are_reflected_may_take_more_steps():
    assert steps_allowed(REFLECTING, None, 1024) == MAX_REFLECTED
    assert steps_allowed(LAPLACE, None, 1024) == 1024
    assert steps_allowed(REFLECTING, 7, 1024) == 7
