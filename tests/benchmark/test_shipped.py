"""The shipped neural baselines do what the documentation says of them."""

import json
from pathlib import Path

import pytest
from validation.operators import measure

from mc2.benchmark.methods import make_method
from mc2.benchmark.runner import evaluate
from mc2.geometry import Grid

RESULTS = Path(__file__).parents[2] / "docs" / "results"
TABLE = {row["method"]: row for row in json.loads((RESULTS / "reproduce_table.json").read_text("utf-8"))["rows"]}


@pytest.mark.parametrize("name", ["fno", "pino", "fno-fair", "sunet-compact-one-pass"])
@pytest.mark.slow
def test_results_are_of_these_weights(name):
    shown = TABLE[name]["each"]
    found = evaluate(make_method(name), count=len(shown), device="cpu", lpips=False)["instances"]
    assert [row["psnr"] for row in found] == pytest.approx(shown, abs=0.02)


@pytest.mark.slow
def test_an_operator_that_is_told_the_whole_problem_beats_the_mean():
    """By 10 dB and more, on Laplace problems."""
    found = [
        evaluate(make_method(name), count=20, families=["laplace"], device="cpu", lpips=False)
        for name in ("fno-fair", "mean")
    ]
    assert found[0]["overall"]["psnr"]["mean"] > found[1]["overall"]["psnr"]["mean"] + 10


@pytest.mark.slow
def test_physics_in_the_loss_lowers_the_residual():
    fno, pino = (measure(name, 12, Grid())[1] for name in ("fno", "pino"))
    for family in ("poisson", "yukawa"):
        assert pino[family]["residual"] < 0.9 * fno[family]["residual"]


@pytest.mark.parametrize("name", ["diffusion-pde", "cocogen"])
@pytest.mark.slow
def test_samplers_improve_on_walks(name):
    """A few steps are enough for that."""
    wanted = {"count": 2, "families": ["poisson"], "device": "cpu", "lpips": False}
    found, raw = (evaluate(method, **wanted) for method in (make_method(name, steps=10), make_method("wos")))
    assert found["overall"]["psnr"]["mean"] > raw["overall"]["psnr"]["mean"] + 8
