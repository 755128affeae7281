"""Changes of bytes, texts and plain data, by a random number generator. All inputs follow from its seed."""

NUMBERS = (
    0, -0.0, 1, -1, 2, 7, 255, 256, 65535, 1 << 31, -(1 << 31), (1 << 63) - 1, 1 << 63, 1 << 64, 10**25, 10**400,
    0.5, -5.0, 1e-9, 1e-30, 1e-320, 1e30, 1e155, -1e155, 1e308, float("inf"), float("nan"),
)  # fmt: skip
TEXTS = (
    "",
    " ",
    "x",
    "nan",
    "<b>",
    "\x00",
    "\n",
    "а",
    "\ud800",
    "../../etc/passwd",
    "𝕩",
    "a" * 5000,
    "%s",
    "{0}",
    "$x^$",
)
TOKENS = (
    b"[", b"]", b"{", b"}", b'"', b"'", b"=", b"\n", b",", b".", b"#", b"-", b"9", b"e9", b"1e400", b"nan", b"inf",
    b"\xff", b"\x00", b"\\", b"\\u0000", b"x", b"null", b"true", b"[[", b"]]", b'"""', b":", b"0x", b"9" * 5000,
    b"[" * 200, b"a." * 50, b" " * 3000, b"\xe2\x80\xae", b"\xed\xa0\x80", b"**", b"(", b")",
)  # fmt: skip


def damage(rng, content):
    """Bytes with a few changes: flipped bits, other bytes, parts cut out, doubled, moved or swapped, an early end."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        if not data:
            break
        place = rng.randrange(len(data))
        size = min(rng.choice([1, 2, 4, 8, 64, 1024]), len(data) - place)
        kind = rng.randrange(8)
        if kind < 3:
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 3:
            data[place : place + size] = bytes(rng.choice([0, 255, rng.randrange(256)]) for _ in range(size))
        elif kind == 4:
            del data[place : place + size]
        elif kind == 5:
            data[place:place] = data[place : place + size] * rng.choice([1, 1, 3, 50])
        elif kind == 6:
            other = rng.randrange(len(data))
            data[other : other + size] = data[place : place + size]
        else:
            del data[place:]
    return bytes(data)


def flip(rng, content):
    """Bytes with one bit changed: what a disk does."""
    data = bytearray(content)
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def changed(rng, content):
    """Bytes with one bit flipped, or with more damage."""
    return flip(rng, content) if rng.random() < 0.6 else damage(rng, content)


def edit(rng, content):
    """A text, as bytes, with tokens put in, lines moved or doubled, or its bytes damaged."""
    data = content
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        place, cut = rng.randrange(len(data) + 1), rng.choice([0, 0, 1, 3, 30])
        kind = rng.randrange(5)
        if kind < 3:
            data = data[:place] + rng.choice(TOKENS) * rng.choice([1, 1, 1, 2, 40]) + data[place + cut :]
        elif kind == 3:
            lines = data.split(b"\n")
            line = rng.choice(lines)
            lines.insert(rng.randrange(len(lines) + 1), line)
            data = b"\n".join(lines)
        elif data:
            data = damage(rng, data)
    return data


def value(rng, depth=0):
    """Something that JSON or TOML could hold."""
    kind = rng.randrange(6 if depth < 3 else 3)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice(NUMBERS)
    if kind == 2:
        return rng.choice(TEXTS)
    if kind == 3:
        return [value(rng, depth + 1) for _ in range(rng.choice([0, 1, 3, 30]))]
    if kind == 4:
        return {rng.choice(TEXTS): value(rng, depth + 1) for _ in range(rng.choice([0, 1, 3]))}
    return rng.choice([[[]] * 2000, [1] * 100_000, "a" * 200_000, 5e-324, {"shape": "disk"}])


def alter(rng, data):
    """Plain data with one node put in the place of another, left out, doubled, or replaced by anything."""
    if isinstance(data, dict) and data and rng.random() < 0.93:
        key = rng.choice(sorted(data))
        chance = rng.random()
        if chance < 0.85:
            return data | {key: alter(rng, data[key])}
        if chance < 0.93:
            return {name: entry for name, entry in data.items() if name != key}
        return data | {rng.choice(TEXTS) or "new": data[key]}
    if isinstance(data, list) and data and rng.random() < 0.9:
        place = rng.randrange(len(data))
        return [*data[:place], alter(rng, data[place]), *data[place + 1 :]]
    if isinstance(data, int | float) and not isinstance(data, bool) and rng.random() < 0.6:
        return rng.choice([*NUMBERS, -data, data + 1, data * 1_000_000, int(data) if abs(data) < 1e9 else 0])
    return value(rng)
