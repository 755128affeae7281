"""An independent account of the same geometry: plain formulas for boundary points and for what is inside.

A tree is ``(shape, parameters, center, angle)``, ``("polygon", rings)`` or ``(operation, left, right)``. A boundary is
points [n, 2] with the length that each stands for [n].
"""

import numpy as np

from mc2.geometry import SHAPES, Domain, Polygon

OPERATIONS = ("union", "intersection", "difference")

PRIMITIVES = [
    ("disk", (0.8,)),
    ("square", (0.9,)),
    ("rectangle", (1.1, 0.6)),
    ("ellipse", (1.2, 0.6)),
    ("annulus", (0.3, 1.1)),
    ("triangle", (0.9,)),
    ("hexagon", (0.7,)),
    ("stadium", (0.5, 0.3)),
]
RINGS = (
    ((-1.0, -0.8), (0.2, -1.1), (1.0, -0.4), (0.3, 0.1), (0.9, 0.9), (-0.2, 0.7), (-0.9, 1.0)),
    ((-0.5, -0.4), (0.1, -0.5), (-0.2, 0.2)),
)
LEAVES = [(*shape, center, angle) for shape in PRIMITIVES for center, angle in (((0.0, 0.0), 0.0), ((0.3, -0.2), 0.7))]
LEAVES.append(("polygon", RINGS))
COMPOSED = [
    ("difference", ("disk", (1.0,), (0.0, 0.0), 0.0), ("disk", (0.4,), (0.2, 0.1), 0.0)),
    ("union", ("rectangle", (0.9, 0.5), (0.2, 0.1), 0.4), ("ellipse", (0.7, 1.0), (-0.3, 0.1), 1.0)),
    ("intersection", ("square", (0.8,), (0.0, 0.1), 0.2), ("triangle", (1.0,), (0.2, 0.0), 0.0)),
]


def name_of(tree: tuple) -> str:
    """A short name for test reports."""
    if tree[0] in OPERATIONS:
        return f"{tree[0]}-{name_of(tree[1])}-{name_of(tree[2])}"
    return tree[0] + ("-placed" if len(tree) > 2 and tree[3] else "")


def build(tree: tuple) -> Domain:
    """The same as a domain of the package."""
    kind = tree[0]
    if kind == "polygon":
        return Polygon(tree[1][0], holes=tree[1][1:])
    if kind not in OPERATIONS:
        return SHAPES[kind](*tree[1], center=tree[2], angle=tree[3])
    left, right = build(tree[1]), build(tree[2])
    return {"union": left | right, "intersection": left & right, "difference": left - right}[kind]


def random_tree(random: np.random.Generator, leaves: int) -> tuple:
    """A random composition of primitives."""
    if leaves > 1:
        left = int(random.integers(1, leaves))
        return (str(random.choice(OPERATIONS)), random_tree(random, left), random_tree(random, leaves - left))
    shape, parameters = PRIMITIVES[random.integers(len(PRIMITIVES))]
    scaled = tuple(float(value) for value in np.array(parameters) * random.uniform(0.7, 1.2))
    x, y, angle = random.uniform((-0.5, -0.5, 0), (0.5, 0.5, 6))
    return (shape, scaled, (float(x), float(y)), float(angle))


