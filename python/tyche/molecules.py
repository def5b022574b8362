"""Molecules from SMILES, through RDKit (Debian: python3-rdkit), with the nine columns of atoms and three of bonds that
the Open Graph Benchmark uses. Also a program: ``python3 -m tyche.molecules FILE.csv --smiles COLUMN --target COLUMN
--split COLUMN --out FILE.jsonl``.

All columns are categories: of an atom its atomic number (its type), chirality, degree, charge, hydrogens, radical
electrons, hybridisation, whether it is aromatic and whether it is in a ring; of a bond its kind (1 single, 2 double, 3
triple, 4 aromatic, 5 other: its label), stereo, and whether it is conjugated. But for the two first they have OGB's
numbers.
"""
from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import sys
import zlib
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._errors import InputError
from ._graphs import GraphSet

#: What stands in OGB's columns, in its order (ogb.utils.features); the last of a list is "anything else".
_CHIRALITY = ["CHI_UNSPECIFIED", "CHI_TETRAHEDRAL_CW", "CHI_TETRAHEDRAL_CCW", "CHI_OTHER", "misc"]
_HYBRIDISATION = ["SP", "SP2", "SP3", "SP3D", "SP3D2", "misc"]
_BONDS = ["SINGLE", "DOUBLE", "TRIPLE", "AROMATIC", "misc"]
_STEREO = ["STEREONONE", "STEREOZ", "STEREOE", "STEREOCIS", "STEREOTRANS", "STEREOANY"]
#: A file's column of targets is one of labels where it has at most so many whole numbers, and none is missing.
MOST_LABELS = 20


class Columns(NamedTuple):
    """A molecule as OGB has it: places in its lists."""

    atoms: "np.ndarray[Any, np.dtype[np.int64]]"  #: atoms × 9
    bonds: "np.ndarray[Any, np.dtype[np.int64]]"  #: bonds × 3
    ends: "np.ndarray[Any, np.dtype[np.int64]]"  #: bonds × 2


def _rdkit() -> Any:
    try:
        from rdkit import Chem, RDLogger
    except ImportError as error:
        raise InputError("molecules are read by RDKit, which is not installed (Debian: apt-get install python3-rdkit; "
                         "pip install rdkit)") from error
    RDLogger.DisableLog("rdApp.*")  # what it refuses is said here, by its line
    return Chem


def _place(known: Sequence[Any], value: Any) -> int:
    return known.index(value) if value in known else len(known) - 1


def _range(first: int, last: int, value: int) -> int:
    return value - first if first <= value <= last else last - first + 1


def ogb_columns(smiles: str) -> Columns:
    """The columns of a molecule, to OGB's numbers. Raises InputError where RDKit refuses it.

    >>> import tyche.molecules                                                     # doctest: +SKIP
    >>> tyche.molecules.ogb_columns("CO").atoms.tolist()                           # doctest: +SKIP
    [[5, 0, 1, 5, 3, 0, 2, 0, 0], [7, 0, 1, 5, 1, 0, 2, 0, 0]]
    """
    if not isinstance(smiles, str):
        raise InputError(f"expected SMILES as text, found {smiles!r}")
    molecule = _rdkit().MolFromSmiles(smiles)
    if molecule is None or molecule.GetNumAtoms() == 0:
        raise InputError(f"RDKit takes {smiles!r} for no molecule")
    atoms = [[_range(1, 118, a.GetAtomicNum()), _place(_CHIRALITY, str(a.GetChiralTag())),
              _range(0, 10, a.GetTotalDegree()), _range(-5, 5, a.GetFormalCharge()), _range(0, 8, a.GetTotalNumHs()),
              _range(0, 4, a.GetNumRadicalElectrons()), _place(_HYBRIDISATION, str(a.GetHybridization())),
              int(a.GetIsAromatic()), int(a.IsInRing())] for a in molecule.GetAtoms()]
    bonds = [[_place(_BONDS, str(b.GetBondType())), _place(_STEREO, str(b.GetStereo())), int(b.GetIsConjugated())]
             for b in molecule.GetBonds()]
    ends = [[b.GetBeginAtomIdx(), b.GetEndAtomIdx()] for b in molecule.GetBonds()]
    return Columns(np.array(atoms, np.int64).reshape(-1, 9), np.array(bonds, np.int64).reshape(-1, 3),
                   np.array(ends, np.int64).reshape(-1, 2))


