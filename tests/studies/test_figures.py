"""Figures of the studies: every arm in every panel, means where they belong."""

from dataclasses import replace

import numpy as np
import pytest

from vbrand.studies import figures
from vbrand.studies.plans import ARMS, EFFORTS, FITS_OF_SS2, STAGES, plan
from vbrand.studies.tasks import COLUMNS, KEYS

pytest.importorskip("matplotlib", reason="figures need matplotlib: pip install 'vbrand[plot]'")

EFFORT = replace(EFFORTS["toy"], columns=(2, 5))


def lines_of(study):
    """Return lines as if all tasks had been run: ARI is .8 in 2 columns and .6 in 5."""
    values = dict.fromkeys(COLUMNS, "0.9")
    return [
        values | dict(zip(KEYS, task.key, strict=True)) | {"ari": str({2: 0.8, 5: 0.6}[task.columns])}
        for task in plan(study, EFFORT)
    ]


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Return a folder, and a dict that takes the panels of each figure instead of its files."""
    kept = {}

    def keep(figure, folder, name):
        import matplotlib.pyplot as plt

        kept[name] = figure.axes, figure.get_suptitle()
        plt.close(figure)
        return [name]

    monkeypatch.setattr(figures, "_save", keep)
    return tmp_path, kept


def heights(panel):
    """Return the points of each line of error bars, by its label."""
    return {held.get_label(): held.lines[0].get_ydata().tolist() for held in panel.containers}


def test_ss1_has_a_line_of_panels_for_each_arm(drawn):
    folder, kept = drawn
    assert figures.draw_ss1(lines_of("ss1"), EFFORT, folder) == ["ss1"]
    panels, title = kept["ss1"]
    assert [panel.get_title() for panel in panels[::4]] == [f"{figures.ARM_NAMES[arm]}: ARI" for arm in ARMS]
    assert heights(panels[0]) == {"q = 0.5 (500 rows)": [0.8, 0.6]}
    assert panels[3].get_yscale() == "log"
    assert "VBrand() 1" in title


def test_ss2_has_fits_and_samplers_in_every_panel(drawn):
    folder, kept = drawn
    assert figures.draw_ss2(lines_of("ss2"), EFFORT, folder) == ["ss2_simple", "ss2_complex", "ss2_time"]
    for name in ("ss2_simple", "ss2_complex"):
        labels = list(heights(kept[name][0][0]))
        assert labels == [*(f"VB: {figures.ARM_NAMES[arm]}" for arm in FITS_OF_SS2), "sampler, 20 + 20 sweeps"]
    assert all(panel.get_yscale() == "log" for panel in kept["ss2_time"][0])


def test_ss3_has_a_point_for_each_setting_and_a_line_for_the_default(drawn):
    folder, kept = drawn
    figures.draw_ss3(lines_of("ss3"), EFFORT, folder)
    panels, title = kept["ss3"]
    assert {label: len(points) for label, points in heights(panels[0]).items()} == {
        "the paper's protocol": len(EFFORT.settings),
        "search, paper's priors": len(EFFORT.settings),
    }
    assert "VBrand(): 0.800" in panels[0].get_legend_handles_labels()[1]
    assert f"{len(EFFORT.settings)} settings" in title


def test_robustness_has_clean_and_dirty_rows_for_each_scatter(drawn):
    folder, kept = drawn
    figures.draw_robustness(lines_of("robustness"), EFFORT, folder)
    panels = [panel for panel in kept["robustness"][0] if panel.axison]
    assert [panel.get_title().split('"')[1] for panel in panels] == [scatter for _, scatter in STAGES]
    for panel in panels:
        assert heights(panel) == {"clean": [0.8, 0.6], "10 % wrong labels, 5 % outliers": [0.8, 0.6]}


def test_scenarios_show_every_test_row(drawn):
    folder, kept = drawn
    assert figures.draw_scenarios(folder) == ["ss2_scenarios"]
    for panel in kept["ss2_scenarios"][0]:
        assert [len(held.get_offsets()) for held in panel.collections] == [200] * 5


def test_arms_have_markers_and_colours_of_their_own():
    assert len(set(figures._COLOURS)) == len(figures._COLOURS) >= len(FITS_OF_SS2) + 2
    assert len(set(figures._MARKERS)) == len(figures._MARKERS) >= len(FITS_OF_SS2) + 2


def test_a_cell_that_was_not_run_has_no_point(drawn):
    lines = [line for line in lines_of("ss1") if line["columns"] == "2"]
    folder, kept = drawn
    figures.draw_ss1(lines, EFFORT, folder)
    assert heights(kept["ss1"][0][0]) == {"q = 0.5 (500 rows)": [0.8]}
    assert np.isfinite(kept["ss1"][0][0].get_ylim()).all()
