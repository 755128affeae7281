"""The page: one HTML file with everything in it, which asks no other host for anything.

Its policy allows this one style and this one script, by their hashes, and pictures that are part of the page. So even a
text that slipped through the escaping could not run. The same entries always give the same bytes.
"""

import base64
import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from mc2.benchmark.curve import shipped_curve
from mc2.benchmark.leaderboard.entries import Entry
from mc2.benchmark.leaderboard.schema import PARTS, SETTINGS, Scores
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
PNG = b"\x89PNG\r\n\x1a\n"

COLUMNS = (
    ("rank", "#", "number"),
    ("method", "Method", "text"),
    ("setting", "Setting", "text"),
    ("walks", "Walks", "number"),
    *((family, family.capitalize(), "score") for family in FAMILIES),
    ("overall", "Overall", "score"),
    ("seconds", "s/field", "number"),
    ("parameters", "Parameters", "number"),
    ("status", "Status", "text"),
)
"""Name, heading and kind of every column."""


def write_page(entries: Iterable[Entry], path: str | Path, figures: str | Path | None = None) -> None:
    """Write the page, whole or not at all; its folder is made if need be. figures: a folder of .png files."""
    path, text = Path(path), build_page(entries, figures)
    if path.suffix.lower() == ".html":
        make_folder(path.parent)
    check_target(path, ".html")
    write_text(path, text)


def build_page(entries: Iterable[Entry], figures: str | Path | None = None) -> str:
    """The page as a text."""
    ordered = sorted(entries, key=lambda entry: (*_order(entry), entry.method, entry.setting, entry.walks))
    style, script = _resource("page.css"), _resource("page.js")
    parts = {
        "policy": _policy(style, script),
        "style": style,
        "script": script,
        "metrics": "".join(_metric_option(metric) for metric in METRICS),
        "settings": "".join(f'<option value="{name}">{name}</option>' for name in SETTINGS),
        "caption": _caption(METRICS[0]),
        "columns": "".join(_heading(*column) for column in COLUMNS),
        "entries": "\n".join(_entry(entry, place) for place, entry in enumerate(ordered, 1)),
        "none": "hidden" if ordered else "",
        "walks": _raw_walks(),
        "figures": _figures(figures),
        "version": escape(VERSION),
        "summary": _summary(ordered),
    }
    # in one pass: a text of an entry that looks like a place in the template stays what it is
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match.group(1)], _resource("page.html"))


def _resource(name: str) -> str:
    return files("mc2.benchmark.leaderboard").joinpath(name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    allowed = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{allowed[0]}'; script-src 'sha256-{allowed[1]}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _order(entry: Entry) -> tuple[bool, float]:
    """The best overall first; those that cannot play in some family last."""
    overall = entry.claimed["overall"]["psnr"]
    return overall is None, -(overall or 0.0)


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


def _metric_option(metric: str) -> str:
    better, digits = "high" if HIGHER_IS_BETTER[metric] else "low", "hundredths" if metric in DECIBELS else "three"
    data = f'data-better="{better}" data-digits="{digits}" data-caption="{_caption(metric)}"'
    return f'<option value="{metric}" {data}>{NAMES[metric]}</option>'


def _heading(name: str, label: str, kind: str) -> str:
    css = ' class="text"' if kind == "text" or name == "rank" else ""
    sort = ' aria-sort="descending"' if name == "overall" else ""
    told = ' aria-label="Rank"' if name == "rank" else ""
    button = f'<button type="button"{told}>{label}</button>'
    return f'<th role="columnheader" scope="col" data-column="{name}" data-kind="{kind}"{css}{sort}>{button}</th>'


def _entry(entry: Entry, place: int) -> str:
    """Two rows: what is compared, and what can be unfolded."""
    cells = "".join(_cell(entry, place, *column) for column in COLUMNS)
    details = f'<td role="cell" colspan="{len(COLUMNS)}"><div class="inside">{_facts(entry)}{_tables(entry)}</div></td>'
    return (
        f'<tbody class="entry" role="rowgroup" data-setting="{escape(entry.setting)}" data-place="{place}">\n'
        f'<tr class="summary" role="row">{cells}</tr>\n'
        f'<tr class="details" role="row" id="details-{place}">{details}</tr>\n</tbody>'
    )


def _cell(entry: Entry, place: int, name: str, label: str, kind: str) -> str:
    """A cell shows a text, and carries what the script sorts by."""
    if kind == "score":
        data = " ".join(f'data-{metric}="{_plain(entry.claimed[name][metric])}"' for metric in METRICS)
        shown = _format(entry.claimed[name]["psnr"], "psnr")
    elif kind == "number":
        values = {"rank": place, "walks": entry.walks, "parameters": entry.parameters}
        number = (values | {"seconds": entry.seconds_per_field})[name] or None  # 0: has none, or was not measured
        data, shown = f'data-number="{_plain(number)}"', _short(number)
    else:
        status = "evaluated" if entry.evaluated else "claimed"
        text = escape({"method": entry.method, "setting": entry.setting, "status": status}[name])
        looks = {
            "method": f'<button type="button" class="toggle" aria-controls="details-{place}">{text}</button>',
            "status": f'<span class="badge {status}">{status}</span>',
        }
        data, shown = f'data-text="{text}"', looks.get(name, text)
    known = f'class="{name}{" text" * (kind == "text")}" data-column="{name}" data-kind="{kind}" data-label="{label}"'
    return f'<td role="cell" {known} {data}>{shown}</td>'


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


def _facts(entry: Entry) -> str:
    facts = {
        "Authors": escape(entry.authors),
        "Code": _link(entry.code),
        "Paper": _link(entry.paper),
        "Hardware": escape(entry.hardware),
        "Trained on": f"{entry.training_instances:,} instances" if entry.training_instances else "",
        "Scored on": f"the first {entry.count:,} of {escape(entry.split)}",
        "Evaluated on": f"{entry.evaluated_count:,} of {escape(entry.evaluated_split)}" if entry.evaluated else "",
        "Notes": escape(entry.notes),
        "Date": escape(entry.date),
    }
    rows = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in facts.items() if text)
    return f'<dl class="facts">{rows}<dt>SHA-256</dt><dd class="checksum">{escape(entry.checksum)}</dd></dl>'


