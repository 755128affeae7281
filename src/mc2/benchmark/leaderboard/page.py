"""The page: one HTML file with everything in it, which asks no other host for anything.

Its policy allows this one style and this one script, by their hashes, and pictures that are part of the page. So even a
text that slipped through the escaping could not run. The same entries always give the same bytes.
"""

import base64
import hashlib
import math
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from mc2.benchmark.curve import shipped_curve
from mc2.benchmark.leaderboard.entries import Entry
from mc2.benchmark.leaderboard.schema import PARTS, SETTINGS, Scores
from mc2.benchmark.methods.extras import load_extra
from mc2.benchmark.scores import HIGHER_IS_BETTER, METRICS
from mc2.errors import InputError
from mc2.files import check_target, make_folder, write_text
from mc2.reading.plain import naming, read_plain
from mc2.zoo import FAMILIES, VERSION

NAMES = {"psnr": "PSNR", "snr": "SNR", "mse": "MSE", "lpips": "LPIPS", "relative_l2": "Relative L2"}
DECIBELS = ("psnr", "snr")
UNKNOWN = "–"
LARGEST_FIGURE = 4_000_000
"""Bytes; a page with larger ones would be slow to load."""
Rows = list[tuple[str, list[str]]]
"""The rows of a table: what each is called, and its cells."""
PNG = b"\x89PNG\r\n\x1a\n"

COLUMNS = (
    ("rank", "#", "number"),
    ("method", "Method", "text"),
    ("setting", "Setting", "text"),
    ("count", "N", "number"),
    ("walks", "Walks", "number"),
    *((family, family.capitalize(), "score") for family in FAMILIES),
    ("overall", "Overall", "score"),
    ("seconds", "s/field", "number"),
    ("parameters", "Parameters", "number"),
    ("status", "Status", "text"),
)
"""Name, heading and kind of every column."""


def write_page(entries: Iterable[Entry], path: str | Path, figures: str | Path | None = None) -> None:
    """Write the page, whole or not at all; its folder is made if need be.

    figures: a folder of .png files.
    """
    path, text = Path(path), build_page(entries, figures)
    if path.suffix.lower() == ".html":
        make_folder(path.parent)
    check_target(path, ".html")
    write_text(path, text)


def build_page(entries: Iterable[Entry], figures: str | Path | None = None) -> str:
    """The page as a text."""
    jinja = load_extra("jinja2", "Jinja2", "the leaderboard's page", "pages")
    curve, style, script = shipped_curve(), _resource("page.css"), _resource("page.js")
    environment = jinja.Environment(
        autoescape=True, undefined=jinja.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"plain": _plain, "short": _short}
    shown = sorted(entries, key=lambda entry: (*_order(entry), entry.method, entry.setting, entry.walks))
    return environment.from_string(_resource("page.html")).render(
        policy=_policy(style, script),
        style=style,
        script=script,
        entries=shown,
        ranks=_ranks(shown),
        columns=COLUMNS,
        parts=PARTS,
        metrics=METRICS,
        names=NAMES,
        decibels=DECIBELS,
        higher_is_better=HIGHER_IS_BETTER,
        settings=SETTINGS,
        caption=_caption,
        shown=_format,
        all_metrics=_all_metrics,
        curve=curve,
        raw_walks=_raw_walks(curve),
        figures=_figures(figures),
        version=VERSION,
    )


def _resource(name: str) -> str:
    return files("mc2.benchmark.leaderboard").joinpath(name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    allowed = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{allowed[0]}'; script-src 'sha256-{allowed[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _order(entry: Entry) -> tuple[int, bool, float]:
    """Rows of the same instances together, most instances first; of these the best overall, those without it last."""
    overall = entry.claimed["overall"]["psnr"]
    return -entry.count, overall is None, -(overall or 0.0)


def _ranks(entries: list[Entry]) -> list[int]:
    """Places among rows of the same instances: means over others say nothing about each other."""
    counts = [entry.count for entry in entries]
    return [1 + counts[:place].count(own) for place, own in enumerate(counts)]


def _format(value: float | None, metric: str) -> str:
    """As the script does it: hundredths of a decibel, else three digits."""
    if value is None:
        return UNKNOWN
    if metric in DECIBELS:
        return f"{value:.2f}"
    if 0 < value < 1e-3:
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(value))) if value else 0}f}"


def _caption(metric: str) -> str:
    unit = " in dB" if metric in DECIBELS else ""
    return f"{NAMES[metric]}{unit}: {'higher' if HIGHER_IS_BETTER[metric] else 'lower'} is better, * is best"


def _plain(value: float | None) -> str:
    return "" if value is None else repr(value)


def _short(value: float | None) -> str:
    """A count or a time in few characters."""
    if value is None:
        return UNKNOWN
    for unit, size in (("B", 1e9), ("M", 1e6), ("k", 1e4)):
        if value >= size:
            return f"{value / (1e3 if unit == 'k' else size):.3g} {unit}"
    return str(value) if isinstance(value, int) else f"{value:.2g}"


def _all_metrics(scores: Scores) -> Rows:
    """A row for every metric: the scores of every family and of all."""
    return [(NAMES[metric], [_format(scores[part][metric], metric) for part in PARTS]) for metric in METRICS]


def _raw_walks(curve: dict[str, Any]) -> Rows:
    """What raw walks get at every budget, in dB: a scale for all others."""
    means = [(curve["overall"] if part == "overall" else curve["families"][part])["psnr"]["mean"] for part in PARTS]
    return [
        (f"{budget:,}", [f"{mean[number]:.2f}" for mean in means]) for number, budget in enumerate(curve["budgets"])
    ]


def _figures(folder: str | Path | None) -> list[tuple[str, str]]:
    """The pictures of a folder by name, each with its name in words and its bytes in base 64."""
    if folder is not None and not Path(folder).is_dir():
        raise InputError(f"{folder}: there is no such folder")
    return [_figure(path) for path in sorted(Path(folder).glob("*.png"))] if folder is not None else []


def _figure(path: Path) -> tuple[str, str]:
    with naming(path):
        content = read_plain(path, LARGEST_FIGURE, "figure for a page")
        if not content.startswith(PNG):
            raise InputError("is not a PNG file")
    return path.stem.replace("_", " ").replace("-", " ").capitalize(), base64.b64encode(content).decode()
