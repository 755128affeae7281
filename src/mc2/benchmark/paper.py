"""The paper's own scores, to stand beside ours."""

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def _tables() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(files("mc2.benchmark").joinpath("data/paper.json").read_text("utf-8"))
    return data


def paper_psnr(method: str, walks: int, family: str, *, appendix: bool = False) -> float | None:
    """The mean PSNR in dB that the paper gives for a method, or none.

    family: may be `overall`.

    The paper's tables disagree with each other; these are from the main text, or of methods from its appendix. Raw
    walks are from the appendix always.
    """
    tables = _tables()
    if method == "wos":
        row = tables["wos"].get(str(walks), {})
    else:
        row = tables["appendix" if appendix else "methods"].get(method, {}) if walks in (0, 8) else {}
    found: float | None = row.get(family)
    return found


def paper_score(method: str, walks: int, place: str, metric: str = "psnr", *, appendix: bool = False) -> float | None:
    """As `paper_psnr`, for `snr`, `mse` and `lpips` too, which the paper has in its appendix alone."""
    if metric == "psnr":
        return paper_psnr(method, walks, place, appendix=appendix)
    row = _tables()["metrics"].get(f"wos {walks}" if method == "wos" else method, {})
    if place not in row or (method != "wos" and walks not in (0, 8)):
        return None
    found: float = row[place][("snr", "mse", "lpips").index(metric)]
    return found
