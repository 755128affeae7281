"""What an entry may say, key by key. Entries come from strangers and end on a page."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any

from mc2.benchmark.methods.method import READABLE
from mc2.benchmark.metrics import METRICS
from mc2.checks import finite, whole
from mc2.errors import InputError, short, unknown
from mc2.zoo import FAMILIES, SPLITS, VERSION
from mc2.zoo.laws import family_of

SETTINGS = tuple(READABLE)
PARTS = (*FAMILIES, "overall")
NEVER_NEGATIVE = ("mse", "lpips", "relative_l2")
FEWEST = 10
"""Instances behind an entry: two of each family."""
MOST = 10**15
LINK = re.compile(
    r"https://(?!xn--)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.(?!xn--)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*\.[a-z]{2,63}"
    r"(/[A-Za-z0-9._~!$&'()*+,;=:@%/?#-]*)?"
)
"""A link to a host of plain letters: no user before an @, no port, no number, no letters of other alphabets."""

Scores = dict[str, dict[str, float | None]]
"""Means: `scores["laplace"]["psnr"]`, for every family and `overall`. LPIPS may be None; so may all of a family that a
method cannot play in, and then all of `overall`, which does not compare."""
Check = Callable[[str, object], None]
"""Called with a key and its value; raises for one that is not allowed."""


def _text(longest: int, *, empty: bool = True) -> Check:
    def check(name: str, value: object) -> None:
        if not isinstance(value, str) or len(value) > longest or not value.isprintable():
            raise InputError(f"{name} = {short(value)} must be one line of at most {longest} characters")
        if not empty and not value.strip():
            raise InputError(f"{name} must not be empty")

    return check


def _name(name: str, value: object) -> None:
    _text(80, empty=False)(name, value)
    if not re.fullmatch(r"[A-Za-z0-9._+-]+( [A-Za-z0-9._+-]+)*", str(value)) or not look(str(value)):
        raise InputError(f"{name} = {short(value)} must be of the letters A to Z, digits, single spaces and . _ + -")


def look(name: str) -> str:
    """What names have in common that look alike: small letters and digits, without what stands between them."""
    return re.sub(r"[ ._-]", "", name.lower())


def _link(name: str, value: object) -> None:
    _text(300)(name, value)
    if value != "" and not LINK.fullmatch(str(value)):
        raise InputError(f"{name} = {short(value)} must be a link that begins with https:// and a plain host, or ''")


def _one_of(*known: str) -> Check:
    def check(name: str, value: object) -> None:
        if value not in known:
            raise unknown(name, value, known)

    return check


def _number(low: int, high: int) -> Check:
    def check(name: str, value: object) -> None:
        whole(name, value, low, high)

    return check


def _seconds(name: str, value: object) -> None:
    if not 0 <= finite(name, value) <= MOST:
        raise InputError(f"{name} = {short(value)} must lie in [0, {MOST:g}]")


def _digits(name: str, value: object) -> None:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-f]{64}", value):
        raise InputError(f"{name} = {short(value)} must be the 64 digits of the SHA-256 of the file of predictions")


def _day(name: str, value: object) -> None:
    try:
        if not isinstance(value, str) or date.fromisoformat(value).isoformat() != value:
            raise ValueError
    except ValueError:
        raise InputError(f"{name} = {short(value)} must be a day such as 2026-01-31") from None


def _version(name: str, value: object) -> None:
    if value != VERSION:
        raise InputError(f"{name} = {short(value)} must be {VERSION!r}: scores of other generators do not compare")


CHECKS: dict[str, Check] = {
    "method": _name,
    "authors": _text(300, empty=False),
    "code": _link,
    "paper": _link,
    "setting": _one_of(*SETTINGS),
    "walks": _number(0, MOST),
    "parameters": _number(0, MOST),
    "training_instances": _number(0, MOST),
    "hardware": _text(200),
    "seconds_per_field": _seconds,
    "split": _one_of("test"),
    "count": _number(FEWEST, SPLITS["test"]),
    "generator_version": _version,
    "checksum": _digits,
    "notes": _text(1000),
    "date": _day,
}


def check_scores(name: str, scores: object, split: str, count: int) -> None:
    """All families and all metrics, as numbers; and overall is what the families make it."""
    absent = []
    for part, table in exactly(name, scores, PARTS).items():
        if not [value for value in exactly(f"{name} {part}", table, METRICS).values() if value is not None]:
            absent.append(part)
            continue
        for metric, value in table.items():
            if metric == "lpips" and value is None:
                continue
            if finite(f"{name} {part} {metric}", value) < 0 and metric in NEVER_NEGATIVE:
                raise InputError(f"{name} {part} {metric} = {value} must not be negative")
    if absent:
        if "overall" not in absent or len(absent) in (1, len(PARTS)):
            raise InputError(f"{name} overall must be null where a family is, and only there")
        return
    shares = Counter(family_of(split, index) for index in range(count))
    for metric in METRICS:
        values: dict[str, Any] = {part: scores[part][metric] for part in PARTS}  # type: ignore[index]
        if None in values.values():
            if set(values.values()) != {None}:
                raise InputError(f"{name} {metric} must be given for all families, or null for all")
            continue
        mean = sum(values[family] * shares[family] for family in FAMILIES) / count
        if abs(mean - values["overall"]) > 1e-3 * max(map(abs, values.values())):
            raise InputError(f"{name} overall {metric} = {values['overall']:g}, but its families have mean {mean:g}")


def exactly(name: str, table: object, keys: Iterable[str]) -> Mapping[str, Any]:
    """A table with these keys, no more and no fewer."""
    if not isinstance(table, dict):
        raise InputError(f"{name} = {short(table)} must be an object with the keys {', '.join(keys)}")
    for key in table:
        if key not in keys:
            raise unknown(f"key of {name}", key, keys)
    for key in keys:
        if key not in table:
            raise InputError(f"{name} lacks {key!r}")
    return table
