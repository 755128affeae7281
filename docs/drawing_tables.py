"""Tables of what `python -m validation.drawings` found."""

from docs.measured import result
from validation.markdown import table

MOST_LETTERS = 200
"""Of a message."""


def readers():
    """The drawings that ship with the package, and two that programs draw."""
    rows = []
    for own in result("drawings")["readers"]:
        name, difference = own["drawing"], own["relative difference"]
        rows.append(
            (
                f"`{name}`",
                own["rings"],
                ", ".join(own["parts"]),
                f"{own['vertices']:,}",
                f"{own['area']:.10g}",
                f"{difference:.0e}" if difference > 5e-16 else "rounding",
                f"{own['seconds']:.2g}",
            )
        )
    return table(("drawing", "rings", "parts", "vertices", "area", "relative difference", "seconds"), rows)


def broken():
    """What thirty broken drawings get."""
    rows = [(own["drawing"], own["gets"], _cut(own["said"])) for own in result("drawings")["broken"]]
    return table(("drawing", "gets", "what is said"), rows)


def _cut(text):
    shown = text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]} …"
    return f"`{shown.replace('|', '/').replace('`', chr(39))}`" if shown else "nothing: it is as good as another"


BLOCKS = {"drawings": readers, "broken drawings": broken}
