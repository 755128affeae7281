"""Networks as somebody outside the package would write them."""

from torch import nn


class Plain(nn.Module):
    """Three convolutions; begins at nothing."""

    def __init__(self, channels, *, width=8):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(channels, width, 3, padding=1), nn.SiLU(), nn.Conv2d(width, width, 3, padding=1), nn.SiLU(),
            nn.Conv2d(width, 1, 3, padding=1),
        )  # fmt: skip
        nn.init.zeros_(self.layers[-1].weight)

    def forward(self, x):
        return self.layers(x)


class Failing(nn.Module):
    def __init__(self, channels):
        raise ValueError("no such network")


def function(channels):
    """Not a class."""
