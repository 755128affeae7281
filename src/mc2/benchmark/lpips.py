"""LPIPS v0.1 with AlexNet (Zhang, Isola, Efros, Shechtman and Wang, 2018): how different two images look to people.

The weights are those of the authors (BSD-2-Clause) on AlexNet as torchvision ships it (BSD-3-Clause); see
`LICENSES.md` beside them. Images have three channels in [-1, 1].
"""

import hashlib
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.networks.installed import weights_path
from mc2.reading.plain import read_plain

WEIGHTS = "lpips_alex"
"""Installed with those of the networks."""
SHA256 = "be5e9c81e7213853c558abbfd3905eb21993bc3cb8cae5ddd06140b85bb12dbe"
"""Checksum of the file of weights: with others, scores would be others."""

SHIFT = (-0.030, -0.088, -0.188)
SCALE = (0.458, 0.448, 0.450)
MOST = 1 << 24
"""Bytes that the file may have."""
LAYERS = ((4, 2), (1, 2), (1, 1), (1, 1), (1, 1))
"""Stride and padding of every convolution. Before the second and the third, a maximum over 3 × 3 with stride 2."""

LEAST = 31
"""Pixels along a side: of smaller images, nothing is left after the two maxima."""


class Lpips:
    """Call it with two images [3, height, width] for their distance.

    Images are compared one pair at a time, whatever the batch, so that a score never depends on its neighbours.
    """

    def __init__(self) -> None:
        try:
            import torch
            from safetensors.torch import load
        except ImportError:
            raise InputError("LPIPS needs torch: pip install 'mc2-pde[learn]', or leave it out (--no-lpips)") from None
        try:
            path = weights_path(WEIGHTS)
            content = read_plain(path, MOST, "weights file")
            if hashlib.sha256(content).hexdigest() != SHA256:
                raise InputError(f"{path} is damaged: its checksum differs; install the weights again")
        except InputError as error:
            raise InputError(f"LPIPS: {error}; or leave it out (--no-lpips)") from None
        self._torch = torch
        self._weights = load(content)

    def __call__(self, first: NDArray[Any], second: NDArray[Any]) -> float:
        torch = self._torch
        if min(first.shape[-2:]) < LEAST:
            raise InputError(
                f"LPIPS needs {LEAST} pixels along a side, not {min(first.shape[-2:])}: leave it out (--no-lpips)"
            )
        images = torch.from_numpy(np.stack([first, second]).astype(np.float32))  # [2, 3, h, w]
        shift, scale = (torch.tensor(values).reshape(1, 3, 1, 1) for values in (SHIFT, SCALE))
        with torch.inference_mode():
            return float(sum(part.mean() for part in self._layers((images - shift) / scale, self._weights)))

    def many(self, first: Any, second: Any) -> Any:
        """Distances [n] of many pairs at once, from tensors [n, 3, height, width] on any device.

        They agree with those of single pairs but for rounding.
        """
        torch = self._torch
        images = torch.cat([first, second]).float()
        shift, scale = (torch.tensor(values, device=images.device).reshape(1, 3, 1, 1) for values in (SHIFT, SCALE))
        weights = {name: weight.to(images.device) for name, weight in self._weights.items()}
        # TensorFloat-32 would keep three digits only
        with torch.inference_mode(), torch.backends.cudnn.flags(allow_tf32=False):
            return sum(part.mean((1, 2, 3)) for part in self._layers((images - shift) / scale, weights))

    def _layers(self, x: Any, weights: Any) -> Any:
        """The weighted squared difference of normalised features, layer by layer. x: first images, then second ones."""
        functional = self._torch.nn.functional
        for number, (stride, padding) in enumerate(LAYERS):
            if number in (1, 2):
                x = functional.max_pool2d(x, 3, 2)
            weight, bias = weights[f"conv{number}.weight"], weights[f"conv{number}.bias"]
            x = functional.relu(functional.conv2d(x, weight, bias, stride, padding))
            unit = x / (x.square().sum(1, keepdim=True).sqrt() + 1e-10)
            difference = (unit[: len(x) // 2] - unit[len(x) // 2 :]).square()
            yield functional.conv2d(difference, weights[f"lin{number}.weight"])


@cache
def lpips() -> Lpips:
    """The one that everyone shares."""
    return Lpips()
