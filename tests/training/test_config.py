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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stepz = 5", "unknown key 'stepz': did you mean 'steps'"),
        ("steps = 5", r"table \[network\] is missing"),
        ("steps = 5\nnetwork = 3", r"table \[network\] is missing"),
        ("steps = 5\n[network]\narchitecture = 'unett'", "did you mean 'unet'"),
        ("steps = 5\n[network]\narchitecture = 'unet'\nwidth = 3", "unknown option of unet 'width'"),
        ("[network]\narchitecture = 'unet'", "a run needs an end"),
        ("steps = 5\nrate = -1\n[network]\narchitecture = 'unet'", "rate = -1 must lie between 0 and 1"),
        ("steps = 5\nloss = 'mae'\n[network]\narchitecture = 'unet'", "unknown loss 'mae'"),
        ("steps = 5\nbudgets = 8\n[network]\narchitecture = 'unet'", "budgets = 8 must be a list"),
        ("steps = 5.5\n[network]\narchitecture = 'unet'", "steps = 5.5 must be an integer"),
        ("steps = 5\nname = '../x'\n[network]\narchitecture = 'unet'", "name = '../x' must be a short word"),
        ("steps = 5\n[network]\narchitecture = 'unet'\n[inputs]\nchanels = 3", "did you mean 'channels'"),
        ("steps = 5\n[network]\narchitecture = 'unet'\n[inputs]\nchannels = ['g']", "unknown channel 'g'"),
        ("steps = 5\nby_parts = true\n[network]\narchitecture = 'unet'", "by_parts = True must be false, or true for"),
        (
            "steps = 5\n[network]\narchitecture = 'unet'\n[inputs]\nchannels = ['error']\nvariance = false",
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