def _inputs(own: Columns) -> Tuple[Any, Any]:
    """Categories of atoms and of bonds."""
    return (np.concatenate([(own.atoms[:, :1] + 1) % 119, own.atoms[:, 1:]], axis=1),
            np.concatenate([own.bonds[:, :1] + 1, own.bonds[:, 1:]], axis=1))


def from_smiles(smiles: Iterable[str], *, labels: Any = None, targets: Any = None, name: str = "molecules") -> GraphSet:
    """Molecules as graphs, one per SMILES; ``labels`` or ``targets`` are what is to be learned. The first that RDKit
    refuses raises InputError with its number (``error.graph``); ``python3 -m tyche.molecules`` leaves such out."""
    columns: List[Columns] = []
    for number, text in enumerate([smiles] if isinstance(smiles, str) else smiles):
        try:
            columns.append(ogb_columns(text))
        except InputError as error:
            raise InputError(f"molecule {number}: {error}", number) from error
    if not columns:
        raise InputError("there are no molecules")
    parts = [_inputs(own) for own in columns]
    atoms, bonds = (np.concatenate([own[i] for own in parts]) for i in range(2))
    out = GraphSet.from_arrays(np.cumsum([0] + [len(own.atoms) for own in columns]),
                               np.cumsum([0] + [len(own.bonds) for own in columns]),
                               np.concatenate([own.ends for own in columns]).T, both_ways=False, types=atoms,
                               edge_labels=bonds, labels=labels, targets=targets, name=name)
    out._symbols = True
    return out


def symbol(atomic_number: int) -> str:
    """"C" for 6; "*" for what is no element."""
    return "*" if not 0 < atomic_number < 119 else str(_rdkit().GetPeriodicTable().GetElementSymbol(int(atomic_number)))


def _target(text: Optional[str], line: int, column: str) -> Optional[float]:
    if text is None or text.strip() == "" or text.strip().lower() in ("nan", "na", "null", "none"):
        return None
    try:
        value = float(text)
    except ValueError as error:
        raise InputError(f"line {line}, column {column}: expected a number, or nothing where it is missing, found "
                         f"{text!r}") from error
    if not np.isfinite(value):
        raise InputError(f"line {line}, column {column}: expected a finite number, found {text!r}")
    return value


def _open(path: str) -> Any:
    how: Any = gzip.open if path.endswith(".gz") else open
    return how(path, "rt", newline="", encoding="utf-8-sig")


#: What a part of a split is called here, and what tyche calls it.
_PARTS = {"train": "train", "valid": "validation", "val": "validation", "validation": "validation", "test": "test"}


def _part(text: Optional[str], line: int, column: str) -> Optional[str]:
    word = (text or "").strip().lower()
    if word and word not in _PARTS:
        raise InputError(f"line {line}, column {column}: expected train, valid, test or nothing, found {text!r}")
    return _PARTS.get(word)


def _parts_of_folder(folder: str) -> Dict[int, str]:
    """Of rows of the table, from 0, as index files like OGB's say them: train.csv.gz, valid.csv.gz, test.csv.gz."""
    parts: Dict[int, str] = {}
    for word, part in _PARTS.items():
        for path in (os.path.join(folder, word + end) for end in (".csv.gz", ".csv", ".txt")):
            if not os.path.exists(path):
                continue
            with _open(path) as file:
                for text in file.read().replace(",", " ").split():
                    if not text.isdecimal():
                        raise InputError(f"{path}: expected numbers of rows, from 0, found {text!r}")
                    if int(text) in parts:
                        raise InputError(f"{path}: row {text} is in {parts[int(text)]} already")
                    parts[int(text)] = part
    return parts


def _line(own: Columns, text: str, learned: Dict[str, Any]) -> str:
    atoms, bonds = _inputs(own)
    edges = [[int(u), int(v), *kinds] for (u, v), kinds in zip(own.ends, bonds.tolist())]
    return json.dumps({"nodes": atoms.tolist(), "edges": edges, "id": text, **learned}, separators=(",", ":"))


class _Row(NamedTuple):
    columns: Columns
    smiles: str
    values: List[Optional[float]]
    part: Optional[str]


