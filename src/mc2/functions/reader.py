"""A safe reader of expressions: text in, `Expression` out, and no way to run anything.

    sum      = product (("+" | "-") product)*            comparison = sum (compare sum)?
    product  = sign (("*" | "/") sign)*                   sign       = ("+" | "-") sign | power
    power    = operand ("**" sign)?                       operand    = number | name | call | "(" comparison ")"
                                                          compare    = "<" | "<=" | ">" | ">=" | "==" | "!="

Names are x, y, the constants and the functions of `vocabulary`, with or without a `torch.`, `np.` or `math.` before
them. Length and depth are bounded.
"""

import re
from typing import NoReturn

from mc2.errors import InputError, unknown
from mc2.functions.expression import Expression, X, Y, apply, constant
from mc2.functions.vocabulary import ARITY, CONSTANTS, FUNCTIONS, PREFIXES

MAX_LENGTH = 10_000
MAX_DEPTH = 60

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_.]*)|(?P<sign>\*\*|<=|>=|==|!=|[-+*/(),<>]))",
    re.ASCII,
)
_COMPARISONS = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
_COMPARISONS |= {"==": "equal", "!=": "not_equal"}


def read_expression(text: str) -> Expression:
    """The expression a text stands for, or an InputError that says where it goes wrong."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise InputError(f"expression of {len(text):,} characters is too long: at most {MAX_LENGTH:,}")
        self.text = text
        self.tokens = self._split(text)
        self.position = 0
        self.depth = 0

    def _split(self, text: str) -> list[tuple[str, str, int]]:
        """(kind, token, column) for every token, and an end mark."""
        tokens, start, end = [], 0, len(text.rstrip())
        while start < end:
            match = _TOKEN.match(text, start)
            if match is None:
                start += len(text[start:]) - len(text[start:].lstrip())
                hint = ": powers are written **" if text[start] == "^" else ""
                self._fail(f"unexpected character {text[start]!r}{hint}", start)
            tokens.append((str(match.lastgroup), match[match.lastgroup or 0], match.start(match.lastgroup or 0)))
            start = match.end()
        return [*tokens, ("end", "", end)]

    def _fail(self, message: str, column: int | None = None) -> NoReturn:
        column = self.tokens[self.position][2] if column is None else column
        shown = self.text if len(self.text) <= 60 else self.text[max(0, column - 25) : column + 25]
        raise InputError(f"expression {shown!r}: {message} (character {column + 1})")

    def _take(self, *signs: str) -> str | None:
        """The next token, if it is one of these signs."""
        kind, token, _ = self.tokens[self.position]
        if kind != "sign" or token not in signs:
            return None
        self.position += 1
        return token

    def _expect(self, sign: str) -> None:
        if self._take(sign) is None:
            self._fail(f"expected {sign!r}, found {self._next()}")

    def _next(self) -> str:
        kind, token, _ = self.tokens[self.position]
        return "the end" if kind == "end" else repr(token[:30])

    def read(self) -> Expression:
        result = self._comparison()
        if self.tokens[self.position][0] != "end":
            self._fail(f"expected an operator, found {self._next()}")
        return result

    def _comparison(self) -> Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self._fail(f"nested too deep: at most {MAX_DEPTH} levels")
        left = self._sum()
        sign = self._take(*_COMPARISONS)
        result = FUNCTIONS[_COMPARISONS[sign]](left, self._sum()) if sign else left
        self.depth -= 1
        return result

    def _sum(self) -> Expression:
        result = self._product()
        while sign := self._take("+", "-"):
            right = self._product()
            result = result + right if sign == "+" else result - right
        return result

    def _product(self) -> Expression:
        result = self._sign()
        while sign := self._take("*", "/"):
            right = self._sign()
            result = result * right if sign == "*" else result / right
        return result

    def _sign(self) -> Expression:
        negative = False
        while sign := self._take("+", "-"):
            negative ^= sign == "-"
        result = self._power()
        return apply("negative", result) if negative else result

    def _power(self) -> Expression:
        base = self._operand()
        if self._take("**"):
            self.depth += 1
            if self.depth > MAX_DEPTH:
                self._fail(f"nested too deep: at most {MAX_DEPTH} levels")
            base = base ** self._sign()
            self.depth -= 1
        return base

    def _operand(self) -> Expression:
        kind, token, _ = self.tokens[self.position]
        if kind == "number":
            self.position += 1
            return constant(float(token))
        if kind == "name":
            return self._name(token)
        if self._take("("):
            result = self._comparison()
            self._expect(")")
            return result
        self._fail(f"expected a number, x, y, a function or '(', found {self._next()}")

    def _name(self, token: str) -> Expression:
        name = next((token.removeprefix(prefix) for prefix in PREFIXES if token.startswith(prefix)), token)
        is_call = self.tokens[self.position + 1][1] == "("
        if is_call and name in FUNCTIONS:
            return self._call(name)
        if not is_call and name in CONSTANTS:
            self.position += 1
            return constant(CONSTANTS[name])
        if not is_call and token in ("x", "y"):
            self.position += 1
            return X if token == "x" else Y
        known = FUNCTIONS if is_call else [*CONSTANTS, "x", "y"]
        self._fail(str(unknown("function" if is_call else "name", token[:40], known)))

    def _call(self, name: str) -> Expression:
        start = self.position
        self.position += 2
        arguments = [self._comparison()]
        while self._take(","):
            arguments.append(self._comparison())
        self._expect(")")
        if len(arguments) != ARITY[name]:
            column = self.tokens[start][2]
            self._fail(f"{name} takes {ARITY[name]} argument(s), got {len(arguments)}", column)
        return FUNCTIONS[name](*arguments)
