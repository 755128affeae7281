"""Entries of the leaderboard: one JSON file per method, with what it is, what it claims and what was found.

Entries come from strangers and end on a page, so their schema is strict: unknown keys, long texts, texts with control
characters and links that are not https:// are refused.
"""

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from typing_extensions import TypedDict

from mc2.benchmark.leaderboard.schema import (
    FEWEST,
    Amount,
    Authors,
    Count,
    Day,
    Digits,
    Link,
    Name,
    Scores,
    Seconds,
    Setting,
    Version,
    check_scores,
    simplified,
)
from mc2.benchmark.leaderboard.scoring import means
from mc2.checks import whole
from mc2.errors import InputError, short, unknown
from mc2.files import check_target, write_text
from mc2.geometry import Grid
from mc2.reading.json import parse_json
from mc2.reading.models import line, one_of, read_as, strict
from mc2.reading.plain import naming, read_plain
from mc2.zoo.laws import FRESH, size_of

ABOUT = {
    "method": str, "authors": str, "code": str, "paper": str, "setting": str, "walks": int, "parameters": int,
    "training_instances": int, "hardware": str, "seconds_per_field": float, "notes": str, "date": str,
}  # fmt: skip
"""What people say of a method; everything else in an entry is measured."""
UNSAID = {
    "code": "", "paper": "", "setting": "dense", "walks": 0, "parameters": 0, "training_instances": 0, "hardware": "",
    "seconds_per_field": 0.0, "notes": "",
}  # fmt: skip
LARGEST_FILE = 100_000
"""Bytes; an entry has two or three thousand."""
MOST_ENTRIES = 10_000
"""In a folder."""
EVALUATIONS = "evaluated.sha256"
"""The file that says which entries of its folder were evaluated: lines of `sha256sum`."""
SUM = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9._+-]{1,100}\.json)")


@strict
@dataclass(frozen=True)
class Entry:
    """A method on the leaderboard.

    method: its name.
    authors: of the method.
    code, paper: https:// links, or "".
    setting: `dense`, `correction` or `points`.
    walks: per pixel, or 0.
    parameters: that were trained, or 0.
    training_instances: it was trained on, or 0.
    hardware: that the time was measured on.
    seconds_per_field: on that, or 0 if it was not measured.
    split, count, generator_version: the first `count` instances of the split.
    checksum: SHA-256 of the file of predictions.
    claimed: scores of that file.
    evaluated: scores on the first `evaluated_count` instances of a fresh split, `evaluated_split`, made by someone else
        than the authors, which the folder's list of evaluations must confirm; or None, 0 and "".
    date: of the claim, as 2026-01-31.
    """

    method: Name
    authors: Authors
    code: Link
    paper: Link
    setting: Setting
    walks: Amount
    parameters: Amount
    training_instances: Amount
    hardware: Annotated[str, line(200)]
    seconds_per_field: Seconds
    split: Annotated[str, one_of("test")]
    count: Count
    generator_version: Version
    checksum: Digits
    claimed: Scores
    evaluated: Scores | None
    evaluated_split: str
    evaluated_count: int
    notes: Annotated[str, line(1000)]
    date: Day

    def __post_init__(self) -> None:
        check_scores("claimed", self.claimed, self.split, self.count)
        if self.evaluated is None and (self.evaluated_split or self.evaluated_count):
            raise InputError("evaluated_split and evaluated_count must be '' and 0 where evaluated is null")
        if self.evaluated is not None:
            if not FRESH.fullmatch(self.evaluated_split):
                raise InputError(
                    f"evaluated_split = {short(self.evaluated_split)} must be a fresh one, such as fresh-7"
                )
            whole("evaluated_count", self.evaluated_count, FEWEST, size_of(self.evaluated_split))
            check_scores("evaluated", self.evaluated, self.evaluated_split, self.evaluated_count)


_TYPES = get_type_hints(Entry, include_extras=True)
About: Any = TypedDict("About", {key: _TYPES[key] for key in ABOUT})  # type: ignore[misc]


def parse_about(texts: Iterable[str]) -> dict[str, Any]:
    """What is said of a method in texts such as `walks=8`."""
    told: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"{short(text)} must be KEY=VALUE, such as method=wos")
        if key not in ABOUT:
            raise unknown("key of a new entry", key, ABOUT)
        try:
            told[key] = ABOUT[key](value)
        except ValueError:
            raise InputError(f"{key} = {short(value)} must be a number") from None
    return told


def describe(old: Entry | None = None, **about: Any) -> dict[str, Any]:
    """All that is to be said of a method, by the names of `Entry`: as told, else as before, else nothing."""
    before = {key: value for key, value in asdict(old).items() if key in ABOUT} if old else UNSAID
    today = datetime.now(UTC).date().isoformat()
    return dict(read_as(About, before | {"date": today} | about, "a new entry"))


