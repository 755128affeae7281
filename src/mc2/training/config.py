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
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from mc2.errors import InputError, short, unknown
from mc2.geometry import Grid
from mc2.networks.architectures import plan_network
from mc2.networks.corrector_inputs import Inputs
from mc2.networks.joint_fields import JointFields
from mc2.networks.operator_inputs import OperatorInputs
from mc2.reading.models import Number, Rule, at_least, between, one_of, read_as, strict
from mc2.reading.plain import naming, saying
from mc2.reading.toml import read_toml
from mc2.walks.engine import check_budgets
from mc2.zoo.laws import TRAINING

TASKS: dict[str, Any] = {kind.task: kind for kind in (Inputs, OperatorInputs, JointFields)}
"""What a network can be trained for, and what it is given: the keys of [inputs]."""
DENOISERS = ("noise-unet",)
"""Architectures that know the noise level, which only a diffusion model has."""


Share = Annotated[Number, between(0, 1)]
Amount = Annotated[Number, between(0, 1e9)]
Count = Annotated[int, at_least(1)]
CountOrNone = Annotated[int, at_least(0)]
Precision = Annotated[str, one_of("bf16", "fp32")]


@strict
@dataclass(frozen=True)
class Config:
    """A training run.

    name: of the weights file.
    network: `architecture`, and what its class takes.
    start: a weights file of such a network to begin with, as longer training in several parts needs; a new network if
        not given.
    task: `correction` of an estimate; `operator`, from a problem to its solution; `diffusion`, denoising of joint
        fields.
    inputs: see the task's own class in `TASKS`.

    budgets: walks per pixel, one of them at random for every instance.
    grid: pixels along a side.
    batch: instances per step, over all processes together.
    families: only these; all of the split if none is named.
    instances: use only so many of the training split, of these families; 0 for all.
    folder: take them from there, as `mc2 zoo build` made them, instead of making them on the fly.
    seed: of weights, walks and budgets.

    loss: `mse`, the mean squared error over the mask, normalised as the estimate is; `log`, the mean of its logarithm,
        which weighs easy and hard instances alike; both for corrections.
    loss_precision: of that loss.
    precision: of the network.
    physics: weight of the equation's residual in the loss of an operator (Li and others, 2021).

    rate, final_rate: AdamW's, at the start and at the end of a cosine.
    warmup: part of the run in which it rises from 0.
    weight_decay: of AdamW.
    clip: largest norm of a gradient.
    ema: decay of the average of the weights, which is what is validated and kept.

    steps, seconds: the run's length, whichever ends first; 0 for no limit.
    validations: in the run, evenly spread.
    validation_count: instances of the validation split, at least, since batches are whole.
    validation_walks: their budget.
    compile: with torch.compile, on a GPU: a minute at the start for every run, less for every step.
    by_parts: compile the parts of a SUNet, those of one shape once, instead of the whole as one graph: large networks
        need it.
    """

    name: Annotated[str, Rule(lambda name: bool(re.fullmatch(r"[\w.-]{1,80}", name)), "a short word, for files")]
    network: Annotated[dict[str, Any], Rule(lambda network: "architecture" in network, "a table with an architecture")]
    inputs: Any = field(default_factory=Inputs)
    start: str = ""
    task: Annotated[str, one_of(*TASKS)] = "correction"
    budgets: tuple[int, ...] = (4, 8, 16, 32)
    grid: int = 256
    batch: Count = 64
    families: tuple[Annotated[str, one_of(*TRAINING)], ...] = ()
    instances: CountOrNone = 0
    folder: str = ""
    seed: CountOrNone = 0
    loss: Annotated[str, one_of("log", "mse")] = "log"
    loss_precision: Precision = "fp32"
    precision: Precision = "bf16"
    physics: Amount = 0.0
    rate: Share = 2e-4
    final_rate: Share = 1e-6
    warmup: Share = 0.02
    weight_decay: Annotated[Number, between(0, 10)] = 0.01
    clip: Amount = 1.0
    ema: Share = 0.999
    steps: CountOrNone = 0
    seconds: Amount = 0.0
    validations: Count = 20
    validation_count: Count = 300
    validation_walks: Count = 8
    compile: bool = True
    by_parts: bool = False

    def __post_init__(self) -> None:
        if self.by_parts and self.network["architecture"] != "sunet":
            raise InputError("by_parts = true is for architecture = 'sunet' alone")
        Grid(self.grid)
        object.__setattr__(self, "budgets", tuple(check_budgets(self.budgets)))
        object.__setattr__(self, "families", tuple(family for family in TRAINING if family in self.families))
        if not self.steps and not self.seconds:
            raise InputError("a run needs an end: steps, or seconds, or both")
        self._check_task()

    def _check_task(self) -> None:
        """Refuse what does not go together with the task."""
        if not isinstance(self.inputs, TASKS[self.task]):
            raise InputError(f"inputs must be {TASKS[self.task].__name__}, for the task {self.task!r}")
        if self.physics and self.task != "operator":
            raise InputError(f"physics = {self.physics:g} is for the task 'operator' alone")
        architecture = self.network["architecture"]
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


FIXED = (
    "task", "network", "inputs", "budgets", "grid", "batch", "families", "instances", "folder", "seed", "loss",
    "loss_precision", "physics",
)  # fmt: skip
"""What a run that is resumed must have kept."""


def read_config(path: str | Path) -> Config:
    """A configuration file. Errors name the file, the key, the value and what is allowed."""
    with naming(path):
        return config_from_data({"name": Path(path).stem} | read_toml(path, "configuration"))


def config_from_data(data: Mapping[str, Any]) -> Config:
    """A configuration from the contents of a file. The network is planned, to see that it can be made."""
    task = data.get("task", Inputs.task)
    if not isinstance(task, str) or task not in TASKS:
        raise unknown("task", task, TASKS)
    with saying("[inputs]"):
        inputs = read_as(TASKS[task], data.get("inputs", {}))
    config = read_as(Config, {**data, "inputs": inputs})
    plan_network(config.network, config.inputs.size)
    return config
