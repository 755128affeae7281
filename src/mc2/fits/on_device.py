"""Arrays that torch and the kernels of numba share on a GPU."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mc2.errors import InputError


def torch_on_device(what: str) -> tuple[Any, Any, Any]:
    """torch; a way to bring arrays to its device, and to make new ones there, that does not wait for it.

    what: for whom torch is needed. torch has memory at hand, which numba would have to ask the driver for.
    """
    try:
        import torch
    except ImportError:
        raise InputError(f"{what} needs torch: pip install 'mc2-pde[learn]', or use device 'cpu'") from None
    from numba import cuda

    cuda.select_device(torch.cuda.current_device())
    types = {np.float32: torch.float32, np.float64: torch.float64, np.uint8: torch.uint8, np.int64: torch.int64}

    def put(array: NDArray[Any]) -> Any:
        signed = array.view(np.int32) if array.dtype == np.uint32 else array
        moved = cuda.as_cuda_array(torch.from_numpy(signed).to("cuda", non_blocking=True))
        return moved.view(array.dtype) if signed is not array else moved

    def empty(shape: tuple[int, ...], dtype: Any) -> Any:
        return cuda.as_cuda_array(torch.empty(shape, dtype=types[dtype], device="cuda"))

    return torch, put, empty
