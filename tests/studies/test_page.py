"""The page: claims beside numbers, all of which come from the lines that were run."""

from dataclasses import replace

import pytest

from vbrand.studies import page as pages
from vbrand.studies.plans import EFFORTS, plan
from vbrand.studies.summary import Cell
from vbrand.studies.tasks import COLUMNS, KEYS

TOY = replace(EFFORTS["toy"], others=2, paper=2)


def lines_of(study, effort, ari=0.8, seconds=0.5):
    """Return lines of a table as if all tasks had been run, the default better than the others by .05."""
    lines = []
    for task in plan(study, effort):
        values = dict.fromkeys(COLUMNS, "0.9") | dict(zip(KEYS, task.key, strict=True))
        gain = 0.05 * (task.arm == "default") + 0.01 * task.replicate - 0.1 * task.dirty
        slow = 100.0 if task.arm == "sampler" else 1.0
        lines.append(values | {"ari": str(ari + gain), "seconds": str(seconds * slow)})
    return lines


def test_ss1_counts_cells_above_the_claim_and_where_we_are_behind():
    text = pages.section_ss1(lines_of("ss1", TOY), TOY)
    assert "| VBrand() | 2 | 1 of 1 | 0.855, 0.900, 0.900 | 0.50 s |" in text
    assert "nowhere more than two standard errors" in text
    low = pages.section_ss1(lines_of("ss1", TOY, ari=0.6), TOY)
    assert "| the paper's protocol | 2 | 0 of 1 | 0.605, 0.900, 0.900 | 0.50 s |" in low
    worse = [line | {"ari": "0.5"} if line["arm"] == "default" else line for line in lines_of("ss1", TOY)]
    assert "below the paper's protocol in: ARI at q = 0.5, p = 2: 0.500 against 0.805." in pages.section_ss1(worse, TOY)


def test_robustness_shows_what_dirty_labels_cost():
    text = pages.section_robustness(lines_of("robustness", TOY), TOY)
    assert "| `VBrand()` | `modes` | 0.855, 0.755 | 0.100 |" in text
    assert "| SS1 | `mcd` | 0.805, 0.705 | 0.100 |" in text


def test_ss2_shows_ratios_of_time_and_who_is_ahead():
    text = pages.section_ss2(lines_of("ss2", TOY), TOY)
    assert "The smallest ratio is 100; 0 of 2 are below 30." in text
    assert "| simple | VBrand() | 0 : 0 : 1 |" in text
    assert "| simple | the paper's protocol | 0 : 1 : 0 |" in text


def test_ss3_shows_ranges_over_settings():
    text = pages.section_ss3(lines_of("ss3", TOY), TOY)
    assert "| low | VBrand() | 0.850 | 0.900 |" in text
    assert "| high | the paper's protocol | 0.800 to 0.800 | 0.900 to 0.900 |" in text
    assert "| low | the paper's protocol | nu_0 | 4: 0.800, 52: 0.800 | 4: 0.900, 52: 0.900 |" in text


def test_soils_have_a_line_for_each_arm():
    names = ("ari", "ami", "fmi", "novelty_f1", "known_accuracy")
    line = {"arm": "default", "bound": -1234.5, "groups": 2, "outlier_groups": 1, "seconds": 3.0}
    text = pages.section_statlog([line | dict.fromkeys(names, 0.75)], 20)
    assert "has 20 starts" in text
    assert "| VBrand() | -1,234.5 | 0.750 | 0.750 | 0.750 | 0.750 | 0.750 | 2 (1) | 3.0 |" in text


@pytest.mark.parametrize(
    ("cell", "shown"), [(Cell(0.5, float("nan"), 1), "0.500"), (Cell(0.5, 0.0123, 5), "0.500 (0.012)")]
)
def test_an_error_is_shown_where_it_is_known(cell, shown):
    grid = pages._grid({(0.5, 2): cell}, TOY).splitlines()
    assert grid == ["| q | p = 2 |", "|---|---|", f"| 0.5 | {shown} |"]
    assert pages._grid({}, TOY).endswith("| 0.5 |  |")


def test_the_page_stands_beside_its_folder(tmp_path):
    path = pages.write_page(tmp_path / "reproduction", ["## A\n![a](FOLDER/a.png)"], TOY)
    assert path == tmp_path / "reproduction.md"
    assert "![a](reproduction/a.png)" in path.read_text()
    assert list(tmp_path.iterdir()) == [path]
