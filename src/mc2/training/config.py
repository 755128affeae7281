"""What is trained, on what, and for how long: a frozen dataclass, from a TOML file that may have no other keys.

name = "mc2"                             # of the weights file
seconds = 1800                           # or steps = 20000
budgets = [4, 8, 16, 32]

[network]
architecture = "sunet"                   # or "unet", with whatever its class takes
embedding = 48

[inputs]
channels = ["estimate", "source", "mask", "error"]

Other tasks than correction, such as task = "operator", have other keys in [inputs]: those of `TASKS`.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from mc2.checks import finite, listed, whole
from mc2.errors import InputError, short, unknown
from mc2.geometry import Grid
from mc2.networks.architectures import plan_network
from mc2.networks.corrector_inputs import Inputs
from mc2.networks.joint_fields import JointFields
from mc2.networks.operator_inputs import OperatorInputs
from mc2.reading.plain import naming
from mc2.reading.toml import read_toml
from mc2.walks.engine import check_budgets
from mc2.zoo.laws import TRAINING

LOSSES = ("log", "mse")
PRECISIONS = ("bf16", "fp32")
TASKS: dict[str, Any] = {kind.task: kind for kind in (Inputs, OperatorInputs, JointFields)}
"""What a network can be trained for, and what it is given: the keys of [inputs]."""
DENOISERS = ("noise-unet",)
"""Architectures that know the noise level, which only a diffusion model has."""


@dataclass(frozen=True)
class Config:
    """A training run.

    name: of the weights file. network: `architecture`, and what its class takes. start: a weights file of such a
    network to begin with, as longer training in several parts needs; a new network if not given. task: `correction` of
    an estimate; `operator`, from a problem to its solution; `diffusion`, denoising of joint fields. inputs: see the
    task's own class in `TASKS`.

    budgets: walks per pixel, one of them at random for every instance. grid: pixels along a side. batch: instances per
    step, over all processes together. families: only these; all of the split if none is named. instances: use only so
    many of the training split, of these families; 0 for all. folder: take them from there, as `mc2 zoo build` made
    them, instead of making them on the fly. seed: of weights, walks and budgets.

    loss: `mse`, the mean squared error over the mask, normalised as the estimate is; `log`, the mean of its logarithm,
    which weighs easy and hard instances alike; both for corrections. loss_precision: of that loss; precision: of the
    network. physics: weight of the equation's residual in the loss of an operator (Li and others, 2021).

    rate, final_rate: AdamW's, at the start and at the end of a cosine. warmup: part of the run in which it rises from
    0. weight_decay: of AdamW. clip: largest norm of a gradient. ema: decay of the average of the weights, which is what
    is validated and kept.

    steps, seconds: the run's length, whichever ends first; 0 for no limit. validations: in the run, evenly spread.
    validation_count: instances of the validation split, at least, since batches are whole. validation_walks: their
    budget. compile: with torch.compile, on a GPU: a minute at the start for every run, less for every step. by_parts:
    compile the parts of a SUNet, those of one shape once, instead of the whole as one graph: large networks need it.
    """

    name: str
    network: Mapping[str, Any]
    inputs: Any = field(default_factory=Inputs)
    start: str = ""
    task: str = "correction"
    budgets: tuple[int, ...] = (4, 8, 16, 32)
    grid: int = 256
    batch: int = 64
    families: tuple[str, ...] = ()
    instances: int = 0
    folder: str = ""
    seed: int = 0
    loss: str = "log"
    loss_precision: str = "fp32"
    precision: str = "bf16"
    physics: float = 0.0
    rate: float = 2e-4
    final_rate: float = 1e-6
    warmup: float = 0.02
    weight_decay: float = 0.01
    clip: float = 1.0
    ema: float = 0.999
    steps: int = 0
    seconds: float = 0.0
    validations: int = 20
    validation_count: int = 300
    validation_walks: int = 8
    compile: bool = True
    by_parts: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not re.fullmatch(r"[\w.-]{1,80}", self.name):
            raise InputError(f"name = {short(self.name)} must be a short word, for files")
        if not isinstance(self.folder, str) or not isinstance(self.start, str) or not isinstance(self.compile, bool):
            raise InputError("start and folder must be texts, and compile true or false")
        if not isinstance(self.by_parts, bool) or (self.by_parts and self.network.get("architecture") != "sunet"):
            raise InputError(f"by_parts = {short(self.by_parts)} must be false, or true for architecture = 'sunet'")
        object.__setattr__(self, "budgets", tuple(check_budgets(self.budgets)))
        object.__setattr__(self, "families", check_families(self.families))
        Grid(self.grid)
        for key, low in _WHOLE.items():
            whole(key, getattr(self, key), low)
        for key, most in _RANGES.items():
            if not 0 <= finite(key, getattr(self, key)) <= most:
                raise InputError(f"{key} = {short(getattr(self, key))} must lie between 0 and {most:g}")
        for key, known in (("loss", LOSSES), ("loss_precision", PRECISIONS), ("precision", PRECISIONS)):
            if getattr(self, key) not in known:
                raise unknown(key, getattr(self, key), known)
        if not self.steps and not self.seconds:
            raise InputError("a run needs an end: steps, or seconds, or both")
        self._check_task()

    def _check_task(self) -> None:
        """Refuse what does not go together with the task."""
        if not isinstance(self.inputs, TASKS[self.task]):
            raise InputError(f"inputs must be {TASKS[self.task].__name__}, for the task {self.task!r}")
        if self.physics and self.task != "operator":
            raise InputError(f"physics = {self.physics:g} is for the task 'operator' alone")
        architecture = self.network.get("architecture")
        if (architecture in DENOISERS) != (self.task == "diffusion"):
            raise InputError(f"architecture = {short(architecture)} cannot be trained for the task {self.task!r}")

    @property
    def data(self) -> dict[str, Any]:
        """As plain data, which `config_from_data` reads."""
        return asdict(self)

    def progress(self, step: int, seconds: float) -> float:
        """How much of the run is done after so many steps and seconds, from 0 to 1."""
        shares = [done / whole for done, whole in ((step, self.steps), (seconds, self.seconds)) if whole]
        return min(1.0, max(shares))


_WHOLE = {
    "batch": 1, "instances": 0, "seed": 0, "steps": 0, "validations": 1, "validation_count": 1, "validation_walks": 1
}  # fmt: skip
_RANGES = {
    "rate": 1, "final_rate": 1, "warmup": 1, "weight_decay": 10, "clip": 1e9, "ema": 1, "seconds": 1e9, "physics": 1e9
}  # fmt: skip
FIXED = (
    "task", "network", "inputs", "budgets", "grid", "batch", "families", "instances", "folder", "seed", "loss",
    "loss_precision", "physics",
)  # fmt: skip
"""What a run that is resumed must have kept."""


def check_families(value: object) -> tuple[str, ...]:
    """Families of the training split, in its order."""
    names = listed("families", value, "names")
    for name in names:
        if name not in TRAINING:
            raise unknown("family", name, TRAINING)
    return tuple(family for family in TRAINING if family in names)


def read_config(path: str | Path) -> Config:
    """A configuration file. Errors name the file, the key, the value and what is allowed."""
    with naming(path):
        return config_from_data({"name": Path(path).stem} | read_toml(path, "configuration"))


def config_from_data(data: Mapping[str, Any]) -> Config:
    """A configuration from the contents of a file. The network is planned, to see that it can be made."""
    given = dict(data)
    _check_keys("key", given, Config)
    if not isinstance(given.get("network"), Mapping):
        raise InputError("table [network] is missing: it needs an architecture")
    if not isinstance(given.get("inputs", {}), Mapping):
        raise InputError(f"inputs = {short(given['inputs'])} must be a table")
    task = given.get("task", Inputs.task)
    if not isinstance(task, str) or task not in TASKS:
        raise unknown("task", task, TASKS)
    kind = TASKS[task]
    _check_keys("key of [inputs]", given.get("inputs", {}), kind)
    given["inputs"] = kind(**given.get("inputs", {}))
    config = Config(**given)
    plan_network(config.network, config.inputs.size)
    return config


def _check_keys(kind: str, data: Mapping[str, Any], holder: Any) -> None:
    known = [entry.name for entry in fields(holder)]
    for key in data:
        if key not in known:
            raise unknown(kind, key, known)
