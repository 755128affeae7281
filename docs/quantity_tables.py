"""Tables of what `python -m validation.quantities` found."""

from docs.measured import result
from validation.markdown import table


def quantities():
    """Numbers against references; of modes, a line for every domain."""
    found, rows, modes = result("quantities"), [], {}
    for own in found["table"]:
        name, _, domain = own["quantity"].partition(", ")
        if name.startswith("λ"):
            modes.setdefault(domain, []).append(own)
        else:
            value, bar = f"{own['value']:.13g}", f"{own['error bar']:.0e}"
            rows.append((own["quantity"], value, bar, own["source"], _error(own["relative error"])))
    for domain, own in modes.items():
        bar = max(each["error bar"] for each in own)
        ends = f"{own[0]['value']:.13g} … {own[-1]['value']:.13g}"
        sources = ", ".join(dict.fromkeys(each["source"] for each in own))
        worst = max(each["relative error"] for each in own)
        rows.append((f"first {len(own)} eigenvalues, {domain}", ends, f"{bar:.0e}", sources, _error(worst)))
    return table(("quantity", "value", "error bar", "reference", "relative error"), rows)


def gradients():
    """Of instances of PDEZoo."""
    found = result("quantities")["gradient"]
    return table(
        ("instances", "points of each", "relative error, median", "largest", "within 1.96 error bars"),
        [
            (
                found["instances"],
                found["points"],
                _error(found["median"]),
                _error(found["worst"]),
                f"{found['within']:.1%}",
            )
        ],
    )


def _error(value):
    """Below rounding there is nothing to tell."""
    return f"{value:.0e}" if value > 5e-16 else "rounding"


BLOCKS = {"quantities": quantities, "gradients": gradients}
