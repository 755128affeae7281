"""From an expression to a program: every part is computed once, and registers are used again when they are free."""

import numpy as np

from mc2.functions.equality import without_equalities
from mc2.functions.expression import Expression, X, Y
from mc2.functions.function import Program
from mc2.functions.kernels import OPCODE

FIRST_FREE = 3
"""Registers 0 and 1 hold x and y, 2 the result."""


def assemble(expression: Expression) -> Program:
    """The program of an expression."""
    expression = without_equalities(expression)
    order = [node for node in expression.order() if node.operation not in ("x", "y")]
    last_use = {argument: node for node in order for argument in node.arguments}
    place = {X: 0, Y: 1}
    free: list[int] = []
    used = FIRST_FREE
    code: list[tuple[int, ...]] = []
    constants: list[float] = []
    for node in order:
        if free:
            place[node] = free.pop()
        else:
            place[node], used = used, used + 1
        code.append(_instruction(node, place, constants))
        # freed only after the output has its register: no instruction may write what it reads
        for argument in dict.fromkeys(node.arguments):  # in their order, so that a formula has one program
            if last_use[argument] is node and place[argument] >= FIRST_FREE:
                free.append(place[argument])
    code.append((OPCODE["copy"], 2, place[expression], 0, 0))
    return Program(np.array(code, np.int32), np.array(constants or [0.0]), used)


def _instruction(node: Expression, place: dict[Expression, int], constants: list[float]) -> tuple[int, ...]:
    operands = [place[argument] for argument in node.arguments]
    if node.operation == "constant":
        operands = [len(constants)]
        constants.append(node.number)
    elif node.operation in ("integer_power", "clifford"):
        operands.append(int(node.number))
    return (OPCODE[node.operation], place[node], *operands, *(0,) * (3 - len(operands)))
