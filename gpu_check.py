import sys

sys.path.insert(0, "benchmarks")
import time
import traceback

import numpy as np

if not hasattr(np, "row_stack"):
    np.vstack = np.vstack
try:
    import pytest

    print("pytest", pytest.__version__)
except ImportError:
    print("no pytest")
import mc2
from mc2.geometry import *
from mc2.walks import *
from mc2.walks.cuda import unavailable

print("unavailable:", repr(unavailable()), np.__version__)
U = "sin(4*x)*cos(4*y)"
D = (Disk(1) | Rectangle(0.9, 0.3, center=(0.4, 0.2))) - Triangle(0.3)
PG = Polygon(
    [(-0.9, -0.8), (0.9, -0.7), (0.8, 0.9), (-0.2, 0.5), (-0.8, 0.8)], holes=[[(-0.2, -0.2), (0.2, -0.2), (0, 0.2)]]
)
for dom in (Disk(1), D, PG):
    for fam, kw in (
        (mc2.Laplace, {}),
        (mc2.Poisson, {}),
        (mc2.Yukawa, dict(lam=25.0)),
        (mc2.Biharmonic, {}),
        (mc2.Helmholtz, dict(k=1.2)),
    ):
        for samp in ("green", "uniform"):
            try:
                p = fam(dom, exact="exp(2*x)*cos(2*y)" if fam is mc2.Laplace else U, **kw)
                t = time.time()
                g = estimate(p, 4096, grid=Grid(24), device="cuda", sampling=samp)
                t1 = time.time() - t
                c = estimate(p, 512, grid=Grid(24), device="cpu", sampling=samp)
                ex = p.on_grid(p.exact, Grid(24))
                m = g.mask
                z = (g.mean - ex)[m] / g.standard_error[m]
                zc = (g.mean - c.mean)[m] / np.sqrt(g.variance + c.variance)[m]
                print(
                    fam.__name__,
                    samp,
                    "z vs exact %.2f (std %.2f)  vs cpu %.2f (std %.2f)"
                    % (z.mean() * np.sqrt(len(z)), z.std(), zc.mean() * np.sqrt(len(z)), zc.std()),
                    "var ratio %.3f" % (g.variance[m].mean() * 8 / c.variance[m].mean()),
                    g.record.truncated,
                    "%.2fs" % t1,
                    "steps/walk %.2f %.2f" % (g.record.steps / 4096 / m.sum(), c.record.steps / 512 / m.sum()),
                )
            except Exception:
                traceback.print_exc()
tr = trajectory(mc2.Poisson(Disk(1), exact=U), [1, 2, 5, 8, 32, 100], grid=Grid(32), device="cuda")
e8 = estimate(mc2.Poisson(Disk(1), exact=U), 8, grid=Grid(32), device="cuda")
print("nested", np.array_equal(tr[3].mean, e8.mean), abs(tr[3].mean - e8.mean).max())
import torch

b = estimate_batch(
    [mc2.Poisson(Disk(1), exact=U), mc2.Laplace(Square(1), exact="x*y")], [1, 8], grid=Grid(64), device="cuda"
)
t = torch.as_tensor(b.mean, device="cuda")
print(
    t.shape,
    t.dtype,
    t.data_ptr() == b.mean.device_ctypes_pointer.value,
    torch.isinf(torch.as_tensor(b.variance)[:, 0]).sum().item(),
)
import json

import walks_cuda

print(json.dumps(walks_cuda.cuda(), indent=1))
