"""The commands on tables as people have them, through the command line."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from calls import discover, edited, found_teff, labels_of, refused
from tables import write_grain

FILES = {"labels.csv", "model.vbrand", "summary.json", "report.html"}


def test_from_two_tables_to_an_answer(tmp_path):
    train, test = write_grain(tmp_path)
    done = discover(tmp_path, train, test, "--label", "variety", "--truth", "truth")
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    assert "30 rows belong to the 2 known classes, 30 to 1 novel group." in done.stdout
    assert "novelty F1 1.000" in done.stdout
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert done.stdout.splitlines()[0] == summary["trust"]
    assert re.match(
        r"30 rows are called novel; about \d+ of them \(\d+ to \d+\) (is|are) likely known\.", summary["trust"]
    )
    lines = labels_of(tmp_path)
    assert list(lines[0]) == ["row", "truth", "label", "cluster", "doubtful", "novelty_probability", "P(oat)", "P(rye)"]
    assert found_teff(lines)
    assert {line["cluster"] for line in lines} == {"oat", "novel 1"}
    for line in lines:
        total = sum(float(line[name]) for name in ("novelty_probability", "P(oat)", "P(rye)"))
        assert total == pytest.approx(1.0, abs=1e-5)
    assert summary["novel_rows"] == 30
    assert summary["scores"]["ari"] == 1.0
    assert summary["confusion"]["truth"] == ["oat", "teff"]


def test_thousands_of_columns(tmp_path):
    rng = np.random.default_rng(0)
    count = 3_000
    shapes = np.cumsum(rng.normal(size=(3, count)), axis=1)
    rows = [shapes[k] + rng.normal(size=(20, count)) + rng.normal(size=(20, 1)) for k in (0, 1, 0, 2)]
    names = [f"{1000 + 2 * j} nm" for j in range(count)]
    known = pd.DataFrame(np.vstack(rows[:2]), columns=names).assign(variety=["oat"] * 20 + ["rye"] * 20)
    known.to_csv(tmp_path / "train.csv", index=False)
    pd.DataFrame(np.vstack(rows[2:]), columns=names).to_csv(tmp_path / "test.csv", index=False)
    discover(tmp_path, tmp_path / "train.csv", tmp_path / "test.csv", "--label", "variety", "-q")
    assert [line["label"] == "novel" for line in labels_of(tmp_path)] == [False] * 20 + [True] * 20
    assert (tmp_path / "out" / "report.html").stat().st_size < 6_000_000
    assert "spectra, in your units" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_class_with_too_few_rows_is_named(tmp_path):
    train, test = write_grain(tmp_path)
    edited(train, "oat", "spelt")
    assert "class spelt has 1 row; a robust scatter needs at least 3." in refused(
        tmp_path, train, test, "--label", "variety"
    )


def test_odd_files_and_options(tmp_path):
    train, test = write_grain(tmp_path)
    (tmp_path / "packed.csv").write_bytes(b"\x1f\x8b" + bytes(20))
    assert "is compressed; unpack it first." in refused(tmp_path, train, tmp_path / "packed.csv", "--label", "variety")
    (tmp_path / "long.csv").write_text("x" * 200_000 + ",y\n1,2\n")
    assert "the first line of long.csv names no columns" in refused(
        tmp_path, train, tmp_path / "long.csv", "--label", "variety"
    )
    said = refused(tmp_path, train, test, "--label", "variety", "--id", "variety")
    assert "can't name the rows (--id) and hold their classes, too." in said
    pd.read_csv(test).assign(truth=[f"t{i}" for i in range(60)]).loc[lambda table: table.index.repeat(5)].assign(
        truth=[f"t{i}" for i in range(300)]
    ).to_csv(test, index=False)
    said = refused(tmp_path, train, test, "--label", "variety", "--truth", "truth")
    assert "(--truth) has 300 different values: no classes." in said


def test_replicates_get_one_answer(tmp_path):
    train, test = write_grain(tmp_path)
    rng = np.random.default_rng(0)
    for path in (train, test):
        table = pd.read_csv(path)
        twice = table.loc[np.repeat(table.index, 2)].reset_index(drop=True)
        numbers = [name for name in twice.columns if twice[name].dtype.kind == "f"]
        twice[numbers] += 0.01 * rng.normal(size=(len(twice), len(numbers)))
        twice.assign(tube=[f"tube {k // 2}" for k in range(len(twice))]).to_csv(path, index=False)
    assert "no column 'batch'" in refused(tmp_path, train, test, "--label", "variety", "--replicate", "batch")
    assert "can't name samples" in refused(tmp_path, train, test, "--label", "variety", "--replicate", "variety")
    done = discover(tmp_path, train, test, "--label", "variety", "--truth", "truth", "--replicate", "tube")
    lines = labels_of(tmp_path)
    assert "120 rows of 60 samples: each counts once, by the mean of its rows." in done.stdout
    assert [line["tube"] for line in lines] == [f"tube {k // 2}" for k in range(120)]
    for one, other in zip(lines[::2], lines[1::2], strict=True):
        assert one["novelty_probability"] == other["novelty_probability"]
