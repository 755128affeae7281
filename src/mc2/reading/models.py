"""Plain data held against a model, strictly, by pydantic; what is refused is said in one line of ours.

A model is a TypedDict or a dataclass. Its types say what is allowed, and rules in them what a type cannot say:

    rate: Annotated[Number, between(0, 1)]               # refused as "rate = 2 must be a number from 0 to 1"
    loss: Annotated[str, one_of("log", "mse")]           # refused as "unknown loss 'mes': did you mean 'mse'?"
    name: Annotated[str, Rule(is_name, "a short word")]  # refused as "name = '/' must be a short word"

Whoever reads a file calls `read_as`. A dataclass under `strict` is checked whenever one is made, from a file or not.
"""

import functools
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypeVar, Union, get_args, get_origin, get_type_hints

from annotated_types import Predicate
from typing_extensions import TypedDict, is_typeddict

from mc2.errors import InputError, short, unknown

if TYPE_CHECKING:
    from pydantic import ConfigDict, TypeAdapter, ValidationError

T = TypeVar("T")
Number = int | float
"""A number that keeps its type, so that 1 is written as 1 again."""
STRICT: "ConfigDict" = {"extra": "forbid", "strict": True, "allow_inf_nan": False}
"""Unknown keys, numbers in quotes, truth values as numbers, and numbers that are not finite are refused."""
_KINDS = {
    int: "an integer", float: "a finite number", bool: "true or false", str: "a text", type(None): "null",
    list: "a list", tuple: "a list",
}  # fmt: skip
_UNIONS = (Union, types.UnionType)
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument", "unexpected_positional_argument", "invalid_key")


@dataclass(frozen=True)
class Rule(Predicate):
    """A condition on a value of the right type.

    words: what it must be, in which {} stands for the type.
    known: all that it can be, if these are names.
    """

    words: str = ""
    known: tuple[str, ...] = ()


def one_of(*known: str) -> Rule:
    """One of these names."""
    return Rule(known.__contains__, " or ".join(known), known)


def between(low: float, high: float) -> Rule:
    """A number from `low` to `high`."""
    ends = (f"{end:,}" if isinstance(end, int) else f"{end:g}" for end in (low, high))
    return Rule(lambda value: low <= value <= high, f"{{}} from {' to '.join(ends)}")


def at_least(low: float) -> Rule:
    """A number from `low` on."""
    return Rule(lambda value: value >= low, f"{{}} of at least {low:g}")


def at_most(count: int) -> Rule:
    """A text of so many characters, or a list or table of so many entries."""
    return Rule(lambda value: len(value) <= count, f"{{}} of at most {count:,}")


def hexadecimal(longest: int) -> Rule:
    """Hexadecimal digits, as of a digest."""
    return Rule(
        lambda text: len(text) <= longest and set(text) <= set("0123456789abcdef"),
        f"at most {longest:,} hexadecimal digits",
    )


def line(longest: int) -> Rule:
    """A text that stays in its place where it is shown."""
    return Rule(lambda text: len(text) <= longest and text.isprintable(), f"one line of at most {longest:,} characters")


def called(words: str) -> Rule:
    """Any value of its type, which has a better name."""
    return Rule(lambda _: True, words)


POSITIVE = Rule(lambda value: value > 0, "{} above 0")
DISTINCT = Rule(lambda names: 0 < len(names) == len(set(names)), "{} of at least one name, each named once")


def read_as(kind: type[T], data: object, what: str = "") -> T:
    """Plain data as a model.

    what: they are called in errors, where the name of a file before it is not enough.
    """
    if not isinstance(data, dict):
        raise InputError(
            f"{what} = {short(data)} must be an object" if what else f"must be an object, not {short(data)}"
        )
    with _in_one_line(kind, what):
        if hasattr(kind, "__pydantic_validator__"):
            return kind(**data)
        found = _adapter(kind).validate_python(data)  # type: ignore[arg-type]
        return kind(**found) if is_dataclass(kind) else found


