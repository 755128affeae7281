"""Models: what is refused is said in one line that names the place, the value, and what is allowed."""

import dataclasses
import time
from dataclasses import dataclass
from typing import Annotated, NotRequired

import pytest
from typing_extensions import TypedDict

from mc2.errors import InputError
from mc2.reading.models import Number, Rule, at_most, between, one_of, read_as, strict


class Part(TypedDict):
    size: Annotated[int, between(0, 5000)]
    pair: NotRequired[Annotated[list[Number], Rule(lambda pair: len(pair) == 2, "a pair {of numbers}")]]


class Whole(TypedDict):
    name: Annotated[str, at_most(4)]
    kind: NotRequired[Annotated[str, one_of("red", "green")]]
    parts: NotRequired[list[Part]]
    scores: NotRequired[dict[str, float | None]]
    part: NotRequired[Part | None]


@strict
@dataclass(frozen=True)
class Run:
    """A run."""

    rate: Annotated[Number, between(0, 0.5)]
    sizes: tuple[int, ...] = (1,)
    on: bool = False
    ends: tuple[int, int] = (0, 1)

    def __post_init__(self) -> None:
        if self.on and self.rate == 0:
            raise InputError("a run that is on needs a rate")

    @property
    def twice(self) -> float:
        return 2 * self.rate


@dataclass(frozen=True)
class Record:
    walks: Annotated[int, between(1, 9)]
    unit: float = 1.0


BAD = [
    (Whole, [], "must be an object, not []"),
    (Whole, {}, "lacks 'name': a text of at most 4"),
    (Whole, {"nam": "a"}, "unknown key 'nam': did you mean 'name'?"),  # rather than that a name is missing
    (Whole, {"name": "a", 5: 1}, "unknown key 5: known: kind, name, part, parts, scores"),
    (Whole, {"name": "abcde"}, "name = 'abcde' must be a text of at most 4"),
    (Whole, {"name": 7}, "name = 7 must be a text of at most 4"),
    (Whole, {"name": "a", "kind": "gren"}, "unknown kind 'gren': did you mean 'green'?"),
    (Whole, {"name": "a", "kind": ["red"]}, "unknown kind ['red']: did you mean 'red'?"),
    (Whole, {"name": "a", "parts": {}}, "parts = {} must be a list"),
    (Whole, {"name": "a", "parts": [{"size": 1}, 2]}, "parts[1] = 2 must be an object"),
    (Whole, {"name": "a", "parts": [{}]}, "parts[0] lacks 'size': an integer from 0 to 5,000"),
    (Whole, {"name": "a", "parts": [{"size": -1}]}, "parts[0].size = -1 must be an integer from 0 to 5,000"),
    (Whole, {"name": "a", "parts": [{"size": True}]}, "parts[0].size = True must be an integer from 0 to 5,000"),
    (Whole, {"name": "a", "parts": [{"size": 1, "sice": 1}]}, "unknown key of parts[0] 'sice': did you mean 'size'?"),
    (Whole, {"name": "a", "parts": [{"size": 1, "pair": [1]}]}, "parts[0].pair = [1] must be a pair {of numbers}"),
    (Whole, {"name": "a", "scores": {"a\n": "1"}}, "scores['a\\n'] = '1' must be a finite number or null"),
    (Whole, {"name": "a", "scores": {"b": float("nan")}}, "scores.b = nan must be a finite number or null"),
    (Whole, {"name": "a", "part": {"size": "3"}}, "part.size = '3' must be an integer from 0 to 5,000"),
    (Whole, {"name": "a", "part": {"siez": 3}}, "unknown key of part 'siez': did you mean 'size'?"),
    (Whole, {"name": "a", "part": {}}, "part lacks 'size': an integer from 0 to 5,000"),
    (Whole, {"name": "a", "part": 3}, "part = 3 must be an object or null"),
    (Run, {"rate": 2}, "rate = 2 must be a finite number from 0 to 0.5"),
    (Run, {"rate": "0"}, "rate = '0' must be a finite number from 0 to 0.5"),
    (Run, {"rate": 0, "sizes": [1, 2.5]}, "sizes[1] = 2.5 must be an integer"),
    (Run, {"rate": 0, "on": 1}, "on = 1 must be true or false"),
    (Run, {"rate": 0, "on": True}, "a run that is on needs a rate"),
    (Run, {"rate": 0, "ends": [1]}, "ends = [1] must be a list of 2"),
    (Run, {"rate": 0, "ends": [1, 2, 3]}, "ends = [1, 2, 3] must be a list of 2"),
    (Run, {"rate": 0, "ends": [1, "b"]}, "ends[1] = 'b' must be an integer"),
    (Run, {"rat": 0}, "unknown key 'rat': did you mean 'rate'?"),
    (Record, {"walks": 0}, "walks = 0 must be an integer from 1 to 9"),
    (Record, {"unit": 1}, "lacks 'walks': an integer from 1 to 9"),
]


@pytest.mark.parametrize(("model", "data", "message"), BAD, ids=[text for _, _, text in BAD])
def test_refusals(model, data, message):
    with pytest.raises(InputError) as caught:
        read_as(model, data)
    assert str(caught.value) == message


def test_what_is_read_stays_what_it_was():
    data = {"name": "a", "parts": [{"size": 1, "pair": [1, 2.5]}], "scores": {"x": None}, "part": None}
    assert repr(read_as(Whole, data)) == repr(data)
    assert repr(read_as(Run, {"rate": 0, "sizes": [1, 2]})) == "Run(rate=0, sizes=(1, 2), on=False, ends=(0, 1))"
    assert read_as(Record, {"walks": 3}) == Record(3)
    with pytest.raises(InputError, match=r"^record\.walks = 'a' must be an integer from 1 to 9$"):
        read_as(Record, {"walks": "a"}, "record")
    with pytest.raises(InputError, match=r"^record = 3 must be an object$"):
        read_as(Record, 3, "record")


def test_a_strict_class_is_an_ordinary_frozen_dataclass():
    run = Run(0.25, [3])
    assert (run.rate, run.sizes, run.twice, Run.__doc__) == (0.25, (3,), 0.5, "A run.")
    assert dataclasses.asdict(dataclasses.replace(run, on=True)) == {
        "rate": 0.25,
        "sizes": (3,),
        "on": True,
        "ends": (0, 1),
    }
    with pytest.raises(dataclasses.FrozenInstanceError):
        run.rate = 0.1
    with pytest.raises(InputError, match=r"rate = 7 must be a finite number from 0 to 0\.5"):
        dataclasses.replace(run, rate=7)
    with pytest.raises(InputError, match=r"sizes\[0\] = 'a' must be an integer"):
        Run(0.25, ["a"])


def test_much_that_is_wrong_is_refused_at_once():
    begun = time.process_time()
    with pytest.raises(InputError, match="unknown key"):
        read_as(Whole, {str(key): key for key in range(1 << 16)})
    assert time.process_time() - begun < 5
