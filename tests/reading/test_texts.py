"""Plain files, TOML and JSON: what is no file, too large, too deep or out of range is refused, at once."""

import os
import socket
import time

import pytest

from mc2.errors import InputError, short
from mc2.problems import read_problem
from mc2.reading.json import parse_json, read_json
from mc2.reading.plain import file_sha256, naming, open_plain, read_plain
from mc2.reading.toml import read_toml
from mc2.training.config import read_config

DISK = 'family = "laplace"\nboundary = "x"\n[domain]\nshape = "disk"\nradius = 1.0\n'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.toml"


def refusal(read, *arguments):
    begun = time.process_time()
    with pytest.raises(InputError) as caught:
        read(*arguments)
    assert time.process_time() - begun < 5
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    return str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders here")
@pytest.mark.parametrize("read", [read_problem, read_config, file_sha256, lambda path: read_json(path, "log")])
def test_what_is_no_plain_file(tmp_path, read):
    """Nobody waits for a pipe, reads a device without end, or takes a folder for a file."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    assert "it is a pipe, not a plain file" in refusal(read, tmp_path / "pipe")
    assert "it is a device, not a plain file" in refusal(read, tmp_path / "link")
    assert "it is a folder, not a plain file" in refusal(read, tmp_path)
    assert "no such file" in refusal(read, tmp_path / "nothing")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        assert "cannot be read" in refusal(read, tmp_path / "s")
    assert "null" in refusal(read, "a\x00b")


def test_names_with_odd_characters_stay_in_one_line(tmp_path):
    bad = tmp_path / "a\nb.toml"
    bad.write_text("x")
    message = refusal(read_problem, bad)
    assert "a\\nb.toml" in message
    with pytest.raises(InputError, match=r"^name: said$"), naming("name"):
        raise InputError("said")


def test_sizes(path):
    path.write_bytes(b"12345")
    assert read_plain(path, 5, "file") == b"12345"
    with pytest.raises(InputError, match="is larger than 4 bytes: not a log"):
        read_plain(path, 4, "log")
    with open_plain(path) as file:
        assert file.read() == b"12345"


BOMBS = {
    "dotted key": "a" + ".a" * 100_000 + " = 1",
    "dotted key with spaces": "a" + " . a" * 100_000 + " = 1",
    "quoted key": '"a"' + '."a"' * 100_000 + " = 1",
    "header": "[" + "a." * 100_000 + "a]",
    "inline table": "x = {" + "a." * 100_000 + "a = 1}",
    "after a string that ends in quotes": 'x = ["""a""""", {' + "a." * 100_000 + "a = 1}]",
    "brackets": "a = " + "[" * 500_000,
    "string without end": 'a = "' + '\\"' * 500_000,
    "text without end": 'a = """' + '""x' * 300_000,
    "digits": "a = " + "9" * 5000,
    "hexadecimal digits": "a = 0x" + "f" * 5000,
    "64 bits": f"a = [{1 << 63}]",
}


@pytest.mark.parametrize("name", BOMBS)
def test_small_files_that_would_take_long(path, name):
    path.write_text(BOMBS[name])
    refusal(read_toml, path, "problem file")


def test_ordinary_toml(path):
    path.write_text(
        'a.b.c = 1.5  # a.b.c.d.e.f.g.h.i.j\nt = "w.w.w.w.w.w.w.w.w.w [[["\nv = [[1, 2.5], [3, -4]]\n[x.y]\n'
    )
    found = read_toml(path, "file")
    assert found == {"a": {"b": {"c": 1.5}}, "t": "w.w.w.w.w.w.w.w.w.w [[[", "v": [[1, 2.5], [3, -4]], "x": {"y": {}}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "more than 64 deep"),
        ("[" * 65 + "]" * 65, "more than 64 deep"),
        ('{"a": ' * 65 + "1" + "}" * 65, "more than 64 deep"),
        ('"' + '\\"' * 500_000, "is not JSON"),
        ("NaN", "NaN is not a JSON number"),
        ("-Infinity", "-Infinity is not a JSON number"),
        ("1e999", "beyond the range"),
        ("9" * 5000, "an integer of 5,000 digits"),
        ('{"a": 1, "a": 2}', "'a' is there 2 times"),
        ("{" + ",".join(f'"{k}": 0' for k in range(65_537)) + "}", "an object of 65,537 keys: at most 65,536"),
        ("{", "is not JSON"),
        (b"\xff", "is not JSON"),
    ],
)
def test_bad_json(text, message):
    assert message in refusal(parse_json, text)


def test_ordinary_json():
    assert parse_json(b'{"a": [1, -2.5e3, "[[{\\"", null, true], "b": 18446744073709551615}') == {
        "a": [1, -2500.0, '[[{"', None, True],
        "b": (1 << 64) - 1,
    }
    assert parse_json("[" * 64 + "]" * 64)


def test_titles(path):
    """They are drawn: one line, and not as long as a book; and a dollar is no formula."""
    path.write_text(f'title = "{"ab " * 300_000}"\n' + DISK)
    assert "at most 200 characters" in refusal(read_problem, path)
    path.write_text('title = "two\\nlines"\n' + DISK)
    assert "must be one line" in refusal(read_problem, path)
    path.write_text('title = "$x^$ {€}"\n' + DISK)
    loaded = read_problem(path)
    from mc2.plotting import save_figure
    from mc2.problems.problem_figure import draw_problem

    save_figure(draw_problem(loaded.problem, loaded.grid, loaded.title), path.with_suffix(".png"))


def test_values_that_cannot_be_shown():
    assert short(1 << 20_000) == "a huge int"


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (f'architecture = "unet"\nwidths = [{"4," * 100_000}]', "at most 8 integers"),
        ('architecture = "unet"\nwidths = [2048, 2048]\nblocks = 64', "bytes, more than 1,073,741,824"),
        ('architecture = "sunet"\nwindow = 32\npatch = 32\ndepths = [1, 1]', "a multiple of 2048 pixels"),
        ('architecture = "fno"\nwidth = 16000', "width = 16000 must be an integer from 1 to 2048"),
        ('architecture = "fno"\nwidth = 2048\nmodes = 256', "bytes, more than"),
    ],
)
def test_networks_that_are_too_large(path, network, message):
    path.write_text(f"steps = 1\ntask = '{'operator' if 'fno' in network else 'correction'}'\n[network]\n{network}\n")
    assert message in refusal(read_config, path)
