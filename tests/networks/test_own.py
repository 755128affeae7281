"""Networks of one's own: trained, saved, read and used by their names, and never imported because a file says so."""

import sys

import pytest

import mc2
from mc2.errors import InputError
from mc2.geometry import Disk
from mc2.networks import own
from mc2.networks.own import use_network
from mc2.networks.weights_file import read_weights
from mc2.training.config import config_from_data
from mc2.training.loop import train

NAME = "tests.networks.my_networks:Plain"
DATA = {
    "name": "mine", "network": {"architecture": NAME, "width": 6}, "steps": 6, "grid": 32, "batch": 4, "rate": 1e-3,
    "precision": "fp32", "budgets": [4], "validations": 1, "validation_count": 4, "compile": False,
}  # fmt: skip


@pytest.fixture
def forgotten(monkeypatch):
    """As in a process that has not heard of the class."""
    monkeypatch.setattr(own, "OWN", {})
    monkeypatch.setattr("mc2.networks.architectures.OWN", own.OWN)
    sys.modules.pop("tests.networks.my_networks", None)


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mine")
    use_network(NAME)
    log = train(config_from_data(DATA), folder, device="cpu")
    assert log["finished"]
    assert log["config"]["network"] == DATA["network"]
    return folder / "mine.safetensors"


def test_it_is_trained_saved_and_used(weights):
    use_network(NAME)
    network, _, grid = read_weights(weights)
    assert (type(network).__name__, grid, network.multiple) == ("Plain", 32, 1)
    assert bool(network.layers[-1].weight.detach().any())
    solution = mc2.solve(mc2.Laplace(Disk(), "x"), 4, corrector=weights, grid=32)
    assert abs(solution.values - solution.problem.on_grid(solution.problem.boundary, solution.grid)).max() < 0.5
    found = mc2.evaluate(weights, walks=4, count=2, grid=32, lpips=False)
    assert found["count"] == 2


@pytest.mark.usefixtures("forgotten")
def test_no_file_has_it_imported(weights):
    for use in (lambda: config_from_data(DATA), lambda: read_weights(weights)):
        with pytest.raises(InputError, match="is code from outside the package, which no file can have run"):
            use()
    assert "tests.networks.my_networks" not in sys.modules


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tests.networks.my_networks", "must be written as module:Class"),
        ("os:system; x", "must be written as module:Class"),
        ("no_such_module:Net", "cannot be imported"),
        ("tests.networks.my_networks:Other", r"is no class of torch\.nn\.Module"),
        ("tests.networks.my_networks:function", r"is no class of torch\.nn\.Module"),
        ("torch.nn:ReLU", "must take channels"),
    ],
)
def test_what_cannot_be_named(name, message):
    with pytest.raises(InputError, match=message):
        use_network(name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"architecture": NAME, "widht": 3}, "did you mean 'width'"),
        ({"architecture": NAME, "width": {}}, "must be made of numbers"),
        ({"architecture": NAME, "width": 1 << 20}, "must be made of numbers"),
        (
            {"architecture": "tests.networks.my_networks:Failing"},
            "cannot be made with these options: .*no such network",
        ),
    ],
)
def test_options_are_checked(options, message):
    for name in ("Plain", "Failing"):
        use_network(f"tests.networks.my_networks:{name}")
    with pytest.raises(InputError, match=message):
        config_from_data(DATA | {"network": options})
