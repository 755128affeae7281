"""What an entry may say, key by key. Entries come from strangers and end on a page."""

import re
from collections import Counter
from datetime import date
from typing import Annotated, Any

from typing_extensions import TypedDict

from mc2.benchmark.methods.method import READABLE
from mc2.benchmark.scores import METRICS
from mc2.errors import InputError
from mc2.reading.models import Number, Rule, at_least, between, line, one_of, read_as
from mc2.zoo import FAMILIES, SPLITS, VERSION
from mc2.zoo.laws import family_of

SETTINGS = tuple(READABLE)
PARTS = (*FAMILIES, "overall")
FEWEST = 10
"""Instances behind an entry: two of each family."""
MOST = 10**15
LINK = re.compile(
    r"https://(?!xn--)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.(?!xn--)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*\.[a-z]{2,63}"
    r"(/[A-Za-z0-9._~!$&'()*+,;=:@%/?#-]*)?"
)
"""A link to a host of plain letters: no user before an @, no port, no number, no letters of other alphabets."""

Scores = dict[str, dict[str, Number | None]]
"""Means: `scores["laplace"]["psnr"]`, for every family and `overall`. LPIPS may be None; so may all of a family that a
method cannot play in, and then all of `overall`, which does not compare."""


class Means(TypedDict):
    """Those of one family."""

    psnr: Number | None
    snr: Number | None
    mse: Annotated[Number, at_least(0)] | None
    lpips: Annotated[Number, at_least(0)] | None
    relative_l2: Annotated[Number, at_least(0)] | None


AllMeans: Any = TypedDict("AllMeans", dict.fromkeys(PARTS, Means))  # type: ignore[misc]


def simplified(name: str) -> str:
    """The small letters and digits of a name, without what stands between them: equal for names that look alike."""
    return re.sub(r"[ ._-]", "", name.lower())


def _is_name(text: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z0-9._+-]+( [A-Za-z0-9._+-]+)*", text) and simplified(text)) and len(text) <= 80


def _is_link(text: str) -> bool:
    return text == "" or (len(text) <= 300 and bool(LINK.fullmatch(text)))


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


Name = Annotated[str, Rule(_is_name, "at most 80 of the letters A to Z, digits, single spaces and . _ + -")]
Authors = Annotated[str, line(300), Rule(lambda text: text.strip() != "", "{}, not empty")]
Link = Annotated[str, Rule(_is_link, "a link that begins with https:// and a plain host, or ''")]
Setting = Annotated[str, one_of(*SETTINGS)]
Amount = Annotated[int, between(0, MOST)]
Seconds = Annotated[Number, between(0, MOST)]
Count = Annotated[int, between(FEWEST, SPLITS["test"])]
Version = Annotated[str, Rule(VERSION.__eq__, f"{VERSION!r}: scores of other generators do not compare")]
Digits = Annotated[
    str, Rule(lambda text: bool(re.fullmatch("[0-9a-f]{64}", text)), "the 64 digits of the predictions' SHA-256")
]
Day = Annotated[str, Rule(_is_day, "a day such as 2026-01-31")]


def check_scores(name: str, scores: Scores, split: str, count: int) -> None:
    """All families and all metrics are there; and overall is what the families make it."""
    read_as(AllMeans, scores, name)
    absent = [part for part, table in scores.items() if set(table.values()) == {None}]
    for part, table in scores.items():
        for metric, value in table.items():
            if value is None and metric != "lpips" and part not in absent:
                raise InputError(f"{name}.{part}.{metric} = null must be a finite number, as others of {part} are")
    if absent:
        if "overall" not in absent or len(absent) in (1, len(PARTS)):
            raise InputError(f"{name}.overall must be null where a family is, and only there")
        return
    shares = Counter(family_of(split, index) for index in range(count))
    for metric in METRICS:
        values: dict[str, Any] = {part: scores[part][metric] for part in PARTS}
        if None in values.values():
            if set(values.values()) != {None}:
                raise InputError(f"{name}: {metric} must be given for all families, or null for all")
            continue
        mean = sum(values[family] * shares[family] for family in FAMILIES) / count
        if abs(mean - values["overall"]) > 1e-3 * max(map(abs, values.values())):
            raise InputError(f"{name}.overall.{metric} = {values['overall']:g}, but its families have mean {mean:g}")
