"""What networks are given: from the estimate alone, the same in all units, and back."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.networks.corrector_inputs import CorrectorData, Inputs, finish, local_mean, prepare
from mc2.solvers.windows import by_windows, starts
from mc2.zoo.stream import Stream

ALL = Inputs(("estimate", "source", "mask", "error"), "mean")


def given(budgets=(8,), batch=3, size=48, **options):
    examples = next(iter(Stream(batch=batch, budgets=budgets, grid=Grid(size), device="cpu", **options)))
    names = ("mean", "variance", "walks", "f", "mask")
    fields = [torch.as_tensor(getattr(examples, name)) for name in names]
    return CorrectorData(*fields), torch.as_tensor(examples.u)


def test_what_is_not_in_the_mask_is_not_seen():
    known, _ = given()
    outside = known.mask == 0
    prepared = prepare(known, ALL)
    assert prepared.channels.shape == (3, ALL.size, 48, 48)
    assert (prepared.channels[outside[:, None].expand_as(prepared.channels)] == 0).all()
    changed = replace(known, mean=known.mean + 9 * outside, variance=known.variance + 9 * outside)
    for a, b in zip(prepared, prepare(changed, ALL), strict=True):
        torch.testing.assert_close(a, b)


def test_units_do_not_matter():
    """u → a u + b changes nothing that the network sees, and the same comes out in the new units."""
    known, _ = given()
    other = replace(
        known, mean=(50 * known.mean + 7) * known.mask, variance=2500 * known.variance, source=50 * known.source
    )
    first, second = prepare(known, ALL), prepare(other, ALL)
    torch.testing.assert_close(first.channels, second.channels, rtol=1e-3, atol=1e-3)
    torch.testing.assert_close(50 * first.scale, second.scale, rtol=1e-4, atol=0)
    residual = torch.randn(3, 48, 48)
    torch.testing.assert_close(
        (50 * finish(first, residual, known) + 7) * known.mask, finish(second, residual, other), rtol=1e-3, atol=1e-2
    )


def test_networks_of_the_paper_s_inputs_know_nothing_of_the_variance():
    known, _ = given()
    paper = Inputs(("estimate", "source", "mask"), variance=False)
    changed = replace(known, variance=known.variance * torch.rand_like(known.variance), walks=2 * known.walks)
    for a, b in zip(prepare(known, paper), prepare(changed, paper), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)
    assert (prepare(known, replace(paper, variance=True)).scale != prepare(known, paper).scale).all()


def test_resolution_enters_the_source_only():
    """Δu = f on pixels of half the size is a quarter of the source per pixel."""
    known, _ = given()
    fine, coarse = prepare(known, ALL), prepare(replace(known, pixel=2.0, source=known.source / 4), ALL)
    torch.testing.assert_close(fine.channels, coarse.channels)


def test_normalised_fields_are_of_order_one():
    known, u = given(batch=9)
    prepared = prepare(known, ALL)
    target = (u - prepared.shift) / prepared.scale
    for field, mask in zip(target, known.mask == 1, strict=True):
        assert 0.1 < field[mask].std() < 3  # less where noise is all there is
    assert prepared.channels.abs().max() < 20


@pytest.mark.parametrize("base", ["estimate", "mean"])
def test_a_silent_network_gives_the_base(base):
    known, u = given()
    prepared = prepare(known, Inputs(base=base))
    found = finish(prepared, torch.zeros(3, 48, 48), known)
    error, raw = ((field - u).square().mean() for field in (found, known.mean))
    if base == "estimate":
        torch.testing.assert_close(found, known.mean, rtol=1e-4, atol=1e-4)
    else:
        assert error < 0.3 * raw


def test_one_walk_has_no_variance_but_is_corrected():
    known, _ = given(budgets=(1,))
    assert known.variance.isinf().any()
    prepared = prepare(known, ALL)
    assert all(part.isfinite().all() for part in prepared)
    [mean] = prepare(replace(known, mean=known.mean * torch.nan), ALL).channels[:1]
    assert mean.isfinite().all()


def test_each_input_has_its_channels():
    known, _ = given()
    whole = prepare(known, ALL).channels
    parts = [prepare(known, Inputs((name,))).channels for name in ALL.channels]
    torch.testing.assert_close(torch.cat(parts, 1), whole)
    more = replace(known, variance=4 * known.variance)
    assert (prepare(more, ALL).channels[:, 6:8] > whole[:, 6:8]).any()  # the standard errors
    assert (prepare(known, replace(ALL, channels=("estimate",))).base == prepare(known, ALL).base).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"channels": ["estimate", "eror"]}, r"unknown channels\[1\] 'eror': did you mean 'error'"),
        ({"channels": []}, r"channels = \[\] must be a list of at least one name, each named once"),
        ({"base": "means"}, "unknown base 'means': did you mean 'mean'"),
        ({"lifted": "yes"}, "lifted = 'yes' must be true or false"),
        ({"variance": "no"}, "variance = 'no' must be true or false"),
    ],
)
def test_wrong_inputs(options, message):
    with pytest.raises(InputError, match=message):
        Inputs(**options)


def plain(mean):
    return CorrectorData(
        mean, torch.ones_like(mean), torch.tensor([8.0]), torch.zeros_like(mean), torch.ones_like(mean)
    )


def test_windows_cover_and_fade():
    """Windows that each add another constant meet without a seam; what all agree on is kept exactly."""
    assert starts(256, 256) == [0]
    assert starts(512, 256) == [0, 128, 256]
    assert all(b - a <= 16 for a, b in zip(starts(77, 32), starts(77, 32)[1:], strict=False))
    mean = torch.randn(2, 77, 90)
    torch.testing.assert_close(by_windows(lambda part: part.mean, plain(mean), 32), mean)
    constants = iter(range(1000))
    found = by_windows(lambda part: torch.full_like(part.mean, next(constants) % 2), plain(mean), 32)
    steps = max(found.diff(dim=1).abs().max(), found.diff(dim=2).abs().max())
    assert found.min() >= 0
    assert found.max() <= 1
    assert steps < 0.12  # a hard seam would be a step of 1


def test_windows_without_a_pixel_are_left_out():
    mask = torch.zeros(1, 64, 64)
    mask[:, :10, :10] = 1
    known = replace(plain(torch.ones(1, 64, 64)), mask=mask)
    calls = []
    by_windows(lambda part: calls.append(1) or part.mean, known, 32)
    assert len(calls) == 1


class Blur(nn.Module):
    """A network that is local: it sees three pixels far."""

    multiple = 4

    def forward(self, x):
        return nn.functional.avg_pool2d(x[:, :1], 7, 1, 3)


def test_a_local_network_is_the_same_in_windows():
    from mc2.networks.corrector_inputs import apply_network

    x = torch.randn(1, 1, 96, 96)
    whole = apply_network(Blur(), x, 4)
    parts = by_windows(lambda part: apply_network(Blur(), part.mean[:, None], 4), plain(x[:, 0]), 48)
    inner = slice(8, -8)
    assert (parts - whole)[:, inner, inner].abs().max() < 0.02 * whole.abs().max()


def test_local_means():
    x, y = torch.meshgrid(torch.linspace(-1, 1, 64), torch.linspace(-1, 1, 64), indexing="ij")
    linear = (3 + x - 2 * y)[None]
    noise = torch.randn(linear.shape, generator=torch.Generator().manual_seed(0))

    def inner(mean):
        return local_mean(plain(mean))[:, 4:-4, 4:-4]

    torch.testing.assert_close(inner(linear), linear[:, 4:-4, 4:-4], rtol=1e-4, atol=1e-4)
    weights = torch.tensor([1.0, 2, 3, 4, 5, 4, 3, 2, 1]) / 25  # a mean over 5 pixels, twice
    expected = weights.square().sum().item()  # of the standard error: the same along both axes
    assert inner(linear + noise).sub(inner(linear)).std().item() == pytest.approx(expected, rel=0.1)
