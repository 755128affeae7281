"""`mc2 train`: train a network."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from mc2.cli.arguments import Code, Device, Json, use_code
from mc2.cli.output import Interrupted, heeding, interruptible, table

SILENCE = 20.0
"""Seconds between progress lines where there is no terminal to rewrite one on."""


def train(
    config: Annotated[Path, typer.Argument(help="Configuration file (TOML), such as configs/small-cpu.toml.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for weights, checkpoints and the log; runs/NAME if not given.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on from the folder's checkpoint, if it has one.")] = True,
    seconds: Annotated[
        float | None, typer.Option(help="Stop after so many seconds, for the same command to go on later.")
    ] = None,
    device: Device = "auto",
    code: Code = None,
    as_json: Json = False,
) -> None:
    """Train a network as a file says. Stopped at any moment, the same command goes on from there.

    On several GPUs: torchrun --nproc-per-node 4 -m mc2.cli.main train CONFIG.
    """
    with interruptible("the last checkpoint is kept, and the same command goes on from there"):
        from mc2.networks.installed import need_torch

        need_torch("training")
        from mc2.training.config import read_config
        from mc2.training.loop import train as run

        use_code(code)
        chosen = read_config(config)
        folder = out or Path("runs") / chosen.name
        with _heard() as heard, _line() as line:
            log = run(
                chosen, folder, resume=resume, seconds=seconds, device=device, report=line, stop=lambda: bool(heard)
            )
    if os.environ.get("RANK", "0") == "0":
        _print(log, folder, as_json)
    if heard and not log["finished"]:
        raise typer.Exit(128 + heard[0])


@contextmanager
def _heard() -> Iterator[list[int]]:
    """The signals that asked the process to end: a step is finished first. The second time counts."""
    heard: list[int] = []

    def hear(number: int, _: Any) -> None:
        heard.append(number)
        if len(heard) > 1:
            raise Interrupted(number)

    with heeding(hear):
        yield heard


@contextmanager
def _line() -> Iterator[Callable[[dict[str, Any]], None]]:
    """One line on stderr that tells how the run is doing, and one that stays for every validation."""
    terminal, last = sys.stderr.isatty(), 0.0

    def report(news: dict[str, Any]) -> None:
        nonlocal last
        scores = news[news["score"]]
        if scores is None and not terminal and time.monotonic() - last < SILENCE:
            return
        last = time.monotonic()
        text = (
            f"step {news['step']:,} ({news['done']:.1%})  loss {news['loss']:.3f}  "
            f"{news['samples_per_second']:,.1f} samples/s  {_left(news['seconds_left'])}"
        )
        if news["returns"]:
            text += f"  losses leapt and the run went back {news['returns']}×"
        if scores is not None:
            text += f"  {news['unit']} " + ", ".join(f"{name} {value:.2f}" for name, value in scores.items())
        print(f"\r\x1b[K{text}" if terminal else text, end="" if terminal else "\n", file=sys.stderr, flush=True)
        if terminal and scores is not None:
            print(file=sys.stderr)

    try:
        yield report
    finally:
        if terminal:
            print("\r\x1b[K", end="", file=sys.stderr)


def _left(seconds: float | None) -> str:
    if seconds is None:
        return "time left unknown"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} left"


def _print(log: dict[str, Any], folder: Path, as_json: bool) -> None:
    if as_json:
        print(json.dumps(log, ensure_ascii=False, allow_nan=False))
        return
    from rich.console import Console

    console = Console(highlight=False)
    state = "finished" if log["finished"] else "to be resumed by the same command"
    console.print(
        f"{log['name']}: {log['parameters'] / 1e6:.1f} million parameters, {log['steps']:,} steps, "
        f"{log['instances']:,} instances, {log['seconds']:.0f} s ({log['device']}); {state}",
        soft_wrap=True,
    )
    if log["best"] is None:
        return
    of_walks = log["config"]["task"] == "correction"
    given = f" on {log['config']['validation_walks']} walks per pixel" if of_walks else ""
    columns = ("walks", "corrected") if of_walks else ("without", "network")
    rows = table(f"{log['unit']}{given} (validation)", "family", *columns)
    for name, value in log["best"][log["score"]].items():
        rows.add_row(name, f"{log['before'][name]:.2f}", f"{value:.2f}")
    console.print(rows)
    console.print(f"weights in {folder / log['name']}.safetensors", soft_wrap=True)
