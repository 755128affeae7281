"""Networks of the baselines: every input and every parameter counts, and their mathematics is right."""

import math

import numpy as np
import pytest
import torch

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.networks.architectures import make_network
from mc2.networks.fno import FNO, FourierLayer, coordinates
from mc2.networks.noise_unet import NoiseUNet
from mc2.networks.preconditioning import SPREAD, coefficients, denoise


def shaken(network):
    """A network in which no parameter is 0."""
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return network.eval()


def test_a_fourier_layer_knows_plane_waves():
    """A wave below the cut is multiplied by its complex weight: its phase and its size change, nothing else does."""
    layer = FourierLayer(1, 6)
    torch.nn.init.zeros_(layer.local.weight)
    torch.nn.init.zeros_(layer.local.bias)
    y, x = torch.meshgrid(torch.arange(16.0), torch.arange(24.0), indexing="ij")

    def wave(ky, kx, shift=0.0):
        return torch.cos(2 * math.pi * (ky * y / 16 + kx * x / 24) + shift)[None, :, :, None]

    with torch.no_grad():
        for ky, kx in ((1, 2), (-2, 1), (2, 3)):
            number = (ky % 6) * 4 + kx
            weight = complex(layer.real[number].item(), layer.imaginary[number].item())
            found = layer(wave(ky, kx))
            torch.testing.assert_close(found, abs(weight) * wave(ky, kx, math.atan2(weight.imag, weight.real)))
        assert layer(wave(4, 1)).abs().max() < 1e-5  # above the cut
        assert layer(wave(1, 5)).abs().max() < 1e-5


@pytest.mark.parametrize("size", [(16, 24), (9, 6)])
def test_a_fourier_layer_is_one_of_transforms(size):
    """As by the fast transform of the whole spectrum, of which all but the lowest frequencies are set to 0."""
    torch.manual_seed(0)
    layer, x, (h, w) = FourierLayer(3, 6), torch.randn(2, *size, 3), size
    with torch.no_grad():
        found = torch.fft.rfft2(x, dim=(1, 2), norm="forward")
        full, weights = torch.zeros_like(found), torch.complex(layer.real, layer.imaginary).view(6, 4, 3, 3)
        for rows, own in ((slice(0, 3), weights[:3]), (slice(h - 3, h), weights[3:])):
            full[:, rows, :4] = torch.einsum("njki,jkio->njko", found[:, rows, :4], own)
        expected = torch.fft.irfft2(full, (h, w), dim=(1, 2), norm="forward")
        torch.testing.assert_close(layer(x) - layer.local(x), expected, rtol=1e-4, atol=1e-5)


def test_an_fno_is_the_same_operator_on_another_grid():
    network = shaken(FNO(1, width=6, modes=6, layers=2, padding=0.125))
    coarse, fine = (torch.from_numpy(np.sin(2 * Grid(n).points()[0]))[None, None].float() for n in (32, 96))
    with torch.no_grad():
        a, b = network(coarse), network(fine)[..., 1::3, 1::3]  # the same points
    assert (a - b).abs().max() < 0.05 * a.std() * 3
    torch.testing.assert_close(coordinates(coarse)[0, 0, 0], torch.from_numpy(Grid(32).x).float())
    torch.testing.assert_close(coordinates(coarse)[0, 1, :, 0], torch.from_numpy(Grid(32).y).float())


def test_images_below_the_modes_are_refused():
    with pytest.raises(InputError, match="an FNO of 8 modes needs as many pixels"):
        FNO(1, width=4, modes=8, layers=1)(torch.zeros(1, 1, 6, 12))
    with pytest.raises(InputError, match="modes = 5 must be even"):
        make_network({"architecture": "fno", "modes": 5}, 1)


def test_the_paper_s_fno_fits_in_its_file():
    with torch.device("meta"):
        network = make_network({"architecture": "fno"}, 5)
    assert sum(parameter.numel() for parameter in network.parameters()) * 2 < 16 * 2**20


def test_a_noise_unet_uses_all_it_has():
    network = shaken(NoiseUNet(4, widths=(8, 12), blocks=1, patch=2, embedding=8))
    x, noise = torch.randn(2, 4, 16, 16), torch.tensor([-1.0, 0.5])
    found = network(x, noise)
    assert found.shape == x.shape
    assert ((network(x, noise + 0.3) - found).abs().amax((1, 2, 3)) > 1e-3).all()
    for channel in range(4):
        other = x.clone()
        other[:, channel] += 0.5
        assert (network(other, noise) - found).abs().max() > 1e-4
    found.square().sum().backward()
    for key, parameter in network.named_parameters():
        assert parameter.grad is not None, key
        assert (parameter.grad != 0).any(), key


def test_preconditioning():
    """What the network sees and says has unit spread at every level; D is x without noise, and c_out F with much."""
    sigma = torch.tensor([1e-4, 0.1, 1.0, 10.0, 1e4])
    skip, out, into, noise = coefficients(sigma)
    torch.testing.assert_close(into.square() * (sigma.square() + SPREAD**2), torch.ones(5))
    torch.testing.assert_close((1 - skip).square() * SPREAD**2 + skip.square() * sigma.square(), out.square())
    torch.testing.assert_close(noise, sigma.log() / 4)
    torch.manual_seed(0)
    x, guess = torch.randn(5, 2, 6, 7), torch.randn(5, 2, 8, 8)
    found = denoise(lambda x, noise: guess, x, sigma, multiple=4)
    assert found.shape == x.shape
    torch.testing.assert_close(found[0], x[0], atol=1e-3, rtol=0)
    torch.testing.assert_close(found[4], SPREAD * guess[4, :, :6, :7], atol=1e-4, rtol=0)
