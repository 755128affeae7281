"""Judge on: PDEZoo, problems with exact solutions from a seed."""

from mc2.zoo.atoms import Atom, AtomType
from mc2.zoo.fields import Fields, make_fields
from mc2.zoo.general_atoms import GENERAL_ATOMS
from mc2.zoo.harmonic_atoms import HARMONIC_ATOMS
from mc2.zoo.instance import VERSION, Instance, generate
from mc2.zoo.laws import FAMILIES, SPLITS, TRAINING
from mc2.zoo.records import from_line, from_record, read_records, to_line, to_record, write_records

__all__ = [
    "FAMILIES",
    "GENERAL_ATOMS",
    "HARMONIC_ATOMS",
    "SPLITS",
    "TRAINING",
    "VERSION",
    "Atom",
    "AtomType",
    "Fields",
    "Instance",
    "from_line",
    "from_record",
    "generate",
    "make_fields",
    "read_records",
    "to_line",
    "to_record",
    "write_records",
]
