"""The paper's denoisers the way one would call them first: the mask ignored, the image scaled by percentiles.

    python -m validation.denoisers [--count 100]

Prints one JSON object: mean PSNR per family. Pixels outside the mask are 0, as in the paper's files; for total
variation and non-local means the 1st and 99th percentiles over the mask become 0 and 1. Compare with the denoisers of
the package, which respect the mask.
"""

import argparse
import json

import numpy as np
from scipy.ndimage import gaussian_filter
from skimage.restoration import denoise_nl_means, denoise_tv_chambolle

from mc2.benchmark.runner import standard_walks
from mc2.benchmark.scores import score_field
from mc2.geometry import Grid
from mc2.zoo import FAMILIES, generate


def plain(mean, mask):
    field = np.where(mask, mean, 0.0)
    low, high = np.percentile(field[mask], [1, 99])
    image = np.where(mask, np.clip((field - low) / (high - low), 0, 1), 0.0)
    return {
        "gaussian_1": gaussian_filter(field, 1),
        "gaussian_2": gaussian_filter(field, 2),
        "tv": low + (high - low) * denoise_tv_chambolle(image, weight=0.1),
        "nlm": low + (high - low) * denoise_nl_means(image, patch_size=5, patch_distance=6, h=0.1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    count, grid, scores = parser.parse_args().count, Grid(), {}
    for index in range(count):
        instance = generate("test", index)
        problem, found = instance.problem, standard_walks(instance, 8, 0, grid, "cpu")
        exact = problem.on_grid(problem.exact, grid)
        for name, field in plain(found.mean, found.mask).items():
            scores.setdefault(name, {family: [] for family in FAMILIES})[instance.family].append(
                score_field(field, exact, found.mask)["psnr"]
            )
    means = {name: {family: float(np.mean(own)) for family, own in rows.items()} for name, rows in scores.items()}
    print(json.dumps({"count": count, "methods": means}, indent=1))


if __name__ == "__main__":
    main()
