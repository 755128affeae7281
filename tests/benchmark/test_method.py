"""The interface of methods, and all of them by name."""

import copy
import sys
from functools import cache

import numpy as np
import pytest

from mc2.benchmark.methods import METHODS, Case, Method, make_method
from mc2.benchmark.methods.method import READABLE
from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.zoo import generate, make_fields


class Sum(Method):
    name = "sum"
    setting = "correction"
    reads = ("estimate", "source")

    def solve(self, case):
        return case.estimate + case.source


def everything(index):
    """All that any method may read, of a test instance, and its exact field."""
    values, exact = made(index)
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in values.items()}, exact


@cache
def made(index, size=24):
    instance, grid = generate("test", index), Grid(size)
    fields = make_fields([instance], [8], grid=grid, device="cpu")
    problem = copy.copy(instance.problem)
    problem.exact = None
    exact = instance.problem.on_grid(instance.problem.exact, grid)
    parameter = sum(instance.parameters.values())
    values = {"family": instance.family, "parameter": parameter, "grid": grid, "domain": instance.domain}
    values |= {"mask": fields.mask[0].astype(bool), "source": fields.f[0].astype(float), "problem": problem}
    values |= {"source_function": problem.source, "points": instance.domain.sample_interior(20, seed=0)}
    return values | {"estimate": fields.mean[0, 0], "variance": fields.variance[0, 0], "walks": 8, "seed": 0}, exact


def test_a_method_sees_what_it_declares():
    values = {"estimate": np.ones(2), "source": np.ones(2), "problem": "secret"}
    case = Case(Sum(), values)
    assert Sum().solve(case).tolist() == [2, 2]
    with pytest.raises(InputError, match="sum asks for 'problem', but declares that it reads estimate, source"):
        _ = case.problem


def test_a_setting_limits_what_can_be_declared():
    with pytest.raises(InputError, match="Cheat cannot read problem in the setting 'correction'"):
        type("Cheat", (Method,), {"setting": "correction", "reads": ("mask", "problem")})
    with pytest.raises(InputError, match="cannot read estimate"):
        type("Cheat", (Method,), {"setting": "dense", "reads": ("estimate",)})


NUMERICAL = ("mc2-rounds", "trefftz", "fd", "fd_3", "fd_amg")
"""Solvers that are near the solution on 24 pixels, which are too few for networks."""
FEWER = {name: {"steps": 3} for name in METHODS if name.startswith(("diffusion", "cocogen"))}
"""Settings that save time."""


@pytest.mark.parametrize("name", METHODS)
def test_every_method_solves_every_family(name):
    method = make_method(name)
    assert method.name == name
    assert set(method.reads) <= set(READABLE[method.setting])
    method = make_method(name, **FEWER.get(name, {}))
    for index in range(4 if name == "wos_points" else 5):  # Helmholtz walks need a smaller k
        values, exact = everything(index)
        if values["family"] not in method.families:
            continue
        before = values["estimate"].copy()
        found = method.solve(Case(method, values))
        mask = values["mask"] if method.setting != "points" else np.ones(20, bool)
        assert found.shape == mask.shape
        assert np.isfinite(found[mask]).all()
        np.testing.assert_array_equal(values["estimate"], before)
        if index == 0 and name in NUMERICAL:
            assert np.abs(found - exact)[mask].max() < 0.01 * np.ptp(exact[mask])


def test_plain_methods():
    values, _ = everything(1)
    values["estimate"] = np.where(values["mask"], values["estimate"], np.nan).astype(np.float32)
    estimate, mask = values["estimate"], values["mask"]
    np.testing.assert_array_equal(make_method("wos").solve(Case(make_method("wos"), values)), estimate)
    found = make_method("mean").solve(Case(make_method("mean"), values))
    np.testing.assert_allclose(found, np.full(mask.shape, sum(map(float, estimate[mask])) / mask.sum()))


def test_names_and_parameters():
    with pytest.raises(InputError, match="unknown method 'gaussian_3': did you mean 'gaussian_2'"):
        make_method("gaussian_3")
    with pytest.raises(InputError, match="unknown parameter of tv 'weigth': did you mean 'weight'"):
        make_method("tv", weigth=1)
    with pytest.raises(InputError, match="unknown parameter of wos 'sigma'"):
        make_method("wos", sigma=1)
    with pytest.raises(InputError, match="sigma = -1 must be above 0"):
        make_method("gaussian_1", sigma=-1)
    changed = {
        "gaussian_1": ({"sigma": 3}, "gaussian_3"),
        "median": ({"radius": 3}, "median_3"),
        "bilateral": ({"sigma_color": 0.2}, "bilateral_0.2_5"),
        "tv": ({"weight": 0.2}, "tv_0.2"),
        "nlm": ({"h": 0.2}, "nlm_5_6_0.2"),
        "fd_amg": ({"refine": 3}, "fd_amg_3"),
    }
    for name, (parameters, expected) in changed.items():
        assert make_method(name, **parameters).name == expected


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [
        ("tv", "skimage.restoration", "scikit-image"),
        ("nlm", "skimage.restoration", "scikit-image"),
        ("fd_amg", "pyamg", "pyamg"),
    ],
)
def test_missing_packages(monkeypatch, name, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf"method {name} needs {package}: pip install 'mc2-pde\[baselines\]'"):
        make_method(name)
