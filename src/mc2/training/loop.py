"""The training loop, for every network.

A step is a pure function of the state, the configuration and the step's number: batches come from a stream that is
keyed by it, and so do the random numbers of the network. So a run that was stopped goes on as if it had not been, and
several processes do together what one would. A run whose losses leap goes back to the weights of its last checkpoint,
and on from there with smaller steps.
"""

import copy
import hashlib
import math
import statistics
import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from mc2 import __version__
from mc2.errors import InputError
from mc2.files import remove, write_bytes, write_json
from mc2.folders import holding
from mc2.networks.architectures import count_parameters, make_network
from mc2.networks.weights_file import on_device, pack_weights, read_weights
from mc2.reading.json import MAX_LOG_BYTES, read_object
from mc2.reading.plain import file_sha256
from mc2.training.checkpoints import State, load_state, save_state, tidy
from mc2.training.config import Config
from mc2.training.data import Batch, held_batches, training_batches
from mc2.training.processes import Processes, join_processes
from mc2.training.tasks import TASKS, Task, make_task
from mc2.zoo import VERSION

Report = Callable[[dict[str, Any]], None]
"""Called now and then with how a run is doing."""
LOOK = 10
"""Steps on a GPU between looks at the losses and the clock, which wait for it."""
SEEDS = (1 << 63) - 1
LOG = 50
"""Steps whose mean loss makes an entry of the log."""
USUAL = 8
"""Entries of the log that tell how large losses are."""
LEAP = 20.0
"""A loss that lies above them by so many times their range, for `LOOK` steps, is not theirs any more."""
CAREFUL = 0.7
"""What the rate is multiplied by whenever a run has gone back."""


class Mark(NamedTuple):
    """A moment of a run."""

    step: int
    seconds: float
    done: float


