"""The machine that runs a `Program`: one compiled interpreter for every function.

`run_lanes` works on blocks of points, one instruction at a time over all lanes, so that interpreting costs next to
nothing and every loop vectorises. `run_point` does the same for one point, for threads on a GPU. An instruction is a
row (operation, out, a, b, c); `out` is never one of the registers it reads.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from mc2.compute import elementary as el
from mc2.compute.compile import LANES, inlined, kernel, scalar, switch
from mc2.functions import operation_kernels as op
from mc2.functions import term_kernels as terms

# --- the instruction set ----------------------------------------------------------------------------------------

UNARY = {
    "copy": op.copy, "negative": op.negative, "absolute": op.absolute, "sign": op.sign, "sqrt": op.sqrt, "exp": el.exp,
    "log": el.log, "sin": el.sin, "cos": el.cos, "tan": op.tan, "arcsin": op.arcsin, "arccos": op.arccos,
    "arctan": op.arctan, "sinh": op.sinh, "cosh": op.cosh, "tanh": el.tanh, "erf": el.erf, "log_cosh": el.log_cosh,
}  # fmt: skip
BINARY = {
    "add": op.add, "subtract": op.subtract, "multiply": op.multiply, "divide": op.divide, "power": op.power,
    "arctan2": op.arctan2, "minimum": op.minimum, "maximum": op.maximum, "less": op.less, "less_equal": op.less_equal,
}  # fmt: skip
TERMS = {
    "polynomial": terms.polynomial, "gaussian": terms.gaussian, "rational": terms.rational, "bessel": terms.bessel,
    "complex_power": terms.complex_power, "log_distance": terms.log_distance, "angle": terms.angle,
}  # fmt: skip
PROFILES = {
    "one": terms.one_profile, "sin": terms.sin_profile, "cos": terms.cos_profile, "exp": terms.exp_profile,
    "sinh": terms.sinh_profile, "cosh": terms.cosh_profile, "tanh": terms.tanh_profile,
    "sech_squared": terms.sech_squared_profile, "log_cosh": terms.log_cosh_profile, "log": terms.log_profile,
    "root": terms.root_profile, "erf": terms.erf_profile,
}  # fmt: skip

FIRST_BINARY = len(UNARY)
FIRST_TERM = FIRST_BINARY + len(BINARY)
CONSTANT, CALL, INTEGER_POWER, CLIFFORD, WHERE, SEPARABLE = range(FIRST_TERM + len(TERMS), FIRST_TERM + len(TERMS) + 6)
OPCODE = {name: code for code, name in enumerate([*UNARY, *BINARY, *TERMS])} | {
    "constant": CONSTANT, "call": CALL, "integer_power": INTEGER_POWER, "clifford": CLIFFORD, "where": WHERE,
    "separable": SEPARABLE,
}  # fmt: skip
PROFILE = {name: code for code, name in enumerate(PROFILES)}

SCRATCH = 8
"""Rows of lanes that `run_lanes` needs behind the program's own registers."""


