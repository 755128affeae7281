"""The tables of the results page, from what `mc2 reproduce` measured; see `docs/reproduced.py`."""

import numpy as np
from docs.measured import DIFFUSION, NAMES, reproduced, result, shown
from docs.network_tables import logs, reads, whole
from validation.markdown import table

from mc2.benchmark.methods import make_method
from mc2.benchmark.paper import paper_score
from mc2.benchmark.results import PLACES
from mc2.networks.installed import installed_weights
from mc2.zoo.laws import families_of

PAPER = {"sunet-compact-one-pass": "mc2", "mc2": "mc2"}
"""Rows that stand beside the paper's own network: that of its form, and ours."""
WHOLE = "fno-fair"
"""An FNO that is given the whole problem, as the paper's is in its appendix only."""
WEIGHTS = {"mc2-alone": "mc2", "sunet-compact-one-pass": "sunet-compact"}
"""Methods that are not called as their weights are."""
TRAINED = families_of("train")
FEW = 100
"""Instances of the curve of walks."""


def label(method):
    """A row's name, and what users call it."""
    return f"{NAMES[method]} `{method}`"


def papers(method, walks, place, metric="psnr"):
    """The paper's figure that stands beside a row, or none. In its appendix, FNO is that of the whole problem."""
    if method == "fno" and metric != "psnr":
        return None
    if method == WHOLE:
        return paper_score("fno", walks, place, metric, appendix=True)
    return paper_score(PAPER.get(method, method), walks, place, metric)


def beside(text, paper, shape="{:.2f}"):
    return text + ("" if paper is None else f" ({shape.format(paper)})")


def group(row, place):
    return row["overall"] if place == "overall" else row["families"][place]


def eight():
    """The rows of the table that are of 8 walks or of none, in the order of the names."""
    rows = {row["method"]: row for row in reproduced("table")["rows"] if row["walks"] in (0, 8)}
    return {name: rows[name] for name in NAMES if name in rows}


def subset(count):
    """PSNR of the same rows over the first instances alone."""
    rows = {row["method"]: row for row in reproduced("table")[f"first {count}"] if row["walks"] in (0, 8)}
    return {name: rows[name] for name in NAMES if name in rows}


def raw(place="overall"):
    """Budgets of raw walks and their PSNR, on the instances of the curve."""
    rows = [row for row in reproduced("curve")["rows"] if row["method"] == "wos"]
    return [row["walks"] for row in rows], [row[place]["mean"] for row in rows]


def equal(psnr, place="overall"):
    """Walks per pixel at which raw walks have this PSNR on the same instances."""
    budgets, scores = raw(place)
    if psnr > scores[-1]:
        return f"> {budgets[-1]:,}"
    return f"< {budgets[0]}" if psnr < scores[0] else f"{np.exp2(np.interp(psnr, scores, np.log2(budgets))):,.0f}"


def results():
    few, rows = subset(FEW), []
    walking = eight()["wos"]["overall"]["seconds"]["mean"]
    for name, row in eight().items():
        cells = []
        for place in PLACES:
            psnr = group(row, place)["psnr"]
            cells.append(beside(f"{psnr['mean']:.2f} ± {psnr['standard_error']:.2f}", papers(name, 8, place)))
        own = row["overall"]["seconds"]["mean"] if name != "wos" else 0.0
        seconds = f"{own + walking * (row['walks'] > 0):.2g}"
        rows.append((label(name), *cells, "8" if name == "wos" else equal(few[name]["overall"]["mean"]), seconds))
    return table(("PSNR, dB", *PLACES, "equals", "seconds"), rows)


def methods():
    """What each row is given, and what learned ones have learned from."""
    rows, known = [], logs(installed_weights())
    for name in eight():
        method, log = make_method(name), known.get(WEIGHTS.get(name, name))
        given = ", ".join(own for own in method.reads if own not in ("grid", "family")).replace("_function", "")
        learned = ("–", "–", "–", "–")
        if log:
            size = f"{log['parameters'] / 1e6:.1f} M"
            learned = (reads(log), size, f"{whole(log, 'instances'):,}", f"{whole(log, 'seconds') / 60:.1f}")
        rows.append((f"`{name}`", method.setting, given, *learned))
    header = ("method", "setting", "is given", "its network reads", "parameters", "instances seen", "minutes, H200")
    return table(header, rows)


