"""Training: it learns, it goes on as if it had never stopped, and what it keeps can be used."""

import json

import pytest
import torch

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.networks.weights_file import read_weights
from mc2.solvers.learned import load_network
from mc2.training import loop
from mc2.training.data import training_batches
from mc2.training.loop import learning_rate, train
from mc2.training.tasks import make_task
from mc2.zoo.build import build_zoo

from .runs import CPU, NETWORKS, small


@pytest.fixture(autouse=True)
def _every_step_is_logged(monkeypatch):
    monkeypatch.setattr(loop, "LOG", 1)


def losses(log):
    return [loss for _, loss in log["losses"]]


@pytest.mark.parametrize(
    ("name", "options"), [("unet", {"steps": 300, "rate": 1e-2}), ("sunet", {"steps": 220, "rate": 1e-2, "grid": 16})]
)
@pytest.mark.slow
def test_one_batch_is_learned_by_heart(name, options):
    network = NETWORKS[name] | ({"widths": [16, 32]} if name == "unet" else {"embedding": 16, "drop_path": 0.0})
    config = small(network=network, batch=1, **options)
    batch = next(training_batches(config, 1, 0, 1, CPU))
    state = loop._begin(config, CPU)
    for step in range(config.steps):
        rate = learning_rate(config, step / config.steps)
        loss = loop._step(config, state, make_task(config), state.network, batch, rate)
    assert -10 / torch.log(torch.tensor(10.0)) * loss > 60  # dB


@pytest.mark.parametrize("name", NETWORKS)
def test_a_stopped_run_goes_on_exactly(tmp_path, name):
    """Losses, validations and weights are those of a run that was not stopped, random depths included."""
    config = small(network=NETWORKS[name])
    whole = train(config, tmp_path / "whole", device="cpu")
    calls = iter([False, False, True])
    part = train(config, tmp_path / "parts", device="cpu", stop=lambda: next(calls))
    assert (part["steps"], part["finished"]) == (3, False)
    again = train(config, tmp_path / "parts", device="cpu")
    assert losses(again) == losses(whole)
    assert again["finished"]
    assert [v["psnr"] for v in again["validations"]] == [v["psnr"] for v in whole["validations"]]
    assert again["sha256"] == whole["sha256"]
    assert train(config, tmp_path / "parts", device="cpu")["losses"] == again["losses"]  # nothing is left to do


def test_a_run_leaves_weights_and_a_log(tmp_path):
    news = []
    log = train(small(), tmp_path, device="cpu", report=news.append)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        "network-8.safetensors",
        "optimiser-8.safetensors",
        "small.json",
        "small.safetensors",
        "state.json",
    }
    assert json.loads((tmp_path / "small.json").read_text()) == json.loads(json.dumps(log))
    assert log["instances"] == 32
    assert set(log["before"]) == {"laplace", "poisson", "yukawa", "overall"}
    assert log["best"] == max(log["validations"], key=lambda found: found["psnr"]["overall"])
    assert [entry["step"] for entry in news] == list(range(1, 9))
    assert news[-1]["seconds_left"] == 0
    assert news[-1]["psnr"]["overall"] > log["before"]["overall"]  # local means are better than nothing
    assert load_network(str(tmp_path / "small.safetensors"), "cpu").grid == 32


def test_a_part_of_a_run_ends_in_time(tmp_path):
    log = train(small(steps=100_000, validations=1), tmp_path, device="cpu", seconds=0.5)
    assert not log["finished"]
    assert 0 < log["seconds"] < 20  # without its first steps
    assert log["best"] is not None  # it was looked at, at the end
    longer = train(small(steps=100_000, validations=1), tmp_path, device="cpu", seconds=0.5)
    assert longer["steps"] > log["steps"]
    assert longer["seconds"] > log["seconds"]


def test_another_run_is_not_resumed(tmp_path):
    train(small(steps=1), tmp_path, device="cpu")
    with pytest.raises(InputError, match=r"holds a run with budgets = \[4, 8\], not \[8\]: choose another --out"):
        train(small(steps=1, budgets=[8]), tmp_path, device="cpu")
    assert train(small(steps=2), tmp_path, device="cpu")["steps"] == 2  # it may become longer
    assert train(small(steps=1, budgets=[8]), tmp_path, device="cpu", resume=False)["steps"] == 1
    (tmp_path / "state.json").write_text("{}")
    with pytest.raises(InputError, match="no checkpoint that can be read"):
        train(small(steps=1), tmp_path, device="cpu")


