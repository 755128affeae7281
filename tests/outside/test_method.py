"""A method from outside the package: its own class, and an entry point or a line that registers it."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest

from mc2 import InputError
from mc2.benchmark.methods import METHODS, Method, make_method
from mc2.benchmark.runner import evaluate
from mc2.geometry import Grid


class Nearest(Method):
    """The boundary value nearest to every pixel."""

    name, setting, reads = "nearest", "dense", ("problem", "grid")

    def solve(self, case):
        return case.problem.boundary(*case.problem.domain.project(*case.grid.points()))


class Truth(Nearest):
    """A cheat: what it reads off the boundary would be the solution."""

    name = "cheat"

    def solve(self, case):
        return case.problem.boundary(*case.grid.points())


def test_it_is_judged(monkeypatch):
    declared = {"nearest": EntryPoint("nearest", f"{__name__}:Nearest", "mc2.methods")}
    monkeypatch.setitem(METHODS.__dict__, "_declared", declared)
    found = evaluate(make_method("nearest"), count=5, grid=Grid(24), lpips=False)
    assert 5 < found["overall"]["psnr"]["mean"] < 25
    METHODS.remove("nearest")


def test_it_cannot_look_inside():
    with pytest.raises(InputError, match=r"cheat on pdezoo-1/test/0000000: boundary data are known on the boundary"):
        evaluate(Truth(), count=1, grid=Grid(24), lpips=False)
    assert np.isfinite(evaluate(Nearest(), count=1, grid=Grid(24), lpips=False)["overall"]["mse"]["mean"])


def test_names_are_taken_once():
    with pytest.raises(InputError, match="there is a corrector 'wos' already"):
        METHODS.register("wos", Nearest)
    with pytest.raises(InputError, match="there is a method 'fd' already"):
        METHODS.register("fd", Nearest)
