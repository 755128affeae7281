"""The networks: every input and every parameter counts, on images of any size."""

from pathlib import Path

import pytest
import torch

from mc2.errors import InputError
from mc2.networks.architectures import count_parameters, make_network
from mc2.networks.corrector_inputs import apply_network
from mc2.networks.sunet import BLOCKED, Block, by_image, from_windows, offsets, shift_mask, to_windows
from mc2.training.config import read_config
from mc2.walks.gpu.launch import unavailable

CONFIGS = Path(__file__).parents[2] / "configs"
TINY = {
    "sunet": {"architecture": "sunet", "patch": 2, "embedding": 8, "depths": [2, 2], "head": 4, "window": 4},
    "local sunet": {
        "architecture": "sunet", "patch": 2, "embedding": 8, "depths": [2, 2], "head": 4, "window": 4, "local": True
    },
    "unet": {"architecture": "unet", "widths": [4, 8], "blocks": 1},
    "fno": {"architecture": "fno", "width": 6, "modes": 6, "layers": 2},
    "unet of patches": {"architecture": "unet", "widths": [4, 8], "blocks": 1, "patch": 2},
}  # fmt: skip


def tiny(name, channels=3):
    """A small network in which no parameter is 0."""
    torch.manual_seed(0)
    network = make_network(TINY[name], channels).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return network


@pytest.mark.parametrize("name", TINY)
def test_every_channel_changes_the_output(name):
    network, x = tiny(name), torch.randn(1, 3, 32, 32)
    before = network(x)
    assert before.shape == (1, 1, 32, 32)
    for channel in range(3):
        other = x.clone()
        other[:, channel] += 0.5
        assert (network(other) - before).abs().max() > 1e-4


@pytest.mark.parametrize("name", TINY)
def test_every_parameter_changes_the_output(name):
    network, x = tiny(name), torch.randn(1, 3, 32, 32)
    network(x).square().sum().backward()
    for key, parameter in network.named_parameters():
        assert parameter.grad is not None, key
        assert (parameter.grad != 0).any(), key


@pytest.mark.parametrize("name", TINY)
def test_training_begins_at_the_estimate(name):
    assert (make_network(TINY[name], 3)(torch.randn(2, 3, 32, 32)) == 0).all()


@pytest.mark.parametrize("name", TINY)
def test_any_size_by_padding(name):
    network, x = tiny(name), torch.randn(1, 3, 20, 27)
    size = network.multiple
    with torch.no_grad():
        found = apply_network(network, x, size)
        padded = torch.nn.functional.pad(x, (0, -27 % size, 0, -20 % size))
        torch.testing.assert_close(found, network(padded)[:, 0, :20, :27])
    assert found.shape == (1, 20, 27)


def test_windows_are_undone():
    x = torch.randn(2, 16, 24, 5)
    assert to_windows(x, 8).shape == (2, 6, 64, 5)
    torch.testing.assert_close(from_windows(to_windows(x, 8), 16, 24, 8), x)


def test_shifted_windows_keep_opposite_sides_apart():
    mask = shift_mask(16, 16, 8, torch.device("cpu"))
    assert mask.shape == (4, 64, 64)
    assert (mask[0] == 0).all()  # no edge of the image runs through the first window
    assert mask[1, 0, 7] == BLOCKED  # the right half of the second one came from the left side
    assert mask[1, 0, 3] == 0
    assert (mask == mask.transpose(1, 2)).all()


def test_attention_knows_offsets_only():
    numbers = offsets(3)
    assert numbers[0, 1] == numbers[4, 5] == numbers[7, 8]
    assert numbers[0, 1] != numbers[1, 0]
    assert numbers.unique().numel() == 25


@pytest.mark.parametrize("shifted", [False, True])
def test_attention_is_attention(shifted):
    """A patch takes values, weighted by scores, from the patches of its window alone: as torch's own attention does."""
    torch.manual_seed(0)
    block, x = Block(8, 2, 4, 16, 0.0, shifted, local=False), torch.randn(1, 8, 8, 8)
    torch.nn.init.normal_(block.position)
    rows, columns = torch.meshgrid(torch.arange(8), torch.arange(8), indexing="ij")
    place = torch.stack([rows, columns], -1).view(64, 2)
    begun = (place - 2 * shifted).div(4, rounding_mode="floor")  # the window that a patch is in
    together = (begun[:, None] == begun[None, :]).all(-1)
    offset = (place[:, None] - place[None, :] + 3).clamp(0, 6)
    bias = block.position[offset[..., 0] * 7 + offset[..., 1]].permute(2, 0, 1)
    query, key = block.look(block.norm(x)).view(1, 64, 2, 2, 4).permute(2, 0, 3, 1, 4)
    value = block.value(x).view(1, 64, 2, 4).transpose(1, 2)
    mask = bias.masked_fill(~together, -torch.inf)
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, mask)
    expected = block.out(expected.transpose(1, 2).reshape(1, 8, 8, 8))
    found = block._attend(x, shift_mask(8, 8, 4, x.device))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_what_a_block_adds_does_not_grow_with_the_image():
    torch.manual_seed(0)
    block, mask = Block(8, 2, 4, 16, 0.0, True, local=True).double(), shift_mask(8, 8, 4, torch.device("cpu"))
    x = torch.randn(2, 8, 8, 8, dtype=torch.float64)
    attended = block._attend(by_image(x), mask)
    torch.testing.assert_close(block._attend(by_image(1e3 * x), mask), attended, rtol=1e-4, atol=1e-6)
    assert (block(1e6 * x, mask) - 1e6 * x).abs().max() < 10 * (block(x, mask) - x).abs().max()


