"""One input in a process of its own, with limits of memory and time; what became of it comes back as plain data."""

import contextlib
import json
import math
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from mc2.errors import InputError

MEMORY = 2 << 30
"""Bytes that a process may take, besides what it starts with."""
SECONDS = 20.0
"""Seconds of a processor after which an input counts as one that hangs."""
WAIT = 120.0
"""Seconds after which it does so in any case: it waits for something that does not come."""
LONGEST = 1000
"""Characters of a message."""


@dataclass
class Input:
    """run: what reads it. same: if it is read, these contents must come out. refused: it must not be read at all."""

    run: Any
    same: Any = None
    refused: bool = False


@dataclass
class Child:
    """A process that has been started for some inputs of a target, one after the other.

    waiting: indices of inputs of which nothing was heard yet. since: when the last word came.
    """

    target: str
    waiting: list
    pid: int
    pipe: int
    folder: tempfile.TemporaryDirectory
    since: float
    said: bytes = b""


def start(target, make, seed, indices):
    """A process that makes inputs of a target and reads them; it says a line of JSON on each."""
    folder = tempfile.TemporaryDirectory(prefix="mc2-fuzz-", ignore_cleanup_errors=True)
    inside, outside = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(inside)
        try:
            os.setpgid(0, 0)
            _limit()
            _be_silent()
            for index in indices:
                _one(target, make, seed, index, Path(folder.name), outside)
        finally:
            os._exit(0)
    os.close(outside)
    os.set_blocking(inside, False)
    return Child(target, list(indices), pid, inside, folder, time.monotonic())


def _one(target, make, seed, index, folder, outside):
    place, begun = folder / str(index), time.process_time()
    place.mkdir()
    os.chdir(place)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # which ends the process
    found = judge(make, Random(f"{seed}/{target}/{index}"), place)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1 << 20)
    found |= {"seconds": time.process_time() - begun, "megabytes": megabytes}
    if megabytes > MEMORY / (1 << 20) and found["outcome"] in ("refused", "accepted"):
        found["outcome"] = "over memory"
    os.write(outside, json.dumps(found).encode()[:4000] + b"\n")


def judge(make, rng, folder):
    """What became of an input: `refused`, `accepted`, or what is wrong."""
    warnings.simplefilter("ignore")
    try:
        made = make(rng, folder)
    except Exception as error:
        return {"outcome": "crash", "detail": f"the input could not be made: {_last(error)}"}
    try:
        found = made.run()
    except InputError as error:
        said = str(error)
        if len(said.splitlines()) != 1 or len(said) > LONGEST or not said.isprintable():
            return {"outcome": "bad message", "detail": ascii(said[:LONGEST])}
        return {"outcome": "refused", "detail": said[:200]}
    except MemoryError as error:
        return {"outcome": "over memory", "detail": _last(error)}
    except BaseException as error:
        return {"outcome": "traceback", "detail": _last(error)}
    if made.refused or (made.same is not None and not same(found, made.same)):
        return {"outcome": "wrong contents", "detail": "it was read, and is not what was written"}
    return {"outcome": "accepted", "detail": ""}


def same(found, wanted):
    """Whether two contents are equal, to the bit."""
    if hasattr(wanted, "detach"):
        found, wanted = found.detach().numpy(), wanted.detach().numpy()
    if hasattr(wanted, "dtype"):
        return found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict) and found.keys() == wanted.keys() and all(same(found[k], wanted[k]) for k in wanted)
        )
    if isinstance(wanted, list | tuple):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return found == wanted or (isinstance(wanted, float) and math.isnan(wanted))


def poll(child):
    """What was heard of a process's inputs since the last time, as (index, found), and whether it has ended."""
    heard = _listen(child)
    late = time.monotonic() - child.since > WAIT
    if late:
        _kill(child)
    pid, status, usage = os.wait4(child.pid, 0 if late else os.WNOHANG)
    if not pid:
        return heard, False
    heard += _listen(child)
    os.close(child.pipe)
    _kill(child)  # what it may have started
    child.folder.cleanup()
    if child.waiting:  # it ended in the middle of this one
        outcome = {"outcome": "hang", "detail": f"killed after {time.monotonic() - child.since:.0f} s"}
        if not late and os.WTERMSIG(status) != signal.SIGPROF:
            outcome = {"outcome": "crash", "detail": f"the process ended with status {status} without a word"}
        measured = {"seconds": time.monotonic() - child.since, "megabytes": usage.ru_maxrss / 1024}
        heard.append((child.waiting.pop(0), outcome | measured))
    return heard, True


def _listen(child):
    with contextlib.suppress(BlockingIOError):
        while part := os.read(child.pipe, 1 << 16):
            child.said += part
    *lines, child.said = child.said.split(b"\n")
    if lines:
        child.since = time.monotonic()
    return [(child.waiting.pop(0), json.loads(line)) for line in lines]


def _kill(child):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def _limit():
    """Memory beyond what the process has already; no core files."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _be_silent():
    """Nothing that libraries print is seen."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)


def _last(error):
    """The innermost places of an exception, and what it says."""
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-4:]]
    return f"{type(error).__name__}: {str(error)[:200]!a} at {' > '.join(places)}"
