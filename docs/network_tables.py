"""The tables of the pages on networks and on neural baselines."""

import json

from docs.measured import DIFFUSION, NETWORKS, network_studies, reproduced, result, shown
from validation import ablations, operators
from validation.markdown import table

from mc2.benchmark.paper import paper_psnr
from mc2.benchmark.results import PLACES
from mc2.networks.installed import installed_correctors, installed_weights, weights_path

LARGE = ("sunet-paper", "sunet-compact-gpu")
"""Measured on the first 500 instances, on a GPU in bf16; the first is too large to ship."""
APPENDIX = {"fno": "", "fno-fair": "fno"}
"""Names in the paper's appendix, where they are others: its FNO there has f, g and Ω, as its discussion says."""


def logs(names):
    """Training logs, by the names of the weights."""
    return {name: json.loads(weights_path(name).with_suffix(".json").read_text("utf-8")) for name in names}


def whole(log, key):
    """Something of a run and of those whose weights it began with."""
    return log[key] + (whole(log["start"], key) if "start" in log else 0)


def reads(log):
    """What a network is given; `error` is made of the walks' variance."""
    return ", ".join(log["config"]["inputs"].get("channels", ("joint fields",)))


def trained(found):
    """found: training logs, by name."""
    rows = []
    for name, log in found.items():
        score = log.get("score", "psnr")
        before, last = (own[score]["overall"] for own in log["validations"][-2:])
        rows.append(
            (
                f"`{name}`",
                reads(log),
                f"{log['parameters'] / 1e6:.1f} M",
                f"{whole(log, 'instances'):,}",
                f"{whole(log, 'seconds') / 60:.1f}",
                log["device"],
                ", ".join(f"{family} {value:.2f}" for family, value in log["best"][score].items()),
                f"{last - before:+.2f} in {log['seconds'] / log['config']['validations']:.0f} s",
            )
        )
    header = ("weights", "reads", "parameters", "samples", "minutes", "on", "validation, dB", "at the end")
    return table(header, rows)


def trained_correctors():
    """Those that are shipped, and the one that is too large for it."""
    return trained(logs(installed_correctors()) | {"sunet-paper": result("sunet-paper")})


def eight():
    """Rows of all test instances, at 8 walks or at none, by method."""
    return {row["method"]: row for row in reproduced("table")["rows"] if row["walks"] in (0, 8)}


def scored(row):
    """Mean PSNR of a row, family by family and overall."""
    return [(row["overall"] if place == "overall" else row["families"][place])["psnr"]["mean"] for place in PLACES]


def networks():
    rows = []
    for name in NETWORKS:
        own = eight()[name]
        error, lpips = own["overall"]["psnr"]["standard_error"], own["overall"]["lpips"]["mean"]
        *families, overall = map(score, scored(own))
        rows.append((f"`{name}`", *families, f"{overall} ± {error:.2f}", f"{lpips:.3f}"))
    for text, appendix in (("the paper's", False), ("the same in its appendix", True)):
        paper = (score(paper_psnr("mc2", 8, place, appendix=appendix)) for place in PLACES)
        rows.append((text, *paper, ""))
    return table(("PSNR, dB, 5,000 instances", *PLACES, "LPIPS"), rows)


def networks_on_fewer():
    """What was measured on 500 instances, and the others on the same."""
    found = {name: result(f"evaluate_{name}") for name in LARGE}
    assert {own["count"] for own in found.values()} == {500}
    rows = [(f"`{name}`, bf16", *map(score, scored(own))) for name, own in found.items()]
    for own in reproduced("table")["first 500"]:
        if own["method"] in NETWORKS:
            rows.append((f"`{own['method']}`", *(score(own[place]["mean"]) for place in PLACES)))
    return table(("PSNR, dB, first 500 instances", *PLACES), rows)