def metric(name, shape):
    """A score of every method and family, with the paper's appendix beside it."""
    rows = []
    for method, row in eight().items():
        cells = []
        for place in PLACES:
            own = group(row, place)[name]
            cells.append(beside(shape.format(own["mean"]), papers(method, 8, place, name), shape))
        rows.append((f"`{method}`", *cells))
    return table((name.upper(), *PLACES), rows)


def relative():
    """Medians of the relative L2 error, of which a few fields that are almost 0 have huge ones."""
    rows = [
        (f"`{method}`", *(f"{group(row, place)['relative_l2']['median']:.3g}" for place in PLACES))
        for method, row in eight().items()
    ]
    return table(("relative L2, median", *PLACES), rows)


def by_tier():
    counts = {tier: own["count"] for tier, own in eight()["wos"]["tiers"].items()}
    rows = []
    for name, row in eight().items():
        scores = (row["tiers"][tier]["psnr"] for tier in counts)
        rows.append((f"`{name}`", *(f"{own['mean']:.2f} ± {own['standard_error']:.2f}" for own in scores)))
    return table(("PSNR by difficulty, dB", *(f"{tier} ({count:,})" for tier, count in counts.items())), rows)


def differences():
    rows = []
    for name, row in eight().items():
        for place in PLACES:
            paper, own = papers(name, 8, place), group(row, place)["psnr"]["mean"]
            if paper is not None and abs(own - paper) > 3:
                rows.append((f"`{name}`", place, f"{own:.2f}", f"{paper:.2f}", f"{own - paper:+.2f}"))
    return table(("method", "family", "ours, dB", "paper, dB", "difference"), rows) if rows else "Nowhere."


def slow():
    """Diffusion models, and what is fast on the same instances."""
    few, rows = subset(FEW), []
    count = result(f"evaluate_{DIFFUSION[0]}")["count"]
    for name in ("wos", "nlm", "mc2", "sunet-compact-one-pass", "mc2-physics", "fno-fair"):
        own = few[name]
        assert own["trained"]["count"] == count
        scores = (f"{own[place]['mean']:.2f}" for place in TRAINED)
        rows.append((label(name), *scores, f"{own['trained']['mean']:.2f} ± {own['trained']['standard_error']:.2f}"))
    for name in DIFFUSION:
        found = result(f"evaluate_{name}")
        assert found["count"] == count
        means = (found["families"][place]["psnr"]["mean"] for place in TRAINED)
        scores = [beside(f"{own:.2f}", papers(name, 8, place)) for own, place in zip(means, TRAINED, strict=True)]
        own = found["overall"]["psnr"]
        overall = f"{own['mean']:.2f} ± {own['std'] / np.sqrt(count - 1):.2f}"
        rows.append((label(name), *scores, beside(overall, papers(name, 8, "overall"))))
    return table((f"{count} instances; PSNR, dB", *TRAINED, "overall"), rows)


def raw_walks(study):
    """Raw walks at every budget of a study, with the paper's."""
    rows, count = [], reproduced(study)["count"]
    for row in (own for own in reproduced(study)["rows"] if own["method"] == "wos"):
        cells = []
        for place in PLACES:
            own = row[place] if study == "curve" else group(row, place)["psnr"]
            text = f"{own['mean']:.2f}"
            if place == "overall":
                text += f" ± {own['standard_error']:.2f}"
            cells.append(beside(text, paper_score("wos", row["walks"], place)))
        rows.append((f"{row['walks']:,}", *cells))
    return table((f"walks per pixel; PSNR, dB, {count:,} instances (paper)", *PLACES), rows)


def corrections():
    """Overall PSNR of corrections at every budget, and the raw walks' that is as good."""
    found = {(row["method"], row["walks"]): row for row in reproduced("curve")["rows"]}
    names = [name for name in NAMES if (name, 8) in found and name != "wos"]
    budgets = sorted({walks for name, walks in found if name != "wos"})
    rows = []
    for walks in budgets:
        cells = []
        for name in names:
            own = found.get((name, walks))
            cells.append(f"{own['overall']['mean']:.2f} = {equal(own['overall']['mean'])}" if own else "–")
        rows.append((f"{walks:,}", f"{found['wos', walks]['overall']['mean']:.2f}", *cells))
    return table(("walks", "raw walks, dB", *(f"`{name}`" for name in names)), rows)


