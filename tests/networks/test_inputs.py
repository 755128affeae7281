"""What baselines are given: without units, and with the equation kept."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.networks.joint_fields import JointFields, exact_units, join, joint_residual
from mc2.networks.operator_inputs import CHANNELS, OperatorData, OperatorInputs, finish, prepare
from mc2.networks.residual import STEEP, inside, residual
from mc2.zoo import generate
from mc2.zoo.fields import boundary_fields, exact_fields

GRID = Grid(64)


def tensors(index, split="train"):
    """u, f, c, mask, distance and g of an instance."""
    problem = generate(split, index).problem
    mask = problem.mask(GRID)[None]
    u, f = exact_fields([problem], GRID, mask)
    fields = (
        torch.from_numpy(np.asarray(part, np.float32)) for part in (u, f, mask, *boundary_fields([problem], GRID))
    )
    return *fields, torch.tensor([problem.operator.mass], dtype=torch.float32)


def smooth(size):
    """u, Δu − 3u and the mask of a disk, with the spacing of the grid."""
    x, y = Grid(size).points()
    u, mask = np.exp(x) * np.sin(2 * y), x**2 + y**2 < 0.8
    return [torch.from_numpy(part)[None] for part in (u, -6 * u, mask.astype(float))] + [Grid(size).spacing[0]]


def test_residuals_vanish_at_fourth_order():
    errors = []
    for size in (32, 64):
        u, f, mask, spacing = smooth(size)
        found = residual(u, f, torch.tensor([-3.0]), mask, spacing)
        assert found.shape == (1, size - 4, size - 4)
        errors.append(found.abs().max().item())
    assert errors[1] < 1e-4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)


def test_residuals_see_nothing_outside_the_mask():
    u, f, mask, spacing = smooth(32)
    c = torch.tensor([-3.0])
    outside = torch.where(mask > 0, u, 1e9)
    torch.testing.assert_close(residual(outside, f, c, mask, spacing), residual(u, f, c, mask, spacing))
    assert 0 < inside(mask).sum() < mask.sum()
    assert inside(torch.ones(1, 32, 32)).all()


@pytest.mark.parametrize("channels", [("source",), CHANNELS])
@pytest.mark.parametrize("index", [1, 2])
def test_operators_are_linear(channels, index):
    """A problem that is scaled and moved looks the same to a network, and its solution goes along."""
    _, f, mask, distance, g, c = tensors(index)
    inputs = OperatorInputs(channels)
    moved = 0.7 if "boundary" in channels else 0.0
    known = OperatorData(f, mask, c, distance, g)
    other = replace(known, source=5 * (f + c * moved) * mask, boundary=5 * (g + moved))
    first, second = prepare(known, inputs), prepare(other, inputs)
    torch.testing.assert_close(first.channels, second.channels, rtol=1e-3, atol=1e-4)
    output = torch.randn(1, 64, 64)
    torch.testing.assert_close(
        5 * (finish(first, output, mask) + moved * mask), finish(second, output, mask), rtol=1e-3, atol=1e-3
    )


def test_networks_without_a_source_have_units_of_their_own():
    _, f, mask, _, _, c = tensors(0)
    prepared = prepare(OperatorData(f, mask, c), OperatorInputs())
    assert (prepared.scale == 1).all()
    assert (prepared.channels == 0).all()
    with pytest.raises(InputError, match=r"unknown channels\[0\] 'surce': did you mean 'source'"):
        OperatorInputs(("surce",))
    with pytest.raises(InputError, match=r"channels = \[\] must be a list of at least one name, each named once"):
        OperatorInputs(())


@pytest.mark.parametrize("index", [0, 1, 2])
def test_joint_fields_keep_the_equation(index):
    u, f, mask, _, _, c = tensors(index)
    units = exact_units(u, f, -c, mask)
    x = join(u, f, -c, mask, units)
    assert x.shape == (1, 4, 64, 64)
    torch.testing.assert_close(units.field(x, mask), u, rtol=1e-4, atol=1e-4)
    expected = residual(u, f, c, mask, GRID.spacing[0]) / (2 * STEEP * units.scale)
    torch.testing.assert_close(joint_residual(x, -c, mask, GRID.spacing[0]), expected, rtol=1e-3, atol=1e-3)
    inner = mask[:, None].expand(-1, 2, -1, -1) > 0
    assert x[:, :2][inner].square().mean().sqrt() < 0.51
    assert x.abs().amax((0, 2, 3))[2:].tolist() == pytest.approx([abs(-c.item() / 50 - 0.5), 0.5])
    other = join(3 * u, 3 * f, -c, mask, exact_units(3 * u, 3 * f, -c, mask))
    torch.testing.assert_close(other, x, rtol=1e-4, atol=1e-4)


def test_noise_laws_are_checked():
    with pytest.raises(InputError, match="noise_spread = 0 must be a finite number above 0"):
        JointFields(noise_spread=0)
