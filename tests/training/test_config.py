"""Configurations: all of ours are fine, and wrong ones say what is wrong."""

from pathlib import Path

import pytest
from validation.ablations import read_runs

from mc2.errors import InputError
from mc2.training.config import config_from_data, read_config

from .runs import small

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.stem)
def test_ours_can_be_read(path):
    if path.stem == "ablations":
        runs = read_runs(path)
        assert runs["no-source"].inputs.channels == ("estimate", "mask", "error")
        assert runs["no-source"].budgets == runs["multi-budget"].budgets
        assert runs["lifted"].inputs.lifted
    else:
        assert read_config(path).name == path.stem


def test_plain_data_and_back():
    config = small(loss="mse")
    assert config_from_data(config.data) == config


def test_progress_is_what_comes_first():
    config = small(steps=100, seconds=10)
    assert config.progress(50, 2) == 0.5
    assert config.progress(50, 8) == 0.8
    assert config.progress(500, 8) == 1
    assert small(steps=0, seconds=10).progress(500, 1) == 0.1


UNET = "[network]\narchitecture = 'unet'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stepz = 5", "unknown key 'stepz': did you mean 'steps'"),
        ("steps = 5", "lacks 'network': a table with an architecture"),
        ("steps = 5\nnetwork = 3", "network = 3 must be a table with an architecture"),
        ("steps = 5\n[network]\nwidths = [8]", "network = .* must be a table with an architecture"),
        ("steps = 5\n[network]\narchitecture = 'unett'", "did you mean 'unet'"),
        (f"steps = 5\n{UNET}\nwidth = 3", "unknown option of unet 'width'"),
        (UNET, "a run needs an end"),
        (f"steps = 5\nrate = -1\n{UNET}", "rate = -1 must be a finite number from 0 to 1"),
        (f"steps = 5\nloss = 'mae'\n{UNET}", "unknown loss 'mae'"),
        (f"steps = 5\nbudgets = 8\n{UNET}", "budgets = 8 must be a list"),
        (f"steps = 5.5\n{UNET}", "steps = 5.5 must be an integer"),
        (f"steps = 5\nname = '../x'\n{UNET}", "name = '../x' must be a short word"),
        (
            f"steps = 5\n{UNET}\n[inputs]\nchanels = 3",
            r"\[inputs\]: unknown key 'chanels': did you mean 'channels'",
        ),
        (
            f"steps = 5\n{UNET}\n[inputs]\nchannels = ['g']",
            r"\[inputs\]: unknown channels\[0\] 'g': known: error, estimate, mask, source",
        ),
        (
            f"steps = 5\nby_parts = true\n{UNET}",
            "by_parts = true is for architecture = 'sunet' alone",
        ),
        (
            f"steps = 5\n{UNET}\n[inputs]\nchannels = ['error']\nvariance = false",
            "'error' is made of the variance",
        ),
        ("\x00", "not valid TOML"),
    ],
)
def test_wrong_files(tmp_path, text, message):
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as found:
        read_config(path)
    assert str(path) in str(found.value)
    assert "\n" not in str(found.value)
