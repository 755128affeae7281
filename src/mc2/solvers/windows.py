"""Large images by overlapping windows: each is corrected alone, and neighbours fade into each other."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from mc2.networks.corrector_inputs import CorrectorData

Correct = Callable[[CorrectorData], Tensor]


def by_windows(correct: Correct, given: CorrectorData, size: int) -> Tensor:
    """What `correct` makes of images [n, h, w] larger than size × size: [n, h, w].

    Windows overlap by half or more. Each is weighted by sin² along both axes, which is 0 at its edges, so that no seam
    is left; where only one window reaches, at the image's edge, it counts alone. Windows are normalised one by one, so
    that each looks like an image of that size.
    """
    h, w = given.mean.shape[-2:]
    high, wide = min(size, h), min(size, w)
    weight = _fade(high, given.mean)[:, None] * _fade(wide, given.mean)[None, :]
    total, field = torch.zeros_like(given.mean[0]), torch.zeros_like(given.mean)
    for top in starts(h, high):
        for left in starts(w, wide):
            rows, columns = slice(top, top + high), slice(left, left + wide)
            total[rows, columns] += weight
            if given.mask[:, rows, columns].any():
                field[:, rows, columns] += weight * correct(given.cut(rows, columns))
    return field / total


def starts(length: int, size: int) -> list[int]:
    """Where windows begin along an axis: the first at 0, the last at its end, steps of at most half a window."""
    steps = math.ceil((length - size) / max(size // 2, 1))
    return [round(number * (length - size) / max(steps, 1)) for number in range(steps + 1)]


def _fade(size: int, like: Tensor) -> Tensor:
    place = (torch.arange(size, device=like.device, dtype=like.dtype) + 0.5) / size
    return torch.sin(math.pi * place).square()