@intrinsic
def _call_address(typing: Any, address: Any, x: Any, y: Any) -> Any:
    """Call the C function ``double f(double, double)`` at an address: a Python function compiled elsewhere."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        double = ir.DoubleType()
        pointer = ir.FunctionType(double, [double, double]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], pointer), arguments[1:])

    return types.float64(types.int64, types.float64, types.float64), generate


@scalar
def _address(low: Any, high: Any) -> Any:
    """A pointer from the two halves that an instruction carries."""
    return (np.int64(high) << np.int64(32)) | (np.int64(low) & np.int64(0xFFFFFFFF))


@scalar
def _term_data(constants: Any, offset: Any) -> Any:
    """The coefficients of u, Δu, Δ²u and the parameters of a term, as numbers that stay put during a loop."""
    c, o = constants, np.uint32(offset)  # unsigned, or every access would first ask whether its index is negative
    parameters = (
        c[o + 3], c[o + 4], c[o + 5], c[o + 6], c[o + 7], c[o + 8], c[o + 9], c[o + 10], c[o + 11], c[o + 12],
    )  # fmt: skip
    return (c[o], c[o + 1], c[o + 2]), parameters


# --- one point --------------------------------------------------------------------------------------------------


def _at_point(term: Any) -> Any:
    """A term that fetches its own parameters, so that it reads no more than it needs."""

    @scalar
    def point(constants: Any, offset: Any, x: Any, y: Any) -> Any:
        return term(x, y, _term_data(constants, offset)[1])

    return point


_unary, _binary, _profile = (switch(list(group.values())) for group in (UNARY, BINARY, PROFILES))
_term = switch([_at_point(term) for term in TERMS.values()])


@scalar
def term_point(operation: Any, constants: Any, offset: Any, kinds: Any, x: Any, y: Any) -> Any:
    """(u, Δu, Δ²u) of a term at a point."""
    if operation == SEPARABLE:
        a, sx, sy, s1, tx, ty, t1, _, _, _ = _term_data(constants, offset)[1]
        f, f2, f4 = _profile(kinds >> 4, sx * x + sy * y + s1)
        g, g2, g4 = _profile(kinds & 15, tx * x + ty * y + t1)
        return terms.separable(a, sx * sx + sy * sy, tx * tx + ty * ty, f, f2, f4, g, g2, g4)
    return _term(operation - FIRST_TERM, constants, offset, x, y)


@scalar
def run_point(code: Any, constants: Any, registers: Any) -> Any:
    """Run a program at one point: registers[0], registers[1] hold x, y. Compiled Python functions cannot run here."""
    for row in range(code.shape[0]):
        operation, b = code[row, 0], code[row, 3]
        out, a, second, third = np.uint32(code[row, 1]), np.uint32(code[row, 2]), np.uint32(b), np.uint32(code[row, 4])
        if operation < FIRST_BINARY:
            registers[out] = _unary(operation, registers[a])
        elif operation < FIRST_TERM:
            registers[out] = _binary(operation - FIRST_BINARY, registers[a], registers[second])
        elif operation < CONSTANT or operation == SEPARABLE:
            u, laplacian, bilaplacian = term_point(operation, constants, a, b, registers[0], registers[1])
            registers[out] = constants[a] * u + constants[a + 1] * laplacian + constants[a + 2] * bilaplacian
        elif operation == CONSTANT:
            registers[out] = constants[a]
        elif operation == INTEGER_POWER:
            registers[out] = el.integer_power(registers[a], b)
        elif operation == CLIFFORD:
            registers[out] = el.clifford(b, registers[a])
        else:
            registers[out] = registers[second] if registers[a] != 0 else registers[third]
    return registers[2]


# --- a block of lanes -------------------------------------------------------------------------------------------


def _over_unary(function: Any) -> Any:
    @inlined
    def loop(registers: Any, out: Any, a: Any) -> None:
        for i in range(LANES):
            registers[out, i] = function(registers[a, i])

    return loop


def _over_binary(function: Any) -> Any:
    @inlined
    def loop(registers: Any, out: Any, a: Any, b: Any) -> None:
        for i in range(LANES):
            registers[out, i] = function(registers[a, i], registers[b, i])

    return loop


def _over_term(term: Any) -> Any:
    @inlined
    def loop(constants: Any, offset: Any, registers: Any, out: Any) -> None:
        (c0, c1, c2), p = _term_data(constants, offset)
        for i in range(LANES):
            u, laplacian, bilaplacian = term(registers[0, i], registers[1, i], p)
            registers[out, i] = c0 * u + c1 * laplacian + c2 * bilaplacian

    return loop


def _over_profile(profile: Any) -> Any:
    @inlined
    def loop(registers: Any, s: Any, f: Any) -> None:
        for i in range(LANES):
            registers[f, i], registers[f + 1, i], registers[f + 2, i] = profile(registers[s, i])

    return loop


_unary_lanes = switch([_over_unary(function) for function in UNARY.values()])
_binary_lanes = switch([_over_binary(function) for function in BINARY.values()])
_term_lanes = switch([_over_term(term) for term in TERMS.values()])
_profile_lanes = switch([_over_profile(profile) for profile in PROFILES.values()])


@inlined
def _separable_lanes(constants: Any, offset: Any, kinds: Any, registers: Any, out: Any) -> None:
    """a·F(s)·G(t): parameters a, then s = (p, q, r)·(x, y, 1), then t likewise; kinds = 16·F + G."""
    (c0, c1, c2), (a, sx, sy, s1, tx, ty, t1, _, _, _) = _term_data(constants, offset)
    s = registers.shape[0] - SCRATCH
    t, f, g = s + 1, s + 2, s + 5
    for i in range(LANES):
        registers[s, i] = sx * registers[0, i] + sy * registers[1, i] + s1
        registers[t, i] = tx * registers[0, i] + ty * registers[1, i] + t1
    _profile_lanes(kinds >> 4, registers, s, f)
    _profile_lanes(kinds & 15, registers, t, g)
    ss, tt = sx * sx + sy * sy, tx * tx + ty * ty
    for i in range(LANES):
        u, laplacian, bilaplacian = terms.separable(
            a, ss, tt,
            registers[f, i], registers[f + 1, i], registers[f + 2, i],
            registers[g, i], registers[g + 1, i], registers[g + 2, i],
        )  # fmt: skip
        registers[out, i] = c0 * u + c1 * laplacian + c2 * bilaplacian


@inlined
def _special_lanes(code: Any, constants: Any, row: Any, registers: Any) -> None:
    """The instructions that are not plain functions of one or two registers."""
    operation, out, a, b, c = code[row, 0], code[row, 1], code[row, 2], code[row, 3], code[row, 4]
    if operation == CONSTANT:
        value = constants[a]
        for i in range(LANES):
            registers[out, i] = value
    elif operation == INTEGER_POWER:
        for i in range(LANES):
            registers[out, i] = el.integer_power(registers[a, i], b)
    elif operation == CLIFFORD:
        for i in range(LANES):
            registers[out, i] = el.clifford(b, registers[a, i])
    elif operation == WHERE:
        for i in range(LANES):
            registers[out, i] = registers[b, i] if registers[a, i] != 0 else registers[c, i]
    else:
        address = _address(a, b)
        for i in range(LANES):
            registers[out, i] = _call_address(address, registers[0, i], registers[1, i])


@scalar
def run_lanes(code: Any, constants: Any, registers: Any) -> None:
    """Run a program on a block: rows 0 and 1 of registers hold x and y, row 2 receives the result.

    The last `SCRATCH` rows of registers are working space.
    """
    for row in range(code.shape[0]):
        operation, out, a, b = code[row, 0], code[row, 1], code[row, 2], code[row, 3]
        if operation < FIRST_BINARY:
            _unary_lanes(operation, registers, out, a)
        elif operation < FIRST_TERM:
            _binary_lanes(operation - FIRST_BINARY, registers, out, a, b)
        elif operation < CONSTANT:
            _term_lanes(operation - FIRST_TERM, constants, a, registers, out)
        elif operation == SEPARABLE:
            _separable_lanes(constants, a, b, registers, out)
        else:
            _special_lanes(code, constants, row, registers)


@kernel
def evaluate(code: Any, constants: Any, registers: Any, x: Any, y: Any, out: Any) -> None:
    """Run a program on flat arrays of any length, block by block. Constants, registers and arrays share one type."""
    for start in range(0, x.size, LANES):
        count = min(LANES, x.size - start)
        registers[0, :count] = x[start : start + count]
        registers[1, :count] = y[start : start + count]
        registers[0, count:] = x[start]
        registers[1, count:] = y[start]
        run_lanes(code, constants, registers)
        out[start : start + count] = registers[2, :count]