@pytest.mark.parametrize("name", NETWORKS)
def test_a_run_can_begin_with_weights(tmp_path, name):
    train(small(network=NETWORKS[name]), tmp_path / "first", device="cpu")
    weights = tmp_path / "first" / "small.safetensors"
    log = train(
        small(network=NETWORKS[name], start=str(weights), rate=0, final_rate=0), tmp_path / "second", device="cpu"
    )
    best = read_weights(weights)[0].state_dict()
    for key, value in read_weights(tmp_path / "second" / "small.safetensors")[0].state_dict().items():
        torch.testing.assert_close(value, best[key])
    assert log["config"]["start"] == str(weights)
    assert log["start"] == json.loads(weights.with_suffix(".json").read_text())
    with pytest.raises(InputError, match="another network"):
        train(small(start=str(weights), network=NETWORKS[name] | {"patch": 4}), tmp_path / "third", device="cpu")


def test_rates():
    config = small(rate=1e-2, final_rate=1e-4, warmup=0.1)
    assert learning_rate(config, 0.05) == pytest.approx(5e-3)
    assert learning_rate(config, 0.1) == pytest.approx(1e-2)
    assert learning_rate(config, 0.55) == pytest.approx(0.5 * (1e-2 + 1e-4))
    assert learning_rate(config, 1) == pytest.approx(1e-4)


@pytest.mark.parametrize(
    "options", [{"loss": "mse"}, {"loss": "mse", "loss_precision": "bf16"}, {"precision": "bf16"}, {"budgets": [1, 2]}]
)
def test_variants_run(tmp_path, options):
    log = train(small(steps=2, **options), tmp_path, device="cpu")
    assert all(torch.isfinite(torch.tensor(losses(log))))


def test_lifted_estimates(tmp_path):
    config = small(steps=2, inputs={"channels": ["estimate", "mask", "error"], "base": "mean", "lifted": True})
    log = train(config, tmp_path, device="cpu")
    plain = train(small(steps=2), tmp_path / "plain", device="cpu")
    gain = {name: log["best"]["psnr"][name] - plain["best"]["psnr"][name] for name in log["before"]}
    assert abs(gain["laplace"]) < 1  # which has no source
    assert gain["poisson"] > 0.5  # local means of what is smoother


def test_a_run_that_diverges_says_so(tmp_path):
    config = small(rate=1.0, clip=1e9, warmup=0.0, loss="mse", steps=200, validations=1, weight_decay=10)
    with pytest.raises(InputError, match="the loss leaps, or is not finite, at step"):
        train(config, tmp_path, device="cpu")


@pytest.mark.slow
def test_a_run_that_leaps_goes_back(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "LOG", 12)
    monkeypatch.setattr(loop, "learning_rate", lambda config, done: 3.0 if 0.60 < done < 0.62 else 2e-3)
    news = []
    log = train(small(steps=200, validations=4, grid=16), tmp_path, device="cpu", report=news.append)
    assert [entry["returns"] for entry in news] == 129 * [0] + 71 * [1]
    assert [(entry["step"], entry["to"]) for entry in log["returns"]] == [(130, 100)]
    assert log["losses"][-1][1] < max(loss for step, loss in log["losses"] if 50 < step <= 100) + 0.5
    assert all(step <= 120 or step > 130 for step, _ in log["losses"])  # those of the leap are nobody's


def test_built_files(tmp_path):
    """The same instances as the stream's, and the same budgets; only the walks are other ones."""
    build_zoo(tmp_path / "zoo", "train", 0, 8, [4, 8], grid=Grid(32), shard_size=4, device="cpu")
    config = small(folder=str(tmp_path / "zoo"))
    files, stream = (training_batches(chosen, 1, 0, 1, CPU) for chosen in (config, small()))
    first, second = next(files), next(files)
    expected = next(stream)
    torch.testing.assert_close(first.u, expected.u)
    torch.testing.assert_close(first.given.walks, expected.given.walks)
    assert (next(training_batches(config, 0, 0, 1, CPU)).u == second.u).all()  # they begin again
    parts = [next(training_batches(config, 1, rank, 2, CPU)) for rank in (0, 1)]
    torch.testing.assert_close(torch.cat([part.given.mean for part in parts]), first.given.mean)
    for options, message in (
        ({"grid": 64}, "has 32 pixels along a side, but grid = 64"),
        ({"budgets": [4, 16]}, "no estimates at 16 walks"),
        ({"inputs": {"lifted": True}}, "hold no lift"),
    ):
        with pytest.raises(InputError, match=message):
            next(training_batches(small(folder=config.folder, **options), 0, 0, 1, CPU))