def make_entry(scores: dict[str, Any], old: Entry | None = None, **about: Any) -> Entry:
    """An entry from the scores of a file of predictions.

    old: an earlier entry of the method, whose texts are kept and whose evaluation is not. about: what is to be said of
    the method, by the names of `Entry`; `method` and `authors` at least, without an old entry.
    """
    if scores["grid"] != Grid().size:
        raise InputError(f"entries are scored on {Grid().size} × {Grid().size} pixels, not {scores['grid']}")
    return Entry(
        **describe(old, **about),
        split=scores["split"],
        count=scores["count"],
        generator_version=scores["generator_version"],
        checksum=scores["sha256"],
        claimed=rounded(means(scores)),
        evaluated=None,
        evaluated_split="",
        evaluated_count=0,
    )


def rounded(scores: Scores) -> Scores:
    """Scores to six digits: further ones differ between platforms."""
    return {
        part: {metric: None if value is None else float(f"{value:.6g}") for metric, value in table.items()}
        for part, table in scores.items()
    }


def with_evaluation(entry: Entry, scores: Scores, split: str, count: int) -> Entry:
    """The entry with what was found on fresh instances."""
    return replace(entry, evaluated=rounded(scores), evaluated_split=split, evaluated_count=count)


def read_entry(path: str | Path) -> Entry:
    """Read an entry, and refuse one that breaks its schema. Whether it was evaluated is `read_entries`' to tell."""
    return _parse(path, _content(path))


def _content(path: str | Path) -> bytes:
    with naming(path):
        return read_plain(path, LARGEST_FILE, "entry")


def _parse(path: str | Path, content: bytes) -> Entry:
    with naming(path):
        return read_as(Entry, parse_json(content))


def read_entries(folder: str | Path) -> list[Entry]:
    """All entries of a folder, by file name; no two of the same method, setting and walks, nor with names alike.

    An entry counts as evaluated if the folder's list of evaluations says so; one that only claims it is refused.
    """
    with naming(folder):
        if not Path(folder).is_dir():
            raise InputError("there is no such folder")
    paths, sums = sorted(Path(folder).glob("*.json")), read_evaluations(folder)
    if len(paths) > MOST_ENTRIES:
        raise InputError(f"{folder}: has {len(paths):,} entries: at most {MOST_ENTRIES:,} are read")
    found: dict[tuple[str, str, int], tuple[Path, Entry]] = {}
    names: dict[str, str] = {}
    for path in paths:
        content = _content(path)
        entry = _parse(path, content)
        with naming(path):
            key = (entry.method, entry.setting, entry.walks)
            if key in found:
                raise InputError(f"{found[key][0].name} is of the same method, setting and walks")
            if names.setdefault(simplified(entry.method), entry.method) != entry.method:
                raise InputError(
                    f"method = {entry.method!r} looks like {names[simplified(entry.method)]!r}: use another name"
                )
            if entry.evaluated is not None and hashlib.sha256(content).hexdigest() not in sums.get(path.name, ()):
                raise InputError(
                    f"says that it was evaluated, but {EVALUATIONS} does not: set evaluated to null, or let others run "
                    "mc2 leaderboard verify --write"
                )
        found[key] = path, entry
    return [entry for _, entry in found.values()]


def read_evaluations(folder: str | Path) -> dict[str, set[str]]:
    """SHA-256 of the entries that were evaluated, by file name: a list that is not the entries' authors' to write.

    An entry has two while it is replaced.
    """
    path = Path(folder) / EVALUATIONS
    found: dict[str, set[str]] = {}
    if not path.exists():
        return {}
    with naming(path):
        for line in read_plain(path, 100 * MOST_ENTRIES, "list of evaluations").decode("utf-8", "replace").splitlines():
            if not (parts := SUM.fullmatch(line)):
                raise InputError(f"{short(line)} must be a line of sha256sum")
            found.setdefault(parts[2], set()).add(parts[1])
    return found


def write_evaluated(entry: Entry, path: str | Path) -> None:
    """Write an entry that was evaluated here, and note it in its folder's list of evaluations.

    The list has the old version and the new one until the entry is written: a kill leaves one that it knows.
    """
    path = Path(path)
    if not SUM.fullmatch(f"{'0' * 64}  {path.name}"):
        raise InputError(f"{path}: an entry's file needs a plain name, such as my-method.json")
    sums, new = read_evaluations(path.parent), hashlib.sha256(_text(entry).encode()).hexdigest()
    _write_evaluations(path.parent, sums | {path.name: sums.get(path.name, set()) | {new}})
    write_entry(entry, path)
    _write_evaluations(path.parent, sums | {path.name: {new}})


def _write_evaluations(folder: Path, sums: dict[str, set[str]]) -> None:
    lines = (f"{digits}  {name}\n" for name in sorted(sums) for digits in sorted(sums[name]))
    write_text(folder / EVALUATIONS, "".join(lines))


def write_entry(entry: Entry, path: str | Path) -> None:
    """Write an entry, whole or not at all."""
    path = Path(path)
    check_target(path, ".json")
    write_text(path, _text(entry))


def _text(entry: Entry) -> str:
    return json.dumps(asdict(entry), ensure_ascii=False, indent=2) + "\n"
