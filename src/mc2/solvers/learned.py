"""Correction by a trained network: weights that are installed, or any other weights file.

Needs torch, which is imported when it is first used.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError
from mc2.functions import Function
from mc2.geometry import Grid
from mc2.networks.installed import ENDING, need_torch, weights_path
from mc2.problems.operator import LAPLACIAN, Operator

if TYPE_CHECKING:
    from mc2.networks.corrector_inputs import CorrectorData

Array = NDArray[Any]
SWEEPS = 4
"""Sweeps of relaxation: enough for the noise of pixels. docs/networks.md has what other numbers gain."""


@dataclass(frozen=True)
class Learned:
    """A network in the memory of a device.

    inputs: what it is given; `Inputs` for a correction.
    grid: pixels along a side of the images it was trained on.
    multiple: of which images must be, for the network.
    half: whether it computes in half precision, where that is fast.
    """

    network: Any
    inputs: Any
    grid: int
    multiple: int
    device: Any
    half: bool = True


@cache
def load_network(weights: str, device: str = "auto", compiled: bool = False, kind: Any = None) -> Learned:
    """A network, ready for use.

    weights: the name of installed ones, or the path of a .safetensors file.
    device: `auto`, `cpu` or `cuda`.
    compiled: by torch.compile, which takes a minute and is worth it for thousands of corrections.
    kind: of inputs, for networks with another task than correction.
    """
    need_torch("correction by a network")
    import torch

    from mc2.networks.corrector_inputs import Inputs
    from mc2.networks.weights_file import on_device, read_weights

    path = Path(weights) if weights.endswith(ENDING) else weights_path(weights)
    network, inputs, grid = read_weights(path, kind or Inputs)
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device 'cuda' cannot be used: torch finds no GPU; use device 'cpu' or 'auto'")
    on_gpu = device == "cuda" or (device == "auto" and torch.cuda.is_available())
    place = torch.device("cuda" if on_gpu else "cpu")
    moved = on_device(network, place)
    return Learned(torch.compile(moved) if compiled else moved, inputs, grid, int(network.multiple), place)  # type: ignore[arg-type]


def correct_by_network(
    learned: Learned,
    mean: Array,
    variance: Array,
    walks: int | Array,
    mask: Array,
    grid: Grid,
    source: Array,
    lift: Array | None = None,
    operator: Operator | Sequence[Operator] = LAPLACIAN,
    *,
    sweeps: int = SWEEPS,
) -> NDArray[np.float32]:
    """Corrected fields from estimates on a grid, 0 outside the mask.

    mean, variance, mask, source: [h, w], or [n, h, w] for many at once.
    source: that of `source_of`.
    walks: per pixel, or one number for each.
    lift: of the source, for weights that were trained on lifted estimates.
    operator: L, or one for each. Images larger than those of training are corrected by overlapping windows.
    sweeps: of relaxation, after the network.
    """
    import torch

    if not np.isclose(*grid.spacing):
        raise InputError("networks know square pixels only: choose grid bounds that are as high as wide")

    from mc2.networks.corrector_inputs import CorrectorData, pixel_of

    def put(values: Any) -> "torch.Tensor":
        field = torch.from_numpy(np.array(values, np.float32, ndmin=3))
        return field.to(learned.device)

    if learned.inputs.lifted and lift is None:
        raise InputError("these weights were trained on lifted estimates: give the lift of the source")
    count = torch.tensor(np.broadcast_to(walks, len(np.array(mean, ndmin=3))), device=learned.device)
    lifted = put(lift) if learned.inputs.lifted else None
    given = CorrectorData(put(mean), put(variance), count, put(source), put(mask), pixel_of(grid), lifted)
    each = [operator] if isinstance(operator, Operator) else operator
    operators = torch.tensor([one.coefficients for one in each], device=learned.device).expand(len(count), 3)
    found: NDArray[np.float32] = correct(learned, given, operators, sweeps).cpu().numpy()
    return found.reshape(np.shape(mean))


def correct(learned: Learned, given: "CorrectorData", operators: Any, sweeps: int = SWEEPS) -> Any:
    """Corrected fields of tensors [n, h, w] on the network's device.

    operators: [n, 3].

    Helmholtz problems are taken for Poisson's, Δu = f − k²u, where u is the estimate's local mean. Lifted networks do
    not need that.
    """
    import torch

    from mc2.networks.corrector_inputs import local_mean
    from mc2.solvers.relaxation import relax

    with torch.inference_mode():
        seen, coefficient = given, operators[:, 0]
        square = coefficient[:, None, None].clamp(min=0)
        if square.any() and not learned.inputs.lifted:
            seen = replace(given, source=given.source - square * local_mean(given))
        field = _pass(learned, seen)
        return relax(field, given.source, coefficient, given.mask, given.spacing, sweeps)


def _pass(learned: Learned, given: "CorrectorData") -> Any:
    """What the network makes of estimates."""
    import torch

    from mc2.networks.corrector_inputs import apply_network, finish, prepare
    from mc2.solvers.windows import by_windows

    def one(part: "CorrectorData") -> "torch.Tensor":
        prepared = prepare(part, learned.inputs)
        # half precision is for GPUs: many CPUs are slower with it
        half = learned.half and learned.device.type == "cuda"
        with torch.autocast(learned.device.type, torch.bfloat16, enabled=half):
            residual = apply_network(learned.network, prepared.channels, learned.multiple)
        return finish(prepared, residual, part)

    if max(given.mean.shape[-2:]) <= learned.grid:
        return one(given)
    return by_windows(one, given, learned.grid)


def source_of(
    source: Function | None, operator: Operator, grid: Grid, mask: NDArray[np.bool_]
) -> NDArray[np.floating[Any]]:
    """A source as networks take it, on a grid, 0 outside the mask: as what is known of Δu, since they have seen that.

    For the biharmonic equation that is a function whose Laplacian is f: Δu differs from it by a harmonic function only.
    """
    if source is not None and operator.order == 4:
        from mc2.fits.batched_lift import lift_of

        return lift_of(source, LAPLACIAN, grid) * mask
    field = np.zeros(grid.shape)
    if source is not None:
        field[mask] = source(*(c[mask] for c in grid.points()))
    return field
