"""The GPU part of `walks.py`: a batch of mixed problems, and the same estimator in plain torch."""

import time

import numpy as np
import torch
from numba import cuda as numba_cuda

import mc2
from mc2.geometry import Disk, Grid
from mc2.walks import estimate_batch
from mc2.walks.gpu.launch import grid_points, launch
from mc2.walks.gpu.packing import pack
from mc2.walks.options import Options
from mc2.walks.plan import make_plan
from mc2.zoo.fields import STANDARD
from problems import mixed_problems

U = "sin(4*x)*cos(4*y)"


def seconds(run, repeats=10):
    """The shortest of a few runs, the device being idle before and after each."""
    run()
    times = []
    for _ in range(repeats):
        numba_cuda.synchronize()
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        numba_cuda.synchronize()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times)


def torch_poisson(walks=8, size=256, epsilon=1e-4, seed=0):
    """Walk on Spheres for the disk problem with vectorised torch operations; ended walks are dropped every 4 steps."""
    generator = torch.Generator("cuda").manual_seed(seed)
    centres = (torch.arange(size, device="cuda") + 0.5) * 2 / size - 1
    y0, x0 = torch.meshgrid(centres, centres, indexing="ij")
    inside = (x0**2 + y0**2 < 1).flatten()
    x, y = (v.flatten()[inside].repeat(walks) for v in (x0, y0))
    values, index = torch.zeros_like(x), torch.arange(x.numel(), device="cuda")
    total = torch.zeros_like(x)
    for step in range(128):
        radius = 1 - torch.sqrt(x * x + y * y)
        if step % 4 == 0:
            ended = radius < epsilon
            scale = 4 / torch.sqrt(x[ended] ** 2 + y[ended] ** 2)
            values[index[ended]] = total[ended] + torch.sin(scale * x[ended]) * torch.cos(scale * y[ended])
            keep = ~ended
            x, y, total, index, radius = x[keep], y[keep], total[keep], index[keep], radius[keep]
            if x.numel() == 0:
                break
        radius = torch.where(radius < epsilon, 0, radius)
        u = torch.rand((4, x.numel()), device="cuda", generator=generator)
        r, angle = radius * torch.sqrt(u[0] * u[1]), 2 * torch.pi * u[2]
        f = -32 * torch.sin(4 * (x + r * torch.cos(angle))) * torch.cos(4 * (y + r * torch.sin(angle)))
        total -= radius**2 / 4 * f
        x = x + radius * torch.cos(2 * torch.pi * u[3])
        y = y + radius * torch.sin(2 * torch.pi * u[3])
    return values.reshape(walks, -1).mean(0)


def cuda(count=64, walks=8):
    problems = mixed_problems(count)
    options = Options(estimator="reduced", **STANDARD)
    plans = [make_plan(p, "reduced" if p.name == "helmholtz" else "standard") for p in problems]
    grid = Grid()
    x, y, keys = grid_points(grid)
    packed = pack(plans, list(range(count)), options).upload()
    walking = seconds(lambda: launch(packed, x, y, keys, [walks], options))
    whole = seconds(
        lambda: estimate_batch(problems, [walks], grid=grid, device="cuda", estimator="reduced", **STANDARD)
    )
    batch = estimate_batch(problems, [walks], grid=grid, device="cuda", estimator="reduced", **STANDARD)
    mask = batch.mask.copy_to_host()
    steps = int(batch.counts.copy_to_host()[:, 0].sum())
    disk = [mc2.Poisson(Disk(), exact=U)]
    disk_plan = pack([make_plan(disk[0])] * count, list(range(count)), Options()).upload()
    engine = seconds(lambda: launch(disk_plan, x, y, keys, [walks], Options())) / count
    plain = seconds(torch_poisson)
    error = batch.mean.copy_to_host()[0, 0] - problems[0].on_grid(problems[0].exact, grid)
    return {
        "device": torch.cuda.get_device_name(),
        "instances": count,
        "walks": walks,
        "walking_ms_per_instance": 1e3 * walking / count,
        "whole_ms_per_instance": 1e3 * whole / count,
        "walks_per_second": float(mask.sum()) * walks / walking,
        "steps_per_second": steps / walking,
        "poisson_disk": {"engine_ms": 1e3 * engine, "torch_ms": 1e3 * plain, "ratio": plain / engine},
        "first_instance_rms_error": float(np.sqrt(np.mean(error[mask[0] == 1] ** 2))),
    }