@pytest.mark.parametrize(("options", "heads"), [({"heads": 4}, [4, 4, 4]), ({"head": 8}, [2, 4, 8]), ({}, [8, 8, 8])])
def test_heads(options, heads):
    """As many in every stage, as in the paper, or of one width."""
    network = make_network({"architecture": "sunet", "embedding": 16, "depths": [1, 1, 1]} | options, 3)
    blocks = [block for block in network.modules() if isinstance(block, Block)]
    assert [block.heads for block in blocks] == [*heads, *heads[-2::-1]]
    assert all(block.position.shape[1] == block.heads for block in blocks)


@pytest.mark.slow
def test_parts_of_one_shape_are_compiled_once(monkeypatch):
    """What they give is the same, with random depths that differ from block to block."""
    monkeypatch.setitem(TINY, "deep", TINY["sunet"] | {"depths": [6, 2], "drop_path": 0.2})
    network = tiny("deep").train()
    x, graphs, compiler = torch.randn(2, 3, 16, 16), [], torch.compile

    def found():
        torch.manual_seed(1)
        with torch.no_grad():
            return network(x)

    def backend(graph, example):
        graphs.append(graph)
        return graph.forward

    expected = found()
    monkeypatch.setattr(torch, "compile", lambda function, **rest: compiler(function, backend=backend, **rest))
    network.compile_parts()
    torch.testing.assert_close(found(), expected)
    assert 0 < len(graphs) < 12  # 14 blocks, a merge and two up-samplings
    graphs.clear()
    torch.testing.assert_close(found(), expected)
    assert (network.eval()(x) != expected).any()  # no random depths
    assert not graphs
    torch.compiler.reset()


@pytest.mark.skipif(bool(unavailable()), reason=unavailable())
@pytest.mark.gpu
@pytest.mark.parametrize("name", ["unet", "sunet", "sunet by parts"])
def test_compiled_is_the_same(name):
    """Also in training, in half precision, and at the widths of the shipped networks; and so are gradients."""
    sunet = {"embedding": 48, "depths": [2, 2], "head": 24, "drop_path": 0.0, "local": True}
    options = {"unet": {"widths": [40, 80]}, "sunet": sunet}
    torch.manual_seed(0)
    kind = name.split()[0]
    network = make_network({"architecture": kind, **options[kind]}, 9).cuda()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.02 * torch.randn_like(parameter)
    x = torch.randn(8, 9, 128, 128, device="cuda").contiguous(memory_format=torch.channels_last)

    def found(forward, half):
        with torch.autocast("cuda", torch.bfloat16, enabled=half):
            output = forward(x).float()
        network.zero_grad()
        output.square().mean().backward()
        return output.detach().clone(), torch.cat([parameter.grad.flatten() for parameter in network.parameters()])

    exact = found(network, False)
    compiled = network
    if name == "sunet by parts":
        network.compile_parts()
    else:
        compiled = torch.compile(network, mode="reduce-overhead")
    for forward in (network, compiled, compiled, compiled):  # graphs are recorded in the second call
        for ours, wanted in zip(found(forward, True), exact, strict=True):
            assert (ours - wanted).norm() < 0.02 * wanted.norm()


def test_stochastic_depth_keeps_the_mean():
    torch.manual_seed(0)
    block = Block(8, 2, 4, 16, drop=0.25, shifted=False, local=False)
    kept = block._keep(torch.ones(4000, 1, 1, 1)).flatten()
    assert ((kept == 0) | ((kept - 1 / 0.75).abs() < 1e-6)).all()
    assert kept.mean() == pytest.approx(1, abs=0.05)
    assert (block.eval()._keep(torch.ones(5, 1, 1, 1)) == 1).all()


@pytest.mark.slow
def test_sizes_of_the_configurations():
    """The full one has all of the paper's blocks; the shipped ones fit in 16 MiB in half precision."""
    sizes = {}
    for path in CONFIGS.glob("*.toml"):
        if path.stem != "ablations":
            config = read_config(path)
            with torch.device("meta"):
                sizes[path.stem] = count_parameters(make_network(config.network, config.inputs.size))
    assert sizes["sunet-paper"] == pytest.approx(99.2e6, rel=0.01)
    assert sizes["sunet-compact"] * 2 < 8e6  # bytes
    assert max(size for name, size in sizes.items() if name != "sunet-paper") < 8e6


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"architecture": "sunnet"}, "unknown architecture 'sunnet': did you mean 'sunet'"),
        ({"architecture": "unet", "width": [4]}, "unknown option of unet 'width': did you mean 'widths'"),
        ({"architecture": "unet", "channels": 4}, "unknown option of unet 'channels'"),
        ({"architecture": "unet", "widths": 4}, "widths = 4 must be a list of at most 8 integers, each from 1 to 2048"),
        ({"architecture": "sunet", "window": 0}, "window = 0 must be an integer from 1 to 32"),
        ({"architecture": "sunet", "drop_path": "no"}, "drop_path = 'no' must be a number"),
        ({"architecture": "sunet", "local": 1}, "local = 1 must be true or false"),
        ({"architecture": "sunet", "embedding": 40, "head": 32}, "embedding = 40 must be a multiple of head = 32"),
        ({"architecture": "sunet", "embedding": 36}, "embedding = 36 must be a multiple of heads = 8"),
    ],
)
def test_wrong_descriptions(description, message):
    with pytest.raises(InputError, match=message):
        make_network(description, 3)