def inside(tree: tuple, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether points lie inside, by inequalities."""
    if tree[0] in OPERATIONS:
        a, b = inside(tree[1], x, y), inside(tree[2], x, y)
        return {"union": a | b, "intersection": a & b, "difference": a & ~b}[tree[0]]
    if tree[0] == "polygon":
        return np.sum([_in_ring(np.array(ring), x, y) for ring in tree[1]], axis=0) % 2 == 1
    kind, parameters, center, angle = tree
    z = ((x - center[0]) + 1j * (y - center[1])) * np.exp(-1j * angle)
    return _inside_shape(kind, z.real, z.imag, *parameters)


def _inside_shape(kind: str, x: np.ndarray, y: np.ndarray, a: float, b: float = 0.0) -> np.ndarray:
    if kind == "stadium":
        return ((np.abs(x) < a) & (np.abs(y) < b)) | (np.hypot(np.abs(x) - a, y) < b)
    if kind in ("triangle", "hexagon"):
        return _in_ring(_corners(kind, a), x, y)
    return {
        "disk": np.hypot(x, y) < a,
        "square": np.maximum(np.abs(x), np.abs(y)) < a,
        "rectangle": (np.abs(x) < a) & (np.abs(y) < b),
        "ellipse": (x / a) ** 2 + (y / (b or 1)) ** 2 < 1,
        "annulus": (np.hypot(x, y) > a) & (np.hypot(x, y) < b),
    }[kind]


def _in_ring(ring: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """By winding number: the angle that the ring sweeps around the point."""
    corners = ring[:, 0] + 1j * ring[:, 1]
    z = np.asarray(x) + 1j * np.asarray(y)
    swept = sum(np.angle((q - z) / (p - z)) for p, q in zip(corners, np.roll(corners, -1), strict=True))
    return np.abs(swept) > np.pi


def boundary(tree: tuple, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of the boundary, about `count` for every leaf, and the length that each stands for."""
    if tree[0] in OPERATIONS:
        (p, p_length), (q, q_length) = boundary(tree[1], count), boundary(tree[2], count)
        p_in, q_in = inside(tree[2], *p.T), inside(tree[1], *q.T)
        keep_p = p_in if tree[0] == "intersection" else ~p_in
        keep_q = ~q_in if tree[0] == "union" else q_in
        return np.concatenate([p[keep_p], q[keep_q]]), np.concatenate([p_length[keep_p], q_length[keep_q]])
    if tree[0] == "polygon":
        return _joined([_edges(np.array(ring), count // len(tree[1])) for ring in tree[1]])
    kind, parameters, center, angle = tree
    points, length = _shape_boundary(kind, count, *parameters)
    z = (points[:, 0] + 1j * points[:, 1]) * np.exp(1j * angle)
    return np.stack([z.real + center[0], z.imag + center[1]], axis=1), length


def _shape_boundary(kind: str, count: int, a: float, b: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    if kind == "disk":
        return _arc(a, a, 0, 2 * np.pi, count)
    if kind == "ellipse":
        return _arc(a, b, 0, 2 * np.pi, count)
    if kind == "annulus":
        return _joined([_arc(r, r, 0, 2 * np.pi, count // 2) for r in (a, b)])
    if kind == "stadium":
        right, right_length = _arc(b, b, -np.pi / 2, np.pi / 2, count // 4)
        x = -a + 2 * a * (np.arange(count // 4) + 0.5) / (count // 4)
        sides = [(np.stack([x, np.full_like(x, y)], axis=1), np.full_like(x, 2 * a / x.size)) for y in (-b, b)]
        right[:, 0] += a
        return _joined([(right, right_length), (right * (-1, 1), right_length), *sides])
    return _edges(_corners(kind, a, b), count)


def _corners(kind: str, a: float, b: float = 0.0) -> np.ndarray:
    if kind == "triangle":
        return a * np.array([(0, 1), (-np.sqrt(3) / 2, -0.5), (np.sqrt(3) / 2, -0.5)])
    if kind == "hexagon":
        return a * np.array([(np.cos(k * np.pi / 3), np.sin(k * np.pi / 3)) for k in range(6)])
    return np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * (a, b or a)


def _arc(rx: float, ry: float, start: float, end: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    step = (end - start) / count
    angle = start + step * (np.arange(count) + 0.5)
    points = np.stack([rx * np.cos(angle), ry * np.sin(angle)], axis=1)
    return points, step * np.hypot(rx * np.sin(angle), ry * np.cos(angle))


def _edges(ring: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    each = count // len(ring)
    t = ((np.arange(each) + 0.5) / each)[:, None]
    pairs = list(zip(ring, np.roll(ring, -1, axis=0), strict=True))
    return _joined([(p + t * (q - p), np.full(each, np.hypot(*(q - p)) / each)) for p, q in pairs])


def _joined(pieces: list) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([piece[0] for piece in pieces]), np.concatenate([piece[1] for piece in pieces])
