"""The machine against NumPy: two implementations of every operation."""

import numpy as np
import pytest

from mc2.compute.compile import kernel
from mc2.errors import InputError
from mc2.functions.function import Program
from mc2.functions.kernels import BINARY, OPCODE, UNARY, run_point
from mc2.functions.machine import run
from mc2.functions.reader import read_expression
from tests.functions.samples import assert_same, random_expression

RNG = np.random.default_rng(11)
POINTS = RNG.uniform(-0.95, 0.95, (2, 300))

TEXTS = [
    "x", "3", "-x", "x + y*2 - x/(y + 3)", "(x + 2)**y", "x**5 + (y + 2)**-3", "sqrt(x + 1)", "exp(x)", "log(x + 2)",
    "sin(9*x)", "cos(9*y)", "tan(x)", "asin(x)", "acos(y)", "atan(3*x)", "atan2(y, x)", "sinh(x)", "cosh(y)",
    "tanh(4*x)", "abs(x)", "sign(y)", "min(x, y)", "max(x, y)", "where(x < y, x, 2)", "where(x <= y, 1, y)", "erf(x)",
    "logaddexp(2*x, 3*y)", "i0(3*x)", "i1(x)*y",
]  # fmt: skip


@kernel
def at_points(code, constants, x, y, registers, out):
    for i in range(x.size):
        registers[0], registers[1] = x[i], y[i]
        out[i] = run_point(code, constants, registers)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.slow
def test_every_operation(text):
    expression = read_expression(text)
    expected = expression(*POINTS)
    scale = 1 + np.abs(expected).max()
    np.testing.assert_allclose(run(expression.program, *POINTS), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(run(expression.program, *POINTS, np.float32), expected, rtol=0, atol=2e-6 * scale)
    out = np.empty(POINTS.shape[1])
    program = expression.program
    at_points(program.code, program.constants, *POINTS, np.zeros(program.registers), out)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-14)


def test_the_list_of_texts_covers_the_instruction_set():
    used = {int(row[0]) for text in TEXTS for row in read_expression(text).program.code}
    missing = {name for name in [*UNARY, *BINARY, "constant", "where"] if OPCODE[name] not in used}
    assert missing == set()


def test_random_programs():
    x, y = RNG.uniform(-1, 1, (2, 40))
    with np.errstate(all="ignore"):
        for _ in range(400):
            text, expected = random_expression(RNG, x, y)
            try:
                expression = read_expression(text)
            except InputError:
                continue  # a constant part overflowed
            nearby = expression(x * (1 + 1e-12), y * (1 - 1e-12))
            assert_same(run(expression.program, x, y), expected, nearby, text)


@pytest.mark.parametrize("count", [0, 1, 127, 128, 129, 1000])
def test_any_number_of_points(count):
    x, y = RNG.uniform(-1, 1, (2, count))
    np.testing.assert_allclose(run(read_expression("x*y + 1").program, x, y), x * y + 1)


def test_no_instruction_writes_what_it_reads():
    """The loops over lanes rely on it."""
    for text in TEXTS:
        program: Program = read_expression(text).program
        for operation, out, a, b, _ in program.code:
            if operation < len(UNARY) + len(BINARY):
                assert out != a
                assert operation < len(UNARY) or out != b