def convert(path: str, smiles: str, targets: Sequence[str], out: str, numbers: bool = False,
            split: Optional[str] = None) -> Dict[str, Any]:
    """The molecules of a CSV file as JSON lines; says {"molecules", "refused": [{"line", "smiles"}], "learned",
    "binary"}: whether all targets are 0 or 1. `split` is a column that says train, valid or test, or a folder of index
    files; then also {"split": the file that was written beside `out`, "train", "validation", "test": how many}."""
    folder = _parts_of_folder(split) if split is not None and os.path.isdir(split) else None
    with _open(path) as file:
        reader = csv.DictReader(file)
        heads = reader.fieldnames or []
        for column in [smiles, *targets, *([split] if split is not None and folder is None else [])]:
            if column not in heads:
                raise InputError(f"{path}: there is no column {column!r}; it has {', '.join(heads) or 'none'}")
        rows: List[_Row] = []
        refused: List[Dict[str, Any]] = []
        number = -1
        for number, row in enumerate(reader):
            values = [_target(row[column], reader.line_num, column) for column in targets]
            part = (folder.pop(number, None) if folder is not None else
                    None if split is None else _part(row[split], reader.line_num, split))
            text = (row[smiles] or "").strip()
            try:
                rows.append(_Row(ogb_columns(text), text, values, part))
            except InputError:
                _rdkit()  # where RDKit is missing, nothing is refused by it
                refused.append({"line": reader.line_num, "smiles": row[smiles]})
    if folder:
        raise InputError(f"{split}: row {min(folder)} is not there: {path} has {number + 1} (0 to {number})")
    if not rows:
        raise InputError(f"{path}: no molecule is left of {len(refused)} lines")
    first = [row.values[0] for row in rows] if len(targets) == 1 else []
    whole = all(value is not None and value == int(value) for value in first)
    labels = bool(first) and whole and not numbers and len(set(first)) <= MOST_LABELS
    with open(out, "w", encoding="utf-8") as file:
        for kept in rows:
            learned: Dict[str, Any] = {}
            if labels:
                learned["label"] = int(kept.values[0] or 0)
            elif targets:
                learned["target"] = kept.values if len(kept.values) > 1 else kept.values[0]
            file.write(_line(kept.columns, kept.smiles, learned) + "\n")
    said: Dict[str, Any] = {
        "molecules": len(rows), "refused": refused,
        "learned": "labels" if labels else "targets" if targets else "nothing",
        "binary": bool(targets) and not labels and all(v in (None, 0, 1) for row in rows for v in row.values)}
    if split is not None:
        parts = {part: [i for i, row in enumerate(rows) if row.part == part] for part in ("train", "validation", "test")}
        said["split"] = os.path.splitext(out)[0] + "_split.json"
        with open(said["split"], "w", encoding="utf-8") as file:
            file.write(json.dumps(parts) + "\n")
        said.update({part: len(own) for part, own in parts.items()})
    return said


def main(words: Optional[Sequence[str]] = None) -> int:
    """The program."""
    parser = argparse.ArgumentParser(prog="python3 -m tyche.molecules", description="SMILES in a CSV file to graphs as "
                                     "JSON lines, for tyche train, compare and the others.")
    parser.add_argument("file", metavar="FILE.csv")
    parser.add_argument("--smiles", required=True, metavar="COLUMN", help="the column that has the SMILES")
    parser.add_argument("--target", nargs="+", default=[], metavar="COLUMN", help="what is to be learned; one column of "
                        f"at most {MOST_LABELS} whole numbers is one of labels, others are real targets, empty: missing")
    parser.add_argument("--numbers", action="store_true", help="whole numbers are real targets, too")
    parser.add_argument("--split", metavar="COLUMN", help="the column that says train, valid or test, or a folder of "
                        "index files (train.csv.gz, …: rows from 0); written beside FILE.jsonl as FILE_split.json")
    parser.add_argument("--out", required=True, metavar="FILE.jsonl")
    parser.add_argument("--json", action="store_true", help="say the outcome as JSON")
    call = parser.parse_args(words)
    try:
        said = convert(call.file, call.smiles, call.target, call.out, call.numbers, call.split)
    except (InputError, OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        print(f"tyche.molecules: {error}", file=sys.stderr)
        return 2
    if call.json:
        print(json.dumps(said))
        return 0
    hint = " (0 and 1: tyche train --loss binary)" if said["binary"] else ""
    print(f"{call.out}: {said['molecules']} molecules, {said['learned']} to learn{hint}")
    if call.split is not None:
        print(f"{said['split']}: {said['train']} train, {said['validation']} validate, {said['test']} test")
    if said["refused"]:
        print(f"tyche.molecules: {len(said['refused'])} lines left out, which RDKit refuses:", file=sys.stderr)
        for own in said["refused"]:
            print(f"  line {own['line']}: {own['smiles']}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
