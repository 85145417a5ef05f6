"""A look at a table says what discover would do with it."""

import numpy as np
import pandas as pd
import pytest
from calls import discover

from vbrand.io.tables.frames import TableError
from vbrand.io.tables.look import look_at
from vbrand.io.tables.material import Roles, read_material


@pytest.fixture
def plants(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "plant_id": rng.permutation(40) * 31,
            "day": ["2024-05-03"] * 40,
            "site": ["north", "south"] * 20,
            "height": np.round(rng.normal(9, 1, 40), 1),
            "width": rng.normal(2, 1, 40),
            "odd": ["<1", *map(str, range(39))],
            "nothing": "",
            "species": ["viola"] * 20 + ["primula"] * 8 + ["rosa"] * 2 + [""] * 10,
        }
    )
    table.loc[39] = table.loc[38]
    table.loc[5, "height"] = np.nan
    table.to_csv(tmp_path / "plants.csv", index=False)
    return str(tmp_path / "plants.csv")


def test_every_column_has_a_line(plants):
    look = look_at(plants, Roles("species", ignore=("odd",)))
    lines = {column.name: column for column in look.columns}
    assert (look.rows, len(lines)) == (40, 8)
    assert {name: line.use for name, line in lines.items()} == {
        "plant_id": "no: names rows",
        "day": "no: dates",
        "site": "no: text",
        "height": "measured",
        "width": "measured",
        "odd": "ignored",
        "nothing": "no: empty",
        "species": "the label",
    }
    assert {name: line.kind for name, line in lines.items()} == {
        "plant_id": "whole numbers",
        "day": "dates",
        "site": "text",
        "height": "numbers, 0.1",
        "width": "numbers",
        "odd": "text",
        "nothing": "empty",
        "species": "text",
    }
    assert (lines["height"].missing, lines["width"].missing, lines["nothing"].missing) == (1, 0, 40)
    assert lines["site"].different == 2


def test_classes_come_with_their_rows_and_what_to_do_about_small_ones(plants):
    look = look_at(plants, Roles("species", ignore=("odd",)))
    assert look.classes == (("viola", 20), ("primula", 8), ("rosa", 2))
    assert look.unlabelled == 10
    assert look.notes[:2] == (
        "classes of fewer than 3 rows can't be learned: 'rosa'. Merge them, or unlabel them.",
        "classes of fewer than 10 rows are learned badly: 'primula'.",
    )


def test_what_stands_in_the_way_is_said_before_anything_is_fitted(plants):
    notes = look_at(plants, Roles("species")).notes
    said = (
        "'odd' holds text ('<1' in row 1): correct it, or leave it empty, which counts as missing, or leave the column"
    )
    assert f"{said} out (--ignore)." in notes
    assert any(note.startswith("missing cells in measured columns: 1, in 'height'.") for note in notes)
    assert "rows that are copies of an earlier one in all measured columns: 1." in notes


def test_without_a_label_columns_that_may_hold_one_are_named(plants):
    look = look_at(plants, Roles())
    assert look.classes == ()
    assert "columns that may hold labels (--label): 'site', 'species'." in look.notes


def test_what_would_be_measured_is_measured(plants, tmp_path):
    clean = pd.read_csv(plants).drop(columns="odd").fillna({"height": 9.0})
    clean.to_csv(tmp_path / "clean.csv", index=False)
    path = str(tmp_path / "clean.csv")
    seen = tuple(column.name for column in look_at(path, Roles("species")).columns if column.use == "measured")
    assert seen == read_material(path, None, Roles("species")).unknown.columns


def test_a_column_that_tells_no_labelled_rows_apart_is_not_measured_as_discover_drops_it(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "ash": rng.normal(size=60),
            "mass": np.append(np.full(40, 0.1 + 0.2), rng.normal(size=20)),
            "late": np.append(np.full(40, np.nan), np.arange(0.5, 20.5)),
            "batch": 7.5,
            "kind": ["oat", "rye"] * 20 + [""] * 20,
        }
    )
    table.loc[0, "mass"] = 0.3  # but for rounding the same
    path = tmp_path / "grain.csv"
    table.to_csv(path, index=False)
    look = look_at(str(path), Roles("kind"))
    assert {column.name: column.use for column in look.columns if not column.measured} == {
        "mass": "no: the same in all labelled rows",
        "late": "no: empty in all labelled rows",
        "batch": "no: the same in all labelled rows",
        "kind": "the label",
    }
    assert not any("missing cells" in note for note in look.notes)  # there are none in what is measured

    said = discover(tmp_path, path, "--label", "kind").stdout
    assert "dropped column 'mass', column 'late', column 'batch': the same value, or none" in said
    assert [c.name for c in look_at(str(path), Roles()).columns if c.use == "no: the same in all rows"] == ["batch"]


def test_columns_that_there_are_not_and_empty_tables_are_refused(plants, tmp_path):
    with pytest.raises(TableError, match=r"has no column 'specis' \(--label\). Did you mean 'species'"):
        look_at(plants, Roles("specis"))
    with pytest.raises(TableError, match=r"has no column 'q' \(--measure\)"):
        look_at(plants, Roles(measure=("q",)))
    (tmp_path / "none.csv").write_text("a,b\n")
    with pytest.raises(TableError, match="has no rows below its header"):
        look_at(str(tmp_path / "none.csv"), Roles())
