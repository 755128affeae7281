"""How deep a text nests, found in one pass before anything is made of it."""

import re

from mc2.errors import InputError

MAX_NESTING = 64
"""Brackets within brackets in a TOML or JSON file. The deepest domain needs 37."""
MAX_PARTS = 8
"""Names in a dotted key of TOML, such as the two of `network.widths`: TOML's reader takes their square in memory."""

# every string matches, also one that does not end: else the search would begin again at each of its quotes
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NO_BRACKET = re.compile(r"[^\[\]{}]++")
_TOML = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"{0,5}|'
    r"'''(?:[^']++|'(?!''))*+'{0,5}|"
    r'"(?:[^"\\\n]++|\\.)*+"?|'
    r"'[^'\n]*+'?|#[^\n]*+|[\[{]|[\]}]|[.\n,=]",
    re.DOTALL,
)
_ENDS = frozenset("\n,=[]{}")
"""What ends a key."""


def check_json(text: str) -> None:
    """Refuse JSON that nests deeper than `MAX_NESTING`, or whose brackets are not pairs."""
    left, before = _NO_BRACKET.sub("", _STRING.sub("", text)), -1
    for _ in range(MAX_NESTING):
        if len(left) in (0, before):
            break
        before, left = len(left), left.replace("[]", "").replace("{}", "")
    if left:
        raise InputError(f"is not JSON: it nests brackets more than {MAX_NESTING} deep, or does not close them")


def check_toml(text: str) -> None:
    """Refuse TOML that nests deeper than `MAX_NESTING`, or has keys of more than `MAX_PARTS` names."""
    depth = dots = 0
    for match in _TOML.finditer(text):
        token = match[0]
        if token == ".":
            dots += 1
            if dots >= MAX_PARTS:
                raise InputError(f"has a key of more than {MAX_PARTS} names with dots between them")
        elif token in _ENDS:
            dots = 0
        depth = _deeper(depth, token)


def _deeper(depth: int, token: str) -> int:
    """The depth after a bracket."""
    if token in ("[", "{"):
        if depth == MAX_NESTING:
            raise InputError(f"nests brackets more than {MAX_NESTING} deep")
        return depth + 1
    return max(depth - 1, 0) if token in ("]", "}") else depth
