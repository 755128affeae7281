"""What methods are told of an instance."""

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.walks import estimate
from mc2.zoo import generate
from mc2.zoo.told import told


@pytest.mark.parametrize("index", range(5))
def test_data_are_known_on_the_boundary_alone(index):
    instance = generate("test", index)
    problem, domain = told(instance.problem), instance.domain
    assert problem.exact is None
    edge, inside = domain.sample_boundary(100, seed=0).T, domain.sample_interior(100, seed=0).T
    np.testing.assert_array_equal(problem.boundary(*edge), instance.truth(*edge))
    for data in filter(None, (problem.boundary, problem.laplacian)):
        with pytest.raises(InputError, match=r"known on the boundary, and .* is .* away from it"):
            data(*inside)
        with pytest.raises(InputError, match="no derivatives"):
            data.apply(0, 1, 0)
    if instance.family != "helmholtz":
        walks = [estimate(way, 4, grid=24, device="cpu").mean for way in (problem, instance.problem)]
        np.testing.assert_array_equal(*walks)