def operators_beside():
    """Operators as we have them, and as the paper's two tables do."""
    rows = []
    for name in ("fno", "pino", "fno-fair"):
        own = eight()[name]
        *families, overall = map(score, scored(own))
        error, seconds = own["overall"]["psnr"]["standard_error"], own["overall"]["seconds"]["mean"]
        rows.append((f"`{name}`", "ours", *families, f"{overall} ± {error:.2f}", f"{seconds:.2g}"))
        rows += [(*row, "") for row in papers(name)]
    return table(("PSNR, dB, 5,000 instances", "", *PLACES, "seconds per field"), rows)


def samplers_beside():
    """Diffusion models as we have them, and as the paper's two tables do."""
    rows = []
    for name in DIFFUSION:
        found = result(f"evaluate_{name}")
        assert found["count"] == 60
        own = [found["families"].get(place) for place in PLACES[:-1]] + [found["overall"]]
        seconds = found["overall"]["seconds"]["mean"] + found["overall"]["walking_seconds"]["mean"]
        rows.append((f"`{name}`", "ours", *(score(part and part["psnr"]["mean"]) for part in own), f"{seconds:.2g}"))
        rows += [(*row, "") for row in papers(name)]
    return table(("PSNR, dB, 60 instances", "", *PLACES, "seconds per field"), rows)


def papers(name):
    """What the paper has of a baseline, in its main text and in its appendix."""
    rows = []
    sets = ("paper, main text", name, False), ("paper, appendix", APPENDIX.get(name, name), True)
    for text, method, appendix in sets:
        cells = [paper_psnr(method, 8, place, appendix=appendix) for place in PLACES]
        if any(cells):
            rows.append((f"`{name}`", text, *map(score, cells)))
    return rows


def network_speed():
    rows = []
    for weights, parts in result("networks_speed").items():
        for part, own in parts.items():
            rows += [(f"`{weights}`", part, name.replace("_", " "), shown(value)) for name, value in own.items()]
    return table(("weights", "on", "measured", "value"), rows)


def windows():
    rows = []
    for own in network_studies():
        part = own["windows"]
        rows.append((f"`{own['weights']}`", part["count"], f"{part['psnr_256']:.2f}", f"{part['psnr_512']:.2f}"))
    return table(("weights", "problems", "256 × 256, dB", "512 × 512 by windows, dB"), rows)


def sweeps():
    studies, rows = network_studies(), []
    for own in studies:
        for key, name, digits in (("psnr", "PSNR, dB", 2), ("lpips", "LPIPS", 4)):
            scores = (f"{row[key]:.{digits}f}" for row in own["sweeps"].values())
            rows.append((f"`{own['weights']}`", own["count"], name, *scores))
    return table(("weights; after sweeps:", "instances", "", *studies[0]["sweeps"]), rows)


def forms():
    studies, rows = network_studies(), []
    for own in studies:
        for family, scores in own["forms"]["families"].items():
            cells = (f"{score:.2f}" for score in scores.values())
            rows.append((f"`{own['weights']}`", family, own["forms"]["count"], *cells))
    first = next(iter(studies[0]["forms"]["families"].values()))
    return table(("weights", "family", "instances", *(f"source: {form}" for form in first)), rows)


def ablations_by_budget():
    found = result("ablations")
    return ablations.by_budget({name: run for name, run in found.items() if not name.startswith(("data", "mse"))})


def score(value):
    return "–" if value is None else f"{value:.2f}"


BLOCKS = {
    "trained": trained_correctors,
    "trained baselines": lambda: trained(logs(sorted(set(installed_weights()) - set(installed_correctors())))),
    "networks": networks,
    "networks on fewer": networks_on_fewer,
    "operators beside": operators_beside,
    "samplers beside": samplers_beside,
    "network speed": network_speed,
    "windows": windows,
    "sweeps": sweeps,
    "forms": forms,
    "ablations": lambda: ablations.at_eight(result("ablations")),
    "claims": lambda: ablations.claims(result("ablations")),
    "ablations by budget": ablations_by_budget,
    "operators": lambda: operators.residuals(result("operators")),
}