def _link(address: str) -> str:
    if not address.startswith("https://"):  # entries are checked when they are read; this is the second lock
        return ""
    shown = escape(address, quote=True)
    return f'<a href="{shown}" rel="noopener noreferrer nofollow">{shown.removeprefix("https://")}</a>'


def _tables(entry: Entry) -> str:
    tables = f"<h3>Claimed</h3>{_table(entry.claimed)}"
    if entry.evaluated:
        tables += f"<h3>Evaluated</h3>{_table(entry.evaluated)}"
    return f"<div>{tables}</div>"


def _table(scores: Scores) -> str:
    """All metrics of all families."""
    rows = [(NAMES[metric], [_format(scores[part][metric], metric) for part in PARTS]) for metric in METRICS]
    return _by_part("All metrics", "", rows)


def _raw_walks() -> str:
    """What raw walks get at every budget, in dB: a scale for all others."""
    curve = shipped_curve()
    scores = [curve["overall"] if part == "overall" else curve["families"][part] for part in PARTS]
    means = [own["psnr"]["mean"] for own in scores]
    rows = [
        (f"{budget:,}", [f"{mean[number]:.2f}" for mean in means]) for number, budget in enumerate(curve["budgets"])
    ]
    over = f"over the first {curve['count']} instances"
    text = f"<p>PSNR in dB of so many walks per pixel, {over}: what a score is worth.</p>\n"
    return text + _by_part("Raw walks", "Walks", rows)


def _by_part(label: str, corner: str, rows: Iterable[tuple[str, Iterable[str]]]) -> str:
    """A table with a column for every family and for all."""
    head = "".join(f'<th scope="col">{part.capitalize()}</th>' for part in PARTS)
    body = "".join(
        f'<tr><th scope="row">{name}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
        for name, cells in rows
    )
    return (
        f'<div class="scores" role="region" aria-label="{label}" tabindex="0">'
        f"<table><thead><tr><th>{corner}</th>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _figures(folder: str | Path | None) -> str:
    """The pictures of a folder, by name."""
    if folder is None:
        return ""
    if not Path(folder).is_dir():
        raise InputError(f"{folder}: there is no such folder")
    shown = "".join(_figure(path) for path in sorted(Path(folder).glob("*.png")))
    return f'<section><h2>Figures</h2><div class="figures">{shown}</div></section>' if shown else ""


def _figure(path: Path) -> str:
    with naming(path):
        content = read_plain(path, LARGEST_FIGURE, "figure for a page")
        if not content.startswith(PNG):
            raise InputError("is not a PNG file")
    name = escape(path.stem.replace("_", " ").replace("-", " ").capitalize())
    picture = f'<img alt="{name}" src="data:image/png;base64,{base64.b64encode(content).decode()}">'
    return f"<figure>{picture}<figcaption>{name}</figcaption></figure>"


def _summary(entries: Sequence[Entry]) -> str:
    if not entries:
        return "No entries."
    newest, number = max(entry.date for entry in entries), len(entries)
    return f"{number:,} {'entry' if number == 1 else 'entries'}, the latest of {escape(newest)}."
