"""The tables of the pages on networks and on neural baselines."""

import json

from docs.measured import RESULTS, network_studies, result, shown, walked
from validation import ablations, operators
from validation.markdown import table

from mc2.benchmark.paper import paper_psnr
from mc2.benchmark.results import PLACES
from mc2.networks.installed import installed_correctors, installed_weights, weights_path

BASELINES = ("fno", "pino", "fno-fair", "diffusion-pde", "cocogen", "diffusion-pde-prior", "cocogen-prior")
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
    large = {name: result(name) for name in ("sunet-paper",) if (RESULTS / f"{name}.json").is_file()}
    return trained(logs(installed_correctors()) | large)


def networks():
    rows = []
    own_ways = ("", "-gpu", "-alone", "-one-pass")
    names = [f"{own}{way}" for own in (*installed_correctors(), "sunet-paper") for way in own_ways]
    for name in (own for own in names if (RESULTS / f"evaluate_{own}.json").is_file()):
        found = result(f"evaluate_{name}")
        own = [(found["overall"] if place == "overall" else found["families"][place]) for place in PLACES]
        equal = found["equivalent_budget"]["overall"]
        cells = (*(f"{part['psnr']['mean']:.2f}" for part in own), f"{own[-1]['lpips']['mean']:.3f}")
        rows.append((f"`{name}`", *cells, "beyond the curve" if equal is None else f"{equal:,.0f}"))
    for text, appendix in (("the paper's", False), ("the same in its appendix", True)):
        paper = (score(paper_psnr("mc2", 8, place, appendix=appendix)) for place in PLACES)
        rows.append((text, *paper, "", ""))
    return table(("PSNR, dB", *PLACES, "LPIPS", "equals, walks"), rows)


def baselines():
    """What the paper compares with: as we have it, and as its two tables do."""
    rows = []
    for name in BASELINES:
        found = result(f"evaluate_{name}")
        own = [found["families"].get(place) for place in PLACES[:-1]] + [found["overall"]]
        cells = (score(part and part["psnr"]["mean"]) for part in own)
        rows.append((f"`{name}`", f"ours, {len(found['instances'])} instances", *cells, f"{walked(found)[1]:.2g}"))
        papers = (("paper, main text", name, False), ("paper, appendix", APPENDIX.get(name, name), True))
        for text, method, appendix in papers:
            cells = [paper_psnr(method, 8, place, appendix=appendix) for place in PLACES]
            if any(cells):
                rows.append((f"`{name}`", text, *map(score, cells), ""))
    return table(("PSNR, dB", "", *PLACES, "seconds per field"), rows)


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
    "baselines": baselines,
    "network speed": network_speed,
    "windows": windows,
    "sweeps": sweeps,
    "forms": forms,
    "ablations": lambda: ablations.at_eight(result("ablations")),
    "claims": lambda: ablations.claims(result("ablations")),
    "ablations by budget": ablations_by_budget,
    "operators": lambda: operators.residuals(result("operators")),
}
