"""`vbrand look`, and the way of a new user from a spreadsheet to a report."""

import shlex
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
import xlsxwriter
from calls import call, labels_of
from tables import write_grain


@pytest.fixture
def plants(tmp_path):
    """Return a workbook as ecologists keep them: ids, dates, text, gaps, names for some rows; a third kind has none."""
    rng = np.random.default_rng(0)
    header = ["plant_id", "found on", "site", "height (cm)", "leaf length", "leaf width", "remarks", "species"]
    with xlsxwriter.Workbook(tmp_path / "our plants.xlsx") as book:
        day = book.add_format({"num_format": "dd.mm.yyyy"})
        book.add_worksheet("Read me").write(0, 0, "data of 2024")
        page = book.add_worksheet("Plants")
        page.write_row(0, 0, header)
        for i in range(180):
            kind = i % 3
            named = kind < 2 and i % 4
            page.write_row(i + 1, 0, [1_000 + 7 * i])
            page.write_datetime(i + 1, 1, date(2024, 5, 1) + timedelta(days=i // 5), day)
            page.write_row(i + 1, 2, [f"site {i % 4}", round(10 + 8 * kind + rng.normal(), 1)])
            page.write_row(i + 1, 4, [round(3 + 2 * kind + rng.normal(0, 0.3), 1), round(2 + rng.normal(0, 0.2), 2)])
            page.write_row(i + 1, 6, ["nice" if i % 9 == 0 else None, ("viola", "primula")[kind] if named else None])
        page.write_blank(8, 4, None)  # nobody measured that leaf
    return tmp_path / "our plants.xlsx"


def test_from_a_spreadsheet_to_a_report_with_one_error_on_the_way(plants):
    """What a person reads leads on: from the look to the command, from its error to the command that works."""
    first = call("look", plants)
    assert first.exit_code == 0
    assert "columns that may hold labels (--label): 'site', 'species'." in first.stdout
    assert "'plant_id'" in first.stdout

    second = call("look", plants, "--label", "species")
    assert "180 rows, 8 columns, of which 3 would be measured." in second.stdout
    assert "classes, with their rows: primula (45), viola (45); without a label: 90." in second.stdout
    advised = second.stdout.strip().splitlines()[-1].removeprefix("Next: vbrand ")
    words = shlex.split(advised)[:-1]
    assert words[:2] == ["discover", str(plants)]

    folder = plants.parent / "found"
    errors = 0
    done = call(*words, folder, "--xlsx")
    if done.exit_code:
        errors += 1
        assert done.exit_code == 2
        assert "column 'leaf length' of sheet 'Plants' of our plants.xlsx" in done.stderr
        assert "leave the column out (--ignore)" in done.stderr
        done = call(*words, folder, "--xlsx", "--ignore", "leaf length")
    assert (done.exit_code, errors <= 1) == (0, True)
    assert "because they look like names of rows: 'plant_id'" in done.stdout
    assert "because dates: 'found on'." in done.stdout

    lines = labels_of(plants.parent, "found")
    assert len(lines) == 90
    new = [line for line in lines if (int(line["plant_id"]) - 1_000) // 7 % 3 == 2]
    assert sum(line["label"] == "novel" for line in new) >= 57
    assert (folder / "report.html").stat().st_size > 10_000
    assert (folder / "labels.xlsx").stat().st_size > 1_000


def test_a_second_table_is_asked_for_where_all_rows_have_labels(tmp_path):
    train, _ = write_grain(tmp_path)
    done = call("look", train, "--label", "variety")
    assert done.stdout.strip().endswith(f"Next: vbrand discover {train} UNKNOWN_ROWS --label variety -o found")


def test_the_next_command_has_the_options_that_were_given(plants):
    given = ("--id", "plant_id", "--ignore", "leaf length", "--measure", "height (cm)", "--category", "site")
    given = (*given, "--sheet", "Plants")
    advised = call("look", plants, "--label", "species", *given).stdout.strip().splitlines()[-1]
    assert shlex.split(advised)[1:] == [
        *("vbrand", "discover", str(plants), "--label", "species"),
        *(*given, "-o", "found"),
    ]
    advised = call("look", plants, "--id", "plant_id").stdout.strip().splitlines()[-1]
    assert "--label COLUMN --id plant_id, with the column" in advised


def test_a_wide_table_is_summed_up(tmp_path):
    pd.DataFrame(np.random.default_rng(0).normal(size=(5, 200))).to_csv(tmp_path / "wide.csv", index=False)
    done = call("look", tmp_path / "wide.csv")
    assert "of which 200 would be measured" in done.stdout
    assert "... and 140 more columns." in done.stdout


def test_what_can_not_be_looked_at_is_one_sentence(tmp_path):
    done = call("look", tmp_path / "none.csv")
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
