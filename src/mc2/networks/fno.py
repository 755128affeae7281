"""FNO: the Fourier neural operator (Li and others, 2021), which learns a map between fields.

    channels and coordinates → multilayer perceptron → Fourier layers → multilayer perceptron

A Fourier layer adds two linear maps of the features: one at every pixel, and one of the lowest frequencies of the whole
image, with weights of its own for each of them. Between layers stands a GELU. Everything but the frequencies is done
pixel by pixel, so that a network works on any grid.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from mc2.errors import InputError


class FNO(nn.Module):
    """[n, channels, h, w] → [n, 1, h, w], for images of at least `modes` pixels along each side.

    width: of the features.
    modes: frequencies kept along each axis, negative ones included: 16 are −8 … 7 along y, and 0 … 8 along x, of which
        the others are conjugates.
    layers: Fourier layers.
    padding: share by which the image grows, with zeros, since fields are not periodic. Good values are the defaults,
        which are the paper's. (Li's own code counts each sign for itself; 16 such modes would be four times the
        weights.).
    """

    multiple = 1

    def __init__(
        self, channels: int, *, width: int = 64, modes: int = 16, layers: int = 4, padding: float = 0.0625
    ) -> None:
        super().__init__()
        if modes % 2:
            raise InputError(f"modes = {modes} must be even: as many of them are negative as not")
        self.modes, self.padding = modes, padding
        self.lift = nn.Sequential(nn.Linear(channels + 2, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.layers = nn.ModuleList(FourierLayer(width, modes) for _ in range(layers))
        self.output = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, 1))
        for parameter in self.output[2].parameters():  # so that training begins at 0
            nn.init.zeros_(parameter)

    def forward(self, x: Tensor) -> Tensor:
        h, w = x.shape[-2:]
        if min(h, w) < self.modes:
            raise InputError(f"an FNO of {self.modes} modes needs as many pixels along a side, not {h} × {w}")
        x = torch.cat([x, coordinates(x)], 1).permute(0, 2, 3, 1)  # [n, h, w, features] from here
        x = functional.pad(self.lift(x), (0, 0, 0, round(self.padding * w), 0, round(self.padding * h)))
        for number, layer in enumerate(self.layers):
            x = layer(functional.gelu(x) if number else x)
        return self.output(x[:, :h, :w]).permute(0, 3, 1, 2)


class FourierLayer(nn.Module):
    """A linear map at every pixel plus one of the lowest frequencies, on [n, h, w, width].

    Complex weights are two real tensors, so that files and half precision know them.
    """

    def __init__(self, width: int, modes: int) -> None:
        super().__init__()
        self.cut = modes // 2
        self.local = nn.Linear(width, width)
        shape = modes * (self.cut + 1), width, width
        self.real = nn.Parameter(torch.randn(shape) / width)
        self.imaginary = nn.Parameter(torch.randn(shape) / width)

    def forward(self, x: Tensor) -> Tensor:
        return self.local(x) + self._by_frequency(x.float())

    def _by_frequency(self, x: Tensor) -> Tensor:
        """Transforms along y of products with the few waves along x that are kept; a full transform takes longer."""
        h, w, cut = x.shape[1], x.shape[2], self.cut
        along = waves(w, cut + 1, x)
        with torch.autocast(x.device.type, enabled=False):  # sums over many pixels need full precision
            cosine, sine = (along.T @ x).chunk(2, 2)
            found = torch.fft.fft(torch.complex(cosine, -sine), dim=1)  # [n, h, kx, width]
            low = torch.cat([found[:, :cut], found[:, h - cut :]], 1).flatten(1, 2)  # [n, frequencies, width]
            mixed = torch.einsum("nki,kio->nko", low, torch.complex(self.real, self.imaginary)) / w
            mixed = mixed.view(len(x), 2 * cut, cut + 1, -1)
            between = mixed.new_zeros(len(x), h - 2 * cut, *mixed.shape[2:])
            found = torch.fft.ifft(torch.cat([mixed[:, :cut], between, mixed[:, cut:]], 1), dim=1)
            share = torch.full((cut + 1,), 2.0, device=x.device)  # conjugates are not made
            share[0] = 1.0
            if 2 * cut == w:
                share[-1] = 1.0
            return (share.repeat(2) * along) @ torch.cat([found.real, -found.imag], 2)


def waves(size: int, count: int, like: Tensor) -> Tensor:
    """cos 2πkx/size, and then sin, for x = 0, 1, … and k below the count: [size, 2 · count]."""
    turns = torch.arange(size, device=like.device)[:, None] * torch.arange(count, device=like.device) % size
    angle = 2 * math.pi / size * turns
    return torch.cat([angle.cos(), angle.sin()], 1)


def coordinates(x: Tensor) -> Tensor:
    """Pixel centres on [-1, 1]² for a batch of images: [n, 2, h, w]."""
    n, _, h, w = x.shape
    rows, columns = ((2 * torch.arange(size, device=x.device) + 1) / size - 1 for size in (h, w))
    return torch.stack([columns.expand(h, w), rows[:, None].expand(h, w)]).to(x.dtype).expand(n, 2, h, w)
