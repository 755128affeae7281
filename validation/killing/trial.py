"""A command with a fault, what it leaves, and the same command once more."""

import hashlib
import json
import os
import shlex
import shutil
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path

from mc2.benchmark.leaderboard.entries import EVALUATIONS
from mc2.folders import LOCK
from validation.killing.faults import REMOVALS, Faults, visible
from validation.killing.works import canonical

SMALL = (*REMOVALS, "truncate", "os write")
"""Steps without which work can go on: removals, and the name of a lock's holder."""


def run(command, folder, fault="kill", at=None, kill_after=None):
    """Run a command of `mc2` in a forked process, which has all that is loaded here.

    fault, at: see `Faults`. kill_after: seconds until SIGKILL. Returns the exit code, what was said on stderr, the
    steps, if the process lived to tell them, and the seconds that it took.
    """
    said, told = (Path(f"{folder}.{name}") for name in ("stderr", "steps"))
    told.unlink(missing_ok=True)
    begun, process = time.perf_counter(), os.fork()
    if not process:
        _become(shlex.split(command), folder, said, told, fault, at)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(process, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    # a process that was killed while it told them has told nothing
    steps = json.loads(told.read_text()) if told.exists() and code >= 0 else None
    return code, said.read_text(errors="replace") if said.exists() else "", steps, time.perf_counter() - begun


def _become(arguments, folder, said, told, fault, at):
    """In the forked process: run the command, and end."""
    code = 70
    try:
        os.setsid()
        for stream, path in ((1, os.devnull), (2, said)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        os.chdir(folder)
        sys.argv = ["mc2", *arguments]
        faults = Faults(folder, fault, at)
        faults.install()
        from mc2.cli.main import main

        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        faults.at = None
        told.write_text(json.dumps(faults.steps))
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def warm(works, folder):
    """Load and compile here what forked processes need, apart from PyTorch's threads, which do not survive a fork."""
    import torch

    torch.set_num_threads(1)
    for work in works:
        place = folder / f"warm {work.name}"
        work.begin(place, lambda *_: None)
        if work.name.startswith("train"):
            from mc2.training.config import read_config
            from mc2.training.data import held_batches

            config = read_config(place / "tiny.toml")
            held_batches(config, "validation", 3, config.validation_walks, torch.device("cpu"))
            continue
        here, arguments, output = Path.cwd(), sys.argv, sys.stdout
        try:
            from mc2.cli.main import main

            with open(os.devnull, "w") as sys.stdout, warnings.catch_warnings():
                os.chdir(place)
                sys.argv = ["mc2", *shlex.split(work.command)]
                main()
        except SystemExit as end:
            assert not end.code, f"{work.name} fails"
        finally:
            sys.stdout, sys.argv = output, arguments
            os.chdir(here)
        shutil.rmtree(place)


class Trials:
    """Faults of one work, in a folder: what it finds, what it leaves undisturbed, and trials of it."""

    def __init__(self, work, folder):
        self.work, self.folder = work, folder / work.name
        self.start, self.whole, self.place = (self.folder / name for name in ("start", "whole", "place"))
        work.begin(self.start, self._earlier)
        shutil.copytree(self.start, self.whole)
        code, said, self.steps, self.seconds = run(work.command, self.whole)
        assert code == 0, f"{work.command}: {said}"
        others = [name for what, name in self.steps if what == "open" and not name.endswith((".tmp", LOCK))]
        assert not others, f"{work.command} writes {others} in place"
        self.before, self.after = contents(self.start)[0], contents(self.whole)[0]

    def _earlier(self, command, folder):
        code, said, *_ = run(command, folder)
        assert code == 0, f"{command}: {said}"

    def fault(self, fault, at):
        """A fault at a step: a row that tells what was found after it, and what was wrong."""
        what, name = self.steps[at]
        row = {"work": self.work.name, "fault": fault, "step": at, "what": what, "file": name}
        return row | self._trial(fault, lenient=what in SMALL and fault == "error", at=at)

    def random_kill(self, moment):
        """SIGKILL after a share of the time that the work takes."""
        row = {"work": self.work.name, "fault": "random kill", "moment": moment}
        return row | self._trial("kill", kill_after=moment * self.seconds)

    def _trial(self, fault, lenient=False, **when):
        """lenient: the fault does no harm: the process may go on, or leave a file that it could not remove."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.start, self.place)
        code, said, *_ = run(self.work.command, self.place, fault, **when)
        found, hidden, wrong = contents(self.place)
        wrong += self._wrong_files(found)
        wrong += [] if lenient and code == 0 else self._wrong_end(fault, code, said)
        if fault != "kill" and hidden and not lenient:
            wrong.append(f"left behind: {', '.join(hidden)}")
        again, said, *_ = run(self.work.command, self.place)
        last, remnants, _ = contents(self.place)
        if again or last != self.after or remnants:
            changed = [name for name in {*last, *self.after} if last.get(name) != self.after.get(name)]
            wrong.append(f"the same command again: exit code {again} {said.strip()[-200:]}, {changed or remnants}")
        return {"exit": code, "found": self._describe(found), "hidden": hidden, "wrong": wrong}

    def _wrong_end(self, fault, code, said):
        """What is wrong with how a process ended."""
        if fault == "kill":
            return []
        expected = {"error": (1, "error: "), "terminate": (143, "terminated: ")}[fault]
        lines = [line for line in said.splitlines() if not line.startswith("step ")]  # those of training
        if fault == "terminate" and (
            code == 0 or (code == 143 and not lines)
        ):  # training ends its step, and may be done
            return []
        if code == expected[0] and len(lines) == 1 and lines[0].startswith(expected[1]):
            return []
        return [f"exit code {code}: {said.strip()[-300:]}"]

    def _wrong_files(self, found):
        """Files that are neither as before nor as they will be; those of training also have versions in between."""
        if self.work.name.startswith("train"):
            state, log = (json.loads(found.get(f"run/{name}.json") or "{}") for name in ("state", "tiny"))
            wrong = [f"{name} is gone" for name in state.get("files", {}).values() if f"run/{name}" not in found]
            weights = found.get("run/tiny.safetensors")
            digest = hashlib.sha256(weights).hexdigest() if weights else None
            return wrong + (["the log belies the weights"] if log and log["sha256"] != digest else [])
        allowed = {name: (self.before.get(name), self.after.get(name)) for name in {*self.before, *self.after}}
        for name in allowed:
            if name.endswith(EVALUATIONS):  # it knows the old entry and the new one while that is replaced
                lines = {line for text in allowed[name] for line in text.splitlines(keepends=True)}
                allowed[name] += (b"".join(sorted(lines, key=lambda line: (line[66:], line))),)
        wrong = [name for name in found if found[name] not in allowed.get(name, ())]
        gone = [name for name in self.before if name not in found]
        return [f"{name} is neither old nor new" for name in wrong] + [f"{name} is gone" for name in gone]

    def _describe(self, found):
        """How many files are new, as before and in between."""
        new = sum(found[name] == self.after.get(name) != self.before.get(name) for name in found)
        old = sum(found[name] == self.before.get(name) != self.after.get(name) for name in found)
        same = sum(found[name] == self.before.get(name) == self.after.get(name) for name in found)
        return {"new": new, "old": old, "other": len(found) - new - old - same}


def contents(folder):
    """Files by name, the names of hidden ones, and what is wrong with those that are not whole."""
    shown, hidden = visible(folder)
    found, wrong = {}, []
    for name, path in shown.items():
        try:
            found[name] = canonical(path)
        except Exception as error:
            found[name] = None
            wrong.append(f"{name} is not whole: {error}")
    return found, hidden, wrong
