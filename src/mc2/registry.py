"""`Registry`: things by the names that users type, ours and those of other packages."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from mc2.errors import InputError, one_line, short, unknown

Thing = TypeVar("Thing")
NAMES = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What names look like."""


class Registry(Mapping[str, Thing], Generic[Thing]):
    """A mapping from names to things of one kind, to which other packages add their own.

    They call `register` when they are imported; or they declare an entry point of the registry's group, which is
    loaded when its name is first asked for:

        [project.entry-points."mc2.methods"]
        mine = "my_package.methods:Mine"

    kind: what the things are, for messages.
    group: of the entry points.
    own: what the package itself has.
    fits: tells whether something is of this kind.
    named: tells the name that a thing has by itself, which must then be the one that it is registered by.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        own: Mapping[str, Thing],
        fits: Callable[[object], bool] = callable,
        named: Callable[[Thing], object] | None = None,
    ) -> None:
        self.kind, self.group, self._fits, self._named = kind, group, fits, named
        self._things = dict(own)

    def register(self, name: str, thing: Thing) -> Thing:
        """Add a thing by a name that is not taken."""
        if not isinstance(name, str) or not NAMES.fullmatch(name):
            raise InputError(f"name {short(name)} of a {self.kind}: must be made of letters, digits, dots and dashes")
        if name in self._things or name in self._declared:
            raise InputError(f"there is a {self.kind} {name!r} already: choose another name")
        self._things[name] = self._checked(name, thing)
        return thing

    def remove(self, name: str) -> None:
        """Take back what `register` added."""
        self._things.pop(name, None)

    def find(self, name: object) -> Thing:
        """The thing of a name that a user typed, or an error that names the nearest known one."""
        if not isinstance(name, str) or name not in self:
            raise unknown(self.kind, name, self)
        return self[name]

    def __getitem__(self, name: str) -> Thing:
        if name not in self._things and name in self._declared:
            try:
                thing = self._declared[name].load()
            except Exception as error:  # whatever goes wrong in somebody else's package
                raise InputError(f"the {self.kind} {name!r} of another package fails: {one_line(error)}") from error
            self._things[name] = self._checked(name, thing)
        return self._things[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._things, **self._declared})

    def __len__(self) -> int:
        return len({**self._things, **self._declared})

    @cached_property
    def _declared(self) -> dict[str, EntryPoint]:
        """Entry points of other packages. Our own names come first."""
        return {entry.name: entry for entry in entry_points(group=self.group) if entry.name not in self._things}

    def _checked(self, name: str, thing: Thing) -> Thing:
        if not self._fits(thing):
            raise InputError(f"{name!r} = {short(thing)} is no {self.kind}")
        if self._named and self._named(thing) != name:
            raise InputError(
                f"{name!r} = {short(thing)} calls itself {short(self._named(thing))}: register it by that name, which "
                "files will have"
            )
        return thing
