"""A method from outside the package: its own class, and an entry point that is loaded when it is asked for."""

from importlib.metadata import EntryPoint

import pytest

from mc2 import InputError
from mc2.benchmark.methods import METHODS, Method, make_method
from mc2.benchmark.runner import evaluate
from mc2.geometry import Grid

PROTOCOL = {"count": 5, "grid": Grid(24), "lpips": False}


class Nearest(Method):
    """The boundary value nearest to every pixel."""

    name, setting, reads = "nearest", "dense", ("problem", "grid")

    def solve(self, case):
        return case.problem.boundary(*case.problem.domain.project(*case.grid.points()))


class Cheat(Nearest):
    """What it reads off the boundary would be the solution."""

    def solve(self, case):
        return case.problem.boundary(*case.grid.points())


def test_it_is_judged_and_cannot_look_inside(monkeypatch):
    declared = EntryPoint("mine", f"{__name__}:Nearest", "mc2.methods")
    monkeypatch.setitem(METHODS.__dict__, "_declared", {"mine": declared})
    assert 5 < evaluate(make_method("mine"), **PROTOCOL)["overall"]["psnr"]["mean"] < 25
    METHODS.remove("mine")
    with pytest.raises(InputError, match=r"nearest on pdezoo-1/test/0000000: boundary data are known on the boundary"):
        evaluate(Cheat(), **PROTOCOL)
    with pytest.raises(InputError, match="there is a corrector 'wos' already"):
        METHODS.register("wos", Nearest)
