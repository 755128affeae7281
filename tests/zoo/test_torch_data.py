"""PDEZoo in PyTorch's own terms."""

from itertools import islice

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from mc2.errors import InputError
from mc2.geometry import Grid
from mc2.zoo import generate, make_fields
from mc2.zoo.build import build_zoo
from mc2.zoo.stream import Stream
from mc2.zoo.torch_data import ShardDataset, StreamDataset

GRID = Grid(16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("zoo") / "fields"
    build_zoo(place, "test", 0, 10, [1, 8], grid=GRID, shard_size=4, device="cpu")
    return place


@pytest.mark.parametrize("workers", [0, 2])
def test_shards_in_a_loader(folder, workers):
    data = ShardDataset(folder, walks=8)
    fields = make_fields([generate("test", n) for n in range(10)], [1, 8], grid=GRID, device="cpu")
    batches = list(DataLoader(data, batch_size=5, num_workers=workers))
    assert [batch["index"].tolist() for batch in batches] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    for name, expected in (("u", fields.u), ("f", fields.f), ("mask", fields.mask), ("mean", fields.mean[:, 1])):
        np.testing.assert_array_equal(torch.cat([batch[name] for batch in batches]).numpy(), expected)
    assert set(batches[0]["walks"].tolist()) == {8}


def test_all_budgets_or_one(folder):
    assert ShardDataset(folder)[3]["mean"].shape == (2, 16, 16)
    assert ShardDataset(folder, walks=1)[3]["mean"].shape == (16, 16)
    with pytest.raises(InputError, match="no estimates at 2 walks: there are 1, 8"):
        ShardDataset(folder, walks=2)


def test_stream_in_a_loader():
    stream = Stream(batch=3, budgets=(2, 4), grid=GRID, device="cpu")
    loader = DataLoader(StreamDataset(stream), batch_size=None)
    for found, expected in zip(islice(loader, 2), stream, strict=False):
        assert found["mean"].dtype == torch.float32
        np.testing.assert_array_equal(found["mean"].numpy(), expected.mean)
        np.testing.assert_array_equal(found["walks"].numpy(), expected.walks)
