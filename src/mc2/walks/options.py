"""How to walk: the options of an estimate, checked."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ParamSpec, TypedDict, TypeVar, get_args

from mc2.checks import positive, whole
from mc2.errors import InputError, short, unknown
from mc2.geometry import Domain
from mc2.problems import Frame, Problem
from mc2.walks.plan import SAMPLINGS

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
MAX_KEY = (1 << 64) - 1
"""Seeds and instance numbers have 64 bits."""
MAX_STEPS, MAX_REFLECTED = 128, 65_536
"""Steps of walks that end wherever they meet the boundary, and of those that some parts reflect or that
coefficients lead, if not said."""
DEVICES = ("auto", "cpu", "cuda")


class WalkOptions(TypedDict, total=False):
    """The keywords of all public functions that walk. `estimate` documents them, `Options` has their defaults."""

    seed: int
    epsilon: float
    unit: float | None
    max_steps: int | None
    sampling: str
    stratify: bool
    estimator: str
    device: str
    threads: int | None


@dataclass(frozen=True)
class Options:
    """How to walk; what `estimate` documents."""

    seed: int = 0
    epsilon: float = 1e-4
    max_steps: int = MAX_STEPS
    sampling: str = "green"
    stratify: bool = False
    estimator: str = "standard"
    device: str = "auto"
    threads: int | None = None
    unit: float | None = None

    @classmethod
    def of(cls, problem: object, given: WalkOptions, usual_steps: int = MAX_STEPS) -> "Options":
        """Options from a user's keywords; see `steps_allowed` for max_steps."""
        steps = steps_allowed(problem, given.get("max_steps"), usual_steps)
        named: dict[str, Any] = {**given, "max_steps": steps}
        return cls(**named)

    def __post_init__(self) -> None:
        whole("seed", self.seed, 0, MAX_KEY)
        whole("max_steps", self.max_steps, 1, 1_000_000)
        if not 1e-6 <= positive("epsilon", self.epsilon) <= 0.1:
            raise InputError(f"epsilon = {self.epsilon!r} must lie between 1e-6 and 0.1: walks are in float32")
        if self.unit is not None:
            positive("unit", self.unit)
        if self.sampling not in SAMPLINGS:
            raise unknown("sampling", self.sampling, SAMPLINGS)
        if self.device not in DEVICES:
            if str(self.device).lower().split(":")[0] in ("gpu", "cuda", "nvidia"):
                raise InputError(f"unknown device {short(self.device)}: did you mean 'cuda'?")
            raise unknown("device", self.device, DEVICES)
        if self.threads is not None:
            whole("threads", self.threads, 1, 4096)

    def length_unit(self, domain: Domain) -> float:
        """The length that epsilon is a part of: `unit`, or half of the domain's size."""
        return 0.5 * domain.size if self.unit is None else self.unit

    def shell(self, domain: Domain) -> float:
        """The distance from the boundary within which walks end, as a length."""
        return self.epsilon * self.length_unit(domain)


def show_walk_options(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let `help` show each keyword of `WalkOptions` with its default, in place of the parameter that takes them all."""
    signature = inspect.signature(function)
    *others, taken = signature.parameters.values()
    defaults = {field.name: field.default for field in fields(Options)} | {"max_steps": None}
    [options] = get_args(taken.annotation)
    shown = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=kind)
        for name, kind in options.__annotations__.items()
    ]
    vars(function)["__signature__"] = signature.replace(parameters=[*others, *shown])
    return function


def steps_allowed(problem: object, max_steps: int | None, usual: int = MAX_STEPS) -> int:
    """`max_steps`; if it is not given, `usual`, or more where a part of the boundary reflects or coefficients vary."""
    if max_steps is not None:
        return max_steps
    longer = isinstance(problem, Problem) and (problem.reflecting or problem.operator.varying is not None)
    return MAX_REFLECTED if longer else usual


def in_frame(chosen: Options, frame: Frame) -> Options:
    """Options with lengths in a frame."""
    return chosen if frame.trivial or chosen.unit is None else replace(chosen, unit=chosen.unit / frame.length)