def worse():
    """Where a correction is below the walks that it was given."""
    found = {(row["method"], row["walks"]): row for row in reproduced("curve")["rows"]}
    rows = []
    for name in (name for name in NAMES if (name, 8) in found and name != "wos"):
        budgets = sorted(walks for method, walks in found if method == name)
        cells = []
        for place in PLACES:
            below = [w for w in budgets if found[name, w][place]["mean"] < found["wos", w][place]["mean"]]
            cells.append(", ".join(f"{walks:,}" for walks in below) or "never")
        rows.append((f"`{name}`", *cells))
    return table(("below its walks, of so many per pixel", *PLACES), rows)


def falling():
    """Where more walks make a correction worse: its best budget, and what the most walks give."""
    found = {(row["method"], row["walks"]): row for row in reproduced("curve")["rows"]}
    rows = []
    for name in (name for name in NAMES if (name, 8) in found and name != "wos"):
        budgets = sorted(walks for method, walks in found if method == name)
        cells = []
        for place in PLACES:
            scores = [found[name, walks][place]["mean"] for walks in budgets]
            best = int(np.argmax(scores))
            falls = f"{scores[best]:.2f} at {budgets[best]:,}, {scores[-1]:.2f}"
            cells.append("rises" if scores[best] == scores[-1] else falls)
        rows.append((f"`{name}`", *cells))
    return table(("best, and at 16,384 walks", *PLACES), rows)


def bias():
    rows = []
    for row in reproduced("bias")["rows"]:
        own = row["overall"]
        cells = (f"{own[key]['median']:.1e}" for key in ("bias2", "variance", "raw_variance"))
        shares = (f"{100 * own[key]['mean']:.0f} %" for key in ("improves", "improved_pixels"))
        factors = (f"{own[key]['mean']:.3f}" for key in ("lipschitz_rms", "lipschitz"))
        rows.append((label(row["method"]), *cells, *shares, *factors))
    header = ("bias²", "variance", "raw variance", "improved instances", "pixels", "factor", "at most")
    return table(("8 walks per pixel", *header), rows)


def plain_denoisers():
    found = result("denoisers_plain")
    rows = []
    for name, own in found["methods"].items():
        cells = (f"{own[family]:.2f} ({papers(name, 8, family):.2f})" for family in PLACES[:-1])
        rows.append((NAMES[name], *cells))
    return table((f"mask ignored, {found['count']} instances; PSNR, dB (paper)", *PLACES[:-1]), rows)


def minutes():
    """How long the runs took."""
    rows = []
    for study in ("table", "curve", "bias"):
        found = reproduced(study)
        spent = [run["minutes"] for run in found["runs"]]
        machine = found["runs"][-1]["hardware"]
        on = f"{machine['gpu']}, {machine['cores']} cores"
        methods = len({row["method"] for row in found["rows"]})
        parts = " + ".join(shown(float(own)) for own in spent if own)
        rows.append((study, f"{found['count']:,}", methods, len(found["rows"]), parts, on))
    return table(("study", "instances", "methods", "rows", "minutes", "on"), rows)


def headline():
    """What a newcomer sees: what a few walks are worth."""
    rows, count = [], reproduced("table")["count"]
    for name in ("wos", "sunet-compact-one-pass", "mc2", "mc2-physics", "mc2-rounds"):
        own = eight()[name]["overall"]
        psnr = f"{own['psnr']['mean']:.1f} ± {own['psnr']['standard_error']:.1f}"
        rows.append((NAMES[name], psnr, f"{own['relative_l2']['median']:.1e}", make_method(name).setting))
    return table((f"8 walks per pixel, {count:,} problems", "PSNR, dB", "relative error, median", "setting"), rows)


BLOCKS = {
    "headline": headline,
    "results": results,
    "methods": methods,
    "minutes": minutes,
    "snr": lambda: metric("snr", "{:.2f}"),
    "mse": lambda: metric("mse", "{:.2e}"),
    "lpips": lambda: metric("lpips", "{:.4f}"),
    "relative": relative,
    "difficulty of results": by_tier,
    "differences": differences,
    "slow": slow,
    "plain denoisers": plain_denoisers,
    "bias": bias,
    "curve": lambda: raw_walks("curve"),
    "walks on all": lambda: raw_walks("table"),
    "corrections": corrections,
    "worse than walks": worse,
    "falling": falling,
}