def train(
    config: Config,
    folder: Path,
    *,
    resume: bool = True,
    seconds: float | None = None,
    device: str = "auto",
    report: Report | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Train a network; the best weights, checkpoints and the log go to a folder. Returns the log.

    resume: go on from the folder's checkpoint, if it has one.
    seconds: stop after so many, to be resumed; the run's schedule is not changed by it.
    stop: asked after every few steps.
    """
    with join_processes(device) as processes, holding(folder) if processes.first else nullcontext():
        state = _begin(config, processes.device)
        resumed = resume and load_state(folder, state, config)
        if resumed and processes.first:
            _repair(config, folder, state, processes)
        if not resumed or config.progress(state.step, state.seconds) < 1:
            _run(config, make_task(config), folder, state, processes, seconds or math.inf, report, stop)
        return _log(folder, state, config, processes)


def learning_rate(config: Config, progress: float) -> float:
    """Rises from 0 over the warm-up, then falls along half a cosine."""
    if progress < config.warmup:
        return config.rate * progress / config.warmup
    share = (progress - config.warmup) / max(1 - config.warmup, 1e-9)
    return config.final_rate + (config.rate - config.final_rate) * 0.5 * (1 + math.cos(math.pi * share))


def _begin(config: Config, device: torch.device) -> State:
    """The state before the first step, the same in every process."""
    torch.manual_seed(config.seed)
    network = on_device(_first_network(config), device)
    average = copy.deepcopy(network).requires_grad_(False).eval()
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=config.rate, weight_decay=config.weight_decay, fused=device.type == "cuda"
    )
    state = State(network, average, optimiser)
    if config.start and (log := Path(config.start).with_suffix(".json")).is_file():
        state.history["start"] = read_object(log, "log of a network", MAX_LOG_BYTES)
    return state


def _first_network(config: Config) -> nn.Module:
    """A new network, or the one to begin with."""
    if not config.start:
        return make_network(config.network, config.inputs.size)
    network, inputs, _ = read_weights(Path(config.start), type(config.inputs))
    new = make_network(config.network, config.inputs.size)
    shapes, wanted = ({name: value.shape for name, value in own.state_dict().items()} for own in (network, new))
    if inputs != config.inputs or shapes != wanted:
        raise InputError(f"start = {config.start} has another network or other inputs than the configuration")
    return network.train()


def _run(
    config: Config,
    task: Task,
    folder: Path,
    state: State,
    processes: Processes,
    seconds: float,
    report: Report | None,
    stop: Callable[[], bool],
) -> None:
    """Step until the run, or this part of it, is done."""
    device, began, earlier = processes.device, time.monotonic(), state.seconds
    torch.backends.cudnn.benchmark = True  # images have one size
    held: list[Batch] = []
    if processes.first:
        held = held_batches(config, "validation", config.validation_count, config.validation_walks, device)
        state.history["before"] = task.before(held)
    forward: Any = processes.share(state.network)
    if config.compile and device.type == "cuda":
        torch.compiler.reset()  # an earlier run of this process may have used up what may be compiled
        if config.by_parts:
            state.network.compile_parts()  # type: ignore[operator]
        else:
            forward = torch.compile(forward, mode="reduce-overhead")  # thousands of small kernels a step, in one graph
        task.compile()
    look = LOOK if device.type == "cuda" else 1
    losses: list[Tensor] = []
    done = seen = config.progress(state.step, state.seconds)
    mark: Mark | None = None
    starting: float | None = None  # seconds of compilation and first steps, which the schedule does not count
    stopping, saved = False, state.step > 0
    with closing(training_batches(config, state.step, processes.rank, processes.ranks, device)) as batches:
        while done < 1 and not stopping:
            torch.manual_seed((config.seed << 40) + (state.step << 10) + processes.rank & SEEDS)
            losses.append(_step(config, state, task, forward, next(batches), _rate(config, state, done)))
            done = config.progress(state.step, state.seconds)
            if state.step % look and done < 1:
                continue
            if not _record(state, processes.mean(torch.stack(losses)).tolist()):
                _go_back(config, folder if saved else None, state)
            losses = []
            here = time.monotonic() - began
            starting = here if starting is None else starting
            state.seconds, over, asked = processes.agree(earlier + here - starting, here >= seconds, stop())
            done, stopping = config.progress(state.step, state.seconds), bool(over or asked)
            due = int(done * config.validations) > int(seen * config.validations) or bool(over)
            seen, saved = done, saved or due
            if not processes.first:
                continue
            if due or stopping:
                _look(config, task, folder, state, processes, held if due else [])
            mark = mark or Mark(state.step, state.seconds, done)  # the first steps take longer
            if report:
                report(_news(config, task, state, mark, done, due))


def _rate(config: Config, state: State, done: float) -> float:
    """The schedule's, less for every time that the run has gone back."""
    return learning_rate(config, done) * CAREFUL ** len(state.history["returns"])


def _step(config: Config, state: State, task: Task, forward: Any, batch: Batch, rate: float) -> Tensor:
    """One step of AdamW, and of the average; returns the loss. forward: the network, or what stands for it."""
    for group in state.optimiser.param_groups:
        group["lr"] = rate
    loss = task.loss(forward, state.network, batch)
    state.optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(state.network.parameters(), config.clip)
    state.optimiser.step()
    state.step += 1
    decay = min(config.ema, state.step / (state.step + 10))  # a young average forgets its start
    with torch.no_grad():
        torch._foreach_lerp_(list(state.average.parameters()), list(state.network.parameters()), 1 - decay)
    return loss.detach()


def _record(state: State, losses: list[float]) -> bool:
    """Take losses up in the history, unless they have leapt away from it; says whether they are as usual."""
    recent = state.recent + losses
    usual = [loss for _, loss in state.history["losses"][-USUAL:]]
    known = len(usual) == USUAL and len(recent) >= LOOK
    limit = max(usual) + LEAP * (max(usual) - min(usual)) if known else math.inf
    if not all(map(math.isfinite, losses)) or statistics.median(recent[-LOOK:]) > limit:
        return False
    while len(recent) >= LOG:
        at = state.step - len(recent) + LOG
        state.history["losses"].append([at, math.fsum(recent[:LOG]) / LOG])
        recent = recent[LOG:]
    state.recent = recent
    return True


def _go_back(config: Config, folder: Path | None, state: State) -> None:
    """Take up the weights of a folder's checkpoint, if there is one: the next steps are others, and smaller."""
    kept = State(state.network, state.average, state.optimiser)
    if not folder or not load_state(folder, kept, config):
        raise InputError(f"the loss leaps, or is not finite, at step {state.step}: lower the rate, or the norm in clip")
    state.history["returns"].append({"step": state.step, "to": kept.step})
    state.recent = []


def _look(config: Config, task: Task, folder: Path, state: State, processes: Processes, held: list[Batch]) -> None:
    """Validate, and write a checkpoint, then what is made of it: the best weights and the log.

    In this order a kill in between costs nothing: the checkpoint has the weights that are the best so far.
    """
    if held:
        scores = task.validate(state.average, held)
        unaveraged = task.validate(state.network.eval(), held)["overall"]
        state.network.train()
        found = {"step": state.step, "seconds": state.seconds, task.score: scores, "unaveraged": unaveraged}
        state.history["validations"].append(found)
        best = state.history["best"]
        if best is None or scores["overall"] > best[task.score]["overall"]:
            state.history["best"] = found
    save_state(folder, state, config)
    _write_best(config, folder, state)
    write_json(folder / f"{config.name}.json", _log(folder, state, config, processes))


def _write_best(config: Config, folder: Path, state: State) -> None:
    """Write the weights of the average, if they are the best so far, and not there yet."""
    best = state.history["best"]
    if not best or best["step"] < state.step:
        return
    path = folder / f"{config.name}.safetensors"
    content = pack_weights(state.average, dict(config.network), config.inputs, config.grid)
    if not path.is_file() or file_sha256(path) != hashlib.sha256(content).hexdigest():
        remove(path.with_suffix(".json"))  # else, after a kill, it would belie the weights
        write_bytes(path, content)


def _repair(config: Config, folder: Path, state: State, processes: Processes) -> None:
    """Write what a run had still to write when it was killed: after its checkpoint, the best weights and the log."""
    tidy(folder)
    weights, log = (folder / f"{config.name}{ending}" for ending in (".safetensors", ".json"))
    _write_best(config, folder, state)
    said, found, best = _read_log(log), _log(folder, state, config, processes), state.history["best"]
    if best and best["step"] < state.step and said.get("sha256", found["sha256"]) != found["sha256"]:
        raise InputError(f"{weights} is missing or damaged: restore it, or begin anew with --no-resume")
    if any(found[key] != said.get(key) for key in ("steps", "sha256")):
        write_json(log, found)


def _read_log(path: Path) -> dict[str, Any]:
    """What the log of a run says; nothing, if it cannot be read."""
    try:
        return read_object(path, "log of a network", MAX_LOG_BYTES)
    except InputError:
        return {}


def _log(folder: Path, state: State, config: Config, processes: Processes) -> dict[str, Any]:
    """What a run was and how it went, as plain data."""
    weights, device = folder / f"{config.name}.safetensors", processes.device
    return {
        "name": config.name,
        "sha256": file_sha256(weights) if weights.is_file() else None,
        "config": config.data,
        "score": TASKS[config.task].score,
        "unit": TASKS[config.task].unit,
        "parameters": count_parameters(state.network),
        "steps": state.step,
        "instances": state.step * config.batch,
        "seconds": state.seconds,
        "finished": config.progress(state.step, state.seconds) >= 1,
        **state.history,
        "processes": processes.ranks,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "torch": torch.__version__,
        "version": __version__,
        "generator_version": VERSION,
    }


def _news(config: Config, task: Task, state: State, mark: Mark, done: float, validated: bool) -> dict[str, Any]:
    """How the run is doing. mark: from when speed is measured."""
    spent = state.seconds - mark.seconds
    return {
        "step": state.step,
        "done": done,
        "loss": (state.recent or [loss for _, loss in state.history["losses"][-1:]] or [math.nan])[-1],
        "rate": _rate(config, state, done),
        "returns": len(state.history["returns"]),
        "samples_per_second": (state.step - mark.step) * config.batch / spent if spent else 0.0,
        "seconds_left": (1 - done) * spent / (done - mark.done) if done > mark.done else None,
        task.score: state.history["validations"][-1][task.score] if validated else None,
        "score": task.score,
        "unit": task.unit,
    }
