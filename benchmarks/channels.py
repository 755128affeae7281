"""What several right-hand sides cost, in units of one: three colours, walked and solved together and alone.

python benchmarks/channels.py        ratios of wall-clock and of processor time, the shortest of a few runs of each
"""

import time

import numpy as np

import mc2
from mc2.geometry import Disk, Polygon, Rectangle, Square

COLOURS = ("0.5 + 0.5*sin(3*x + y)", "0.5 + 0.5*cos(4*y)", "exp(-x**2)*y")
KEYHOLE = Disk(1.0) - Rectangle(0.3, 0.2, center=(0.2, 0.1))
REPEATS = 7


def star(corners=60):
    t = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    r = 1 + 0.3 * np.sin(5 * t) + 0.05 * np.random.default_rng(0).normal(size=corners)
    return Polygon(np.stack([r * np.cos(t), r * np.sin(t)], 1))


def both(together, alone):
    """(wall-clock, processor) ratios, and the seconds of one."""
    times = np.full((2, 2, REPEATS), np.inf)
    for repeat in range(REPEATS):
        for place, run in enumerate((together, alone)):
            begin = time.perf_counter(), time.process_time()
            run()
            times[place, :, repeat] = time.perf_counter() - begin[0], time.process_time() - begin[1]
    shortest = times.min(axis=2)
    return shortest[0] / shortest[1], shortest[1, 0]


def main():
    image = np.random.default_rng(0).uniform(size=(3, 8, 8)).repeat(8, 1).repeat(8, 2)
    colours = {
        "disk": [mc2.Laplace(Disk(), boundary=colour) for colour in COLOURS],
        "keyhole": [mc2.Laplace(KEYHOLE, boundary=colour) for colour in COLOURS],
        "keyhole, one source": [mc2.Poisson(KEYHOLE, source="sin(5*x)", boundary=colour) for colour in COLOURS],
        "keyhole, three sources": [mc2.Poisson(KEYHOLE, source=colour, boundary=colour) for colour in COLOURS],
        "60 corners": [mc2.Laplace(star(), boundary=colour) for colour in COLOURS],
        "square, an image": [mc2.Laplace(Square(), boundary=channel) for channel in image],
    }
    for name, problems in colours.items():
        runs = {
            "estimate, 64 walks": (
                lambda p=problems: mc2.estimate_many(p, 64, grid=128, device="cpu"),
                lambda p=problems: mc2.estimate(p[0], 64, grid=128, device="cpu"),
            ),
            "solve": (lambda p=problems: mc2.solve_many(p), lambda p=problems: mc2.solve(p[0])),
        }
        for what, (together, alone) in runs.items():
            if name.startswith("square") and what != "solve":
                continue
            together(), alone()
            (wall, processor), seconds = both(together, alone)
            print(f"{name:24} {what:20} {wall:5.2f} {processor:5.2f}   one: {seconds:.3f} s", flush=True)


if __name__ == "__main__":
    main()