def strict(kind: type[T]) -> type[T]:
    """Check the values of a frozen dataclass whenever one is made. Lists become tuples."""
    from pydantic.dataclasses import dataclass as checked_dataclass

    checked: Any = checked_dataclass(config=STRICT, frozen=True)(kind)
    make: Callable[..., None] = checked.__init__

    @functools.wraps(make)
    def init(self: Any, *values: Any, **named: Any) -> None:
        with _in_one_line(kind, ""):
            make(self, *map(_frozen, values), **{name: _frozen(value) for name, value in named.items()})

    checked.__init__, checked.__doc__ = init, kind.__doc__
    return checked


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@functools.cache
def _adapter(kind: Any) -> "TypeAdapter[Any]":
    """What checks that data are as a TypedDict, or as the fields of a dataclass."""
    from pydantic import TypeAdapter

    if is_dataclass(kind):
        usual = {entry.name for entry in fields(kind) if entry.default is not MISSING}
        entries = {name: NotRequired[own] if name in usual else own for name, own in _entries(kind).items()}
        kind = TypedDict("Fields", entries)  # type: ignore[no-redef, misc]
    kind.__pydantic_config__ = STRICT
    return TypeAdapter(kind)


@contextmanager
def _in_one_line(kind: Any, what: str) -> Iterator[None]:
    """What pydantic refuses in this block, of data for a model, becomes one line."""
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as error:
        raise _refusal(error, kind, what) from None


def _refusal(error: "ValidationError", kind: Any, what: str) -> InputError:
    """Say the first thing that is wrong, but a key that is unknown before one that is missing: it may be that one."""
    found = min(error.errors(include_url=False), key=lambda one: one["type"] not in _UNKNOWN)
    own = found.get("ctx", {}).get("error")
    if isinstance(own, InputError):
        return own
    where, wanted = _follow(kind, found["loc"][:-1], what)
    if found["type"] in _UNKNOWN:
        return unknown(f"key of {where}" if where else "key", found["loc"][-1], _entries(_present(wanted)))
    if found["type"] != "missing":
        where, wanted = _follow(kind, found["loc"], what)
    elif get_origin(_present(wanted)) is not tuple:
        key = str(found["loc"][-1])
        return InputError(f"{where} lacks {key!r}: {_words(_entries(_present(wanted))[key])}".lstrip())
    value = list(found["input"]) if isinstance(found["input"], tuple) else found["input"]
    known = next((rule.known for rule in _rules(wanted) if rule.known), None)
    return unknown(where, value, known) if known else InputError(f"{where} = {short(value)} must be {_words(wanted)}")


def _follow(kind: Any, steps: Sequence[int | str], what: str) -> tuple[str, Any]:
    """The path to a place in a model, and its type. A union is the end: which part of it was meant is left open."""
    for step in steps:
        plain, parts = _present(kind), get_args(_present(kind))
        if is_typeddict(plain) or is_dataclass(plain):
            entries = _entries(plain)
            name = list(entries)[step] if isinstance(step, int) else step
            what, kind = f"{what}.{name}" if what else name, entries[name]
        elif get_origin(plain) is dict:
            what, kind = f"{what}.{step}" if str(step).isidentifier() else f"{what}[{short(step)}]", parts[1]
        elif get_origin(plain) in (list, tuple):
            what, kind = f"{what}[{step}]", parts[0 if parts[-1] in (..., parts[0]) else int(step)]
        else:
            break
    return what, kind


def _entries(model: Any) -> dict[str, Any]:
    """The types of a model's entries, in their order."""
    found = get_type_hints(model, include_extras=True)
    return {entry.name: found[entry.name] for entry in fields(model)} if is_dataclass(model) else found


def _present(kind: Any) -> Any:
    """A type without its rules, and without null if that is the only other."""
    plain = _plain(kind)
    parts = [part for part in get_args(plain) if part is not type(None)] if get_origin(plain) in _UNIONS else []
    return _plain(parts[0]) if len(parts) == 1 else plain


def _plain(kind: Any) -> Any:
    """A type without its rules."""
    while get_origin(kind) in (Annotated, NotRequired):
        kind = get_args(kind)[0]
    return kind


def _rules(kind: Any) -> list[Rule]:
    """The rules of a type, in their order."""
    if get_origin(kind) is NotRequired:
        return _rules(get_args(kind)[0])
    return [rule for rule in get_args(kind)[1:] if isinstance(rule, Rule)] if get_origin(kind) is Annotated else []


def _words(kind: Any) -> str:
    """What a type allows, in words."""
    plain, parts = _plain(kind), get_args(_plain(kind))
    origin = get_origin(plain) or plain
    if origin in _UNIONS:
        words = " or ".join(_words(part) for part in parts if part is not int or float not in parts)
    elif origin is tuple and ... not in parts:
        words = f"a list of {len(parts)}"
    else:
        words = _KINDS.get(origin, "an object")
    for rule in _rules(kind):
        words = rule.words.replace("{}", words)
    return words
