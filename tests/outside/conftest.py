"""Takes back what a test registers."""

import pytest


@pytest.fixture
def register():
    added = []

    def add(registry, name, thing):
        registry.register(name, thing)
        added.append((registry, name))

    yield add
    for registry, name in added:
        registry.remove(name)
