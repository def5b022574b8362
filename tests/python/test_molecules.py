"""Molecules from SMILES. What OGB says of them is written down here; its code is not needed."""
import gzip
import json

import numpy as np
import pytest

import tyche

rdkit = pytest.importorskip("rdkit", reason="RDKit reads SMILES, and is not installed (Debian: python3-rdkit)")
from tyche import molecules  # noqa: E402


def test_columns_are_those_of_ogb():
    # ogb.utils.mol.smiles2graph("O1C=C[C@H]([C@H]1O2)c3c2cc(OC)c4c3OC(=O)C5=C4CCC(=O)5") begins so (its README).
    own = molecules.ogb_columns("O1C=C[C@H]([C@H]1O2)c3c2cc(OC)c4c3OC(=O)C5=C4CCC(=O)5")
    assert own.atoms.shape == (23, 9) and own.bonds.shape == (27, 3)
    assert own.atoms[:4].tolist() == [[7, 0, 2, 5, 0, 0, 1, 0, 1], [5, 0, 3, 5, 1, 0, 1, 0, 1],
                                      [5, 0, 3, 5, 1, 0, 1, 0, 1], [5, 2, 4, 5, 1, 0, 2, 0, 1]]
    assert set(own.bonds[:, 0]) == {0, 1, 3}


def test_from_smiles_keeps_atoms_and_bonds():
    graphs = tyche.from_smiles(["CO", "C#N", "[Na+].[Cl-]"], labels=[0, 1, 1])
    assert graphs.types.tolist() == [6, 8, 6, 7, 11, 17]
    assert graphs.edge_labels.tolist() == [1, 1, 3, 3]
    assert graphs.attributes is None and graphs.edge_attributes is None
    assert graphs.categories.shape == (6, 9) and graphs.edge_categories.shape == (4, 3)
    assert graphs.categories[:, 3].tolist() == [5, 5, 5, 5, 6, 4], "charges, to OGB's numbers"
    assert graphs.labels.tolist() == [0, 1, 1]


def test_a_molecule_draws_itself_with_its_atoms_names():
    picture = tyche.from_smiles(["CCO"])[0]._repr_svg_()
    assert picture.count(">C</text>") == 2 and picture.count(">O</text>") == 1
    assert ">O</text>" in tyche.from_smiles(["C", "CO"])[1:]._repr_svg_()


def test_what_rdkit_refuses_is_named():
    with pytest.raises(tyche.InputError, match="molecule 1: .*C1CC") as error:
        tyche.from_smiles(["CC", "C1CC"])
    assert error.value.graph == 1


def test_a_csv_file_becomes_json_lines(tmp_path, capsys):
    source, out = tmp_path / "m.csv", tmp_path / "m.jsonl"
    source.write_text("name,smiles,active,logp\na,CCO,1,0.5\nb,C1CC,0,1\nc,c1ccccc1,0,\n")
    assert molecules.main([str(source), "--smiles", "smiles", "--target", "active", "--out", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"molecules": 2, "refused": [{"line": 3, "smiles": "C1CC"}], "learned": "labels", "binary": False}
    graphs = tyche.datasets.read(out)
    assert graphs.labels.tolist() == [1, 0]
    straight = tyche.from_smiles(["CCO", "c1ccccc1"])
    assert np.array_equal(graphs.categories, straight.categories)
    assert np.array_equal(graphs.edge_categories, straight.edge_categories)
    assert molecules.main([str(source), "--smiles", "smiles", "--target", "active", "logp", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    assert "2 molecules, targets to learn" in printed.out and "line 3: C1CC" in printed.err
    targets = tyche.datasets.read(out).targets
    assert targets[0].tolist() == [1.0, 0.5] and np.isnan(targets[1, 1])
    assert molecules.main([str(source), "--smiles", "smile", "--out", str(out)]) == 2
    assert "there is no column 'smile'" in capsys.readouterr().err
    source.write_text("smiles,y\nCC,soon\n")
    assert molecules.main([str(source), "--smiles", "smiles", "--target", "y", "--out", str(out)]) == 2
    assert "line 2, column y" in capsys.readouterr().err


def test_a_split_counts_the_molecules_that_are_left(tmp_path, capsys):
    source, out, folder = tmp_path / "m.csv", tmp_path / "m.jsonl", tmp_path / "scaffold"
    rows = [("CCO", "train"), ("C1CC", "train"), ("C", "Valid"), ("CC", ""), ("O", "test"), ("N", "train")]
    source.write_text("smiles,y,part\n" + "".join(f"{s},{i % 2},{p}\n" for i, (s, p) in enumerate(rows)))
    call = ["--smiles", "smiles", "--target", "y", "--out", str(out), "--split"]
    assert molecules.main([str(source), *call, "part"]) == 0
    assert "m_split.json: 2 train, 1 validate, 1 test" in capsys.readouterr().out
    parts = {"train": [0, 4], "validation": [1], "test": [3]}
    assert json.loads((tmp_path / "m_split.json").read_text()) == parts
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["CCO", "C", "CC", "O", "N"]
    # The same as OGB has it: a compressed table, and files with numbers of its rows.
    packed = tmp_path / "m.csv.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    folder.mkdir()
    for part, numbers in [("train", "0\n1\n5\n"), ("valid", "2\n"), ("test", "4\n")]:
        (folder / f"{part}.csv.gz").write_bytes(gzip.compress(numbers.encode()))
    (tmp_path / "m_split.json").unlink()
    assert molecules.main([str(packed), *call, str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["train"] == 2
    assert json.loads((tmp_path / "m_split.json").read_text()) == parts


@pytest.mark.parametrize("name, text, said", [("test.txt", "4 9", "row 9 is not there"), ("test.txt", "x", "'x'"),
                                              ("val.csv", "0", "row 0 is in train already")])
def test_a_split_that_does_not_fit_is_refused(tmp_path, capsys, name, text, said):
    source, folder = tmp_path / "m.csv", tmp_path / "parts"
    source.write_text("smiles,part\nC,train\nCC,maybe\nO,\nN,\nF,\n")
    folder.mkdir()
    (folder / "train.txt").write_text("0 1")
    (folder / name).write_text(text)
    call = [str(source), "--smiles", "smiles", "--out", str(tmp_path / "m.jsonl"), "--split"]
    assert molecules.main([*call, str(folder)]) == 2
    assert said in capsys.readouterr().err
    assert molecules.main([*call, "part"]) == 2
    assert "line 3, column part: expected train, valid, test or nothing, found 'maybe'" in capsys.readouterr().err
