import numpy as np
import pytest
from scipy.special import jn_zeros

from mc2.geometry import Disk, Rectangle, Square, Triangle
from mc2.walks import first_eigenvalue

J = jn_zeros(0, 1)[0] ** 2

CASES = [
    (Disk(1.0), J),
    (Disk(0.01, center=(3, 2)), J * 1e4),
    (Square(1.0, angle=0.4), np.pi**2 / 2),
    (Rectangle(1.2, 0.6, angle=1.0), np.pi**2 / 4 * (1 / 1.44 + 1 / 0.36)),
    (Triangle(1.0), 16 * np.pi**2 / 9),
    (Disk(0.3, center=(0.5, 0)) | Disk(0.2, center=(-0.5, 0)), J / 0.09),
]


@pytest.mark.parametrize(("domain", "expected"), CASES, ids=repr)
def test_known_eigenvalues(domain, expected):
    assert first_eigenvalue(domain) == pytest.approx(expected, rel=0.01)


def test_thin_domains():
    assert first_eigenvalue(Rectangle(1.0, 0.01)) == pytest.approx(np.pi**2 / 4 * (1 + 1e4), rel=0.05)
