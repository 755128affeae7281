"""Text from strangers: the right value, or one line; never code, a hang or a crash."""

import ast
import time

import numpy as np
import pytest

from mc2.errors import InputError
from mc2.functions.reader import MAX_LENGTH, read_expression
from mc2.functions.vocabulary import PREFIXES
from tests.functions.samples import BINARY, UNARY, assert_same, random_expression

HOSTILE = [
    "__import__('os').system('true')", "().__class__.__bases__", "x.__class__", "eval('1')", "exec('1')", "open('f')",
    "lambda: 0", "[x for x in y]", "x if y else 1", "np.load('f')", "torch.load('f')", "f'{x}'", "x;y", "import os",
    "9**9**9**9", "1e999", "10**400", "x" * 20_000, "(" * 5000, "((" * 40 + "x", "sin(" * 200 + "x", "-" * 9000 + "x",
    "x**" * 3000 + "x", "x" + "+x" * 4900, "\x00", "x\ny", "２*x", "x²", "π", "x=1", "x:=1", "x@y", "x//y", "x%y",
    "x&y", "~x", "not x", "x and y", "None", "True", "'x'", '"x"', "x,", "(x, y)", "sin", "sin()", "sin(x y)", "sin(x",
    "x)", "", "   ", "*x", "x*", "x**", "1.2.3", "1..2", ".", "..", "1e", "1e+", "np.", "np..sin(x)", "np.np.sin(x)",
    "os.sin(x)", "sin.x", "x.y", "pi(x)", "x(y)", "2x", "2(x)", "x y", "where(x)", "atan2(x)", "x<y<1", "1/0",
    "log(-1)", "0**-1", "sqrt(-1)", "i0(1e9)", "math.inf", "nan", "inf", "1_000*x", "0x10", "1j*x", "\ud800", "x\u202e",
    "#x",
]  # fmt: skip

X, Y = np.random.default_rng(0).uniform(-1, 1, (2, 20))

OPERATORS = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.float_power,
    ast.Lt: np.less, ast.LtE: np.less_equal, ast.Gt: np.greater, ast.GtE: np.greater_equal,
}  # fmt: skip
NAMES = {"x": X, "y": Y, "pi": np.pi, "e": np.e}


def reference(node: ast.AST) -> np.ndarray:
    """What Python's own grammar makes of a text, computed by NumPy."""
    if isinstance(node, ast.Expression):
        return reference(node.body)
    if isinstance(node, ast.Constant):
        return np.float64(node.value)
    if isinstance(node, ast.UnaryOp):
        value = reference(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](reference(node.left), reference(node.right))
    if isinstance(node, ast.Compare):
        assert len(node.ops) == 1
        return OPERATORS[type(node.ops[0])](reference(node.left), reference(node.comparators[0])).astype(float)
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).split(".")[-1]
        return {**UNARY, **BINARY, "where": np.where}[name](*map(reference, node.args))
    return NAMES[ast.unparse(node).split(".")[-1]]


def accept_or_refuse(text: str) -> bool:
    """Whether the text was accepted, with the value that Python's grammar gives it; if refused, in one line."""
    try:
        expression = read_expression(text)
    except InputError as error:
        assert "\n" not in str(error)
        assert 0 < len(str(error)) < 700
        return False
    got = expression(X, Y)
    assert got.shape == X.shape
    with np.errstate(all="ignore"):
        expected = np.broadcast_to(reference(ast.parse(f"({text})", mode="eval")), X.shape)
    assert_same(got, expected, expression(X * (1 + 1e-12), Y * (1 - 1e-12)), text)
    return True


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile(text):
    start = time.perf_counter()
    if text in ("-" * 9000 + "x", "x" + "+x" * 4900):
        read_expression(text)  # long, but harmless
    else:
        with pytest.raises(InputError) as refused:
            read_expression(text)
        assert "\n" not in str(refused.value)
    assert time.perf_counter() - start < 2


@pytest.mark.slow
def test_ten_thousand_generated_texts():
    rng = np.random.default_rng(42)
    alphabet = [*"xy0123456789.+-*/()<>,= _'\"[]{}\\^%&|~!@#$\x00é²\n\t", "sin(", "np.", "__", "**", "1e9"]
    accepted = 0
    with np.errstate(all="ignore"):
        for _ in range(10_000):
            text, _ = random_expression(rng, X, Y, depth=3)
            for _ in range(rng.integers(0, 4)):
                place = int(rng.integers(0, len(text) + 1))
                cut = int(rng.integers(0, 4))
                insert = "".join(rng.choice(alphabet, rng.integers(0, 3)))
                text = text[:place] + insert + text[place + cut :]
            if not has_leading_zero(text):
                accepted += accept_or_refuse(text)
    assert 2000 < accepted < 8000  # the mixture tests both sides


def has_leading_zero(text: str) -> bool:
    """Python refuses 01 but reads 01. and 01e5; we read them all as 1."""
    try:
        ast.parse(f"({text})", mode="eval")
    except (SyntaxError, ValueError) as error:
        return "leading zeros" in str(error)
    return False


def test_prefixes_mean_nothing():
    for prefix in PREFIXES:
        assert read_expression(f"{prefix}sin(x) + {prefix}pi") is read_expression("sin(x) + pi")


def test_precedence():
    for text in ["-x**2", "2**-x", "2**3**x", "x - y - 1", "x/y/2", "-x*-y", "+x--y", "x < y + 1", "1 - x >= y*2"]:
        assert accept_or_refuse(text)


def test_messages_say_where_and_what():
    for text, message in {
        "x +": "found the end (character 4)",
        "sinn(x)": "did you mean 'sin'?",
        "x^2": "powers are written **",
        "sin(x, y)": "sin takes 1 argument(s), got 2",
        "x" * (MAX_LENGTH + 1): "too long",
    }.items():
        with pytest.raises(InputError) as refused:
            read_expression(text)
        assert message in str(refused.value)
