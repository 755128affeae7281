"""The tables of limits: every value is the package's own constant."""

from importlib import import_module

from docs.measured import result
from validation.markdown import table

FILES = (
    ("reading.toml.MAX_BYTES", "bytes of a TOML file: a problem or a configuration"),
    ("reading.toml.MAX_INTEGER", "integer in TOML"),
    ("reading.nesting.MAX_PARTS", "names in a dotted key of TOML"),
    ("reading.nesting.MAX_NESTING", "brackets within brackets in TOML and JSON"),
    ("reading.json.MAX_BYTES", "bytes of a JSON file, unless another row says otherwise"),
    ("reading.json.MAX_LOG_BYTES", "bytes of a training log and of a checkpoint's `state.json`"),
    ("reading.json.MAX_DIGITS", "digits of an integer in JSON"),
    ("reading.json.MAX_KEYS", "keys of an object in JSON"),
    ("reading.npz.MAX_BYTES", "bytes of all arrays that are read from a .npz file"),
    ("reading.npz.MAX_MEMBERS", "arrays in a .npz file"),
    ("reading.npz.MAX_LIST", "bytes of a .npz file's list of arrays"),
    ("reading.npz.MAX_HEADER", "bytes of an array's header"),
    ("reading.tensors.MAX_HEADER", "bytes of the header of a safetensors file"),
    ("reading.tensors.MAX_DIMENSIONS", "dimensions of a tensor"),
    ("reading.hdf5.MAX_TEXT", "bytes of a text in an HDF5 file"),
    ("zoo.shard_reader.MAX_INSTANCE", "bytes of the fields of one instance in a shard"),
    ("zoo.shard_reader.MAX_RECORDS", "bytes of all records of a shard"),
    ("zoo.records.MAX_LINE", "bytes of a record"),
    ("zoo.records.MAX_ATOMS", "atoms in a record"),
    ("zoo.records.MAX_REACH", "coordinate of a record's domain"),
    ("walks.estimate.MAX_RECORD", "characters of an estimate's record"),
    ("benchmark.field_files.MAX_PIXELS", "pixels of a field that is certified"),
    ("benchmark.field_files.MAX_NETCDF", "bytes of a NetCDF file"),
    ("benchmark.results.MAX_BYTES", "bytes of a results file"),
    ("benchmark.leaderboard.entries.LARGEST_FILE", "bytes of a leaderboard entry"),
    ("benchmark.leaderboard.entries.MOST_ENTRIES", "entries in a folder"),
    ("benchmark.leaderboard.page.LARGEST_FIGURE", "bytes of a figure on the leaderboard's page"),
    ("benchmark.leaderboard.predictions.LONGEST_ID", "characters of an instance's name in a file of predictions"),
)
PROBLEMS = (
    ("problems.problem_file.MAX_TITLE", "characters of a title"),
    ("functions.reader.MAX_LENGTH", "characters of an expression"),
    ("functions.reader.MAX_DEPTH", "brackets and powers within one another in an expression"),
    ("functions.expression.MAX_NODES", "operations in an expression, or in its derivatives"),
    ("geometry.rings.MAX_VERTICES", "vertices of all polygons of a domain, holes included"),
    ("geometry.compositions.MAX_SHAPES", "shapes in a domain"),
    ("geometry.compositions.MAX_DEPTH", "compositions of domains within one another"),
    ("geometry.grid.MAX_SIZE", "pixels along a side of a grid"),
    ("problems.problem.LARGEST_LENGTH", "size of a domain, one over it, and its reach from the origin"),
    ("problems.problem.FARTHEST", "reach of a domain from the origin, in units of its size"),
    ("problems.problem.LARGEST_PARAMETER", "λ of a Yukawa and k of a Helmholtz problem"),
)
WORK = (
    ("walks.engine.MAX_WALKS", "walks per point"),
    ("walks.engine.MAX_POINTS", "points of an estimate"),
    ("walks.engine.MAX_SUMS", "points times budgets of an estimate"),
    ("walks.options.MAX_KEY", "seeds and numbers of instances"),
    ("walks.engine.LARGEST_VALUE", "size of data, and one over it"),
    ("solvers.corrector.MAX_SECONDS", "seconds spent on a tolerance", "`max_seconds=`, `--max-seconds`"),
    ("fits.boundary.MOST_WAVES", "k × radius of a Helmholtz problem that is solved"),
    ("benchmark.methods.stencils.MAX_POINTS", "points of a lattice of finite differences"),
    (
        "benchmark.methods.finite_differences.MAX_UNKNOWNS",
        "points of the domain in a direct solver of finite differences",
    ),
)
NETWORKS = (
    ("networks.architectures.MAX_BYTES", "bytes of a network's parameters and tables"),
    ("networks.architectures.MAX_LEVELS", "entries of `depths` or `widths`"),
    ("networks.architectures.MAX_MULTIPLE", "pixels that the sides of images are padded to a multiple of"),
    ("networks.weights_file.MAX_GRID", "pixels along a side of the images that a network was trained on"),
    ("training.resume.MAX_STEPS", "steps of a run"),
    ("training.resume.MAX_RECENT", "losses that a checkpoint keeps besides the history"),
)


def value(constant):
    """A constant of the package, by its name without `mc2.`."""
    module, _, name = constant.rpartition(".")
    return getattr(import_module(f"mc2.{module}"), name)


def shown(number):
    """A limit as people read it."""
    for power in (31, 63, 64):
        if number == (1 << power) - 1:
            return f"2^{power} − 1"
    if isinstance(number, int) and number >= 1 << 20 and number & (number - 1) == 0:
        return f"2^{number.bit_length() - 1}"
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def limits(rows):
    """A table of constants: what each is a limit of, and what raises it if that is not the constant itself."""
    cells = [(text, shown(value(name)), *(how or [f"`mc2.{name}`"])) for name, text, *how in rows]
    return table(("limit", "at most", "raised by"), cells)


def network_values():
    """The largest values of the keys of a network's description."""
    largest = value("networks.architectures.LARGEST")
    return table(("key of `[network]`", "at most"), [(f"`{key}`", shown(most)) for key, most in largest.items()])


def attacks():
    """What became of every attack, before and now, as `python -m validation.attacks --json` has found."""
    before = {row["attack"]: row for row in result("attacks_before")["attacks"]}
    rows = []
    for row in result("attacks")["attacks"]:
        old = before[row["attack"]]
        then = (old["outcome"], old["seconds"], old["megabytes"])
        rows.append((row["item"], row["attack"], *then, row["outcome"], row["seconds"], row["megabytes"]))
    return table(("kind", "attack", "before", "seconds", "MB, most", "now", "seconds", "MB, most"), rows)


BLOCKS = {
    "attacks": attacks,
    "limits of files": lambda: limits(FILES),
    "limits of problems": lambda: limits(PROBLEMS),
    "limits of work": lambda: limits(WORK),
    "limits of networks": lambda: limits(NETWORKS),
    "limits of network values": network_values,
}
