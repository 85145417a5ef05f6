"""Answers and progress in a notebook, run by a real kernel."""

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed: pip install 'vbrand[dev]'")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install 'vbrand[dev]'")

CODE = """
import numpy as np
from vbrand import VBrand
rng = np.random.default_rng(0)
known, labels = rng.normal(size=(80, 3)), np.repeat(["oat", "rye"], 40)
known[40:] += 8.0
new = rng.normal(size=(60, 3)) - np.repeat([0.0, 9.0], 30)[:, None]
found = VBrand(random_state=0, verbose=True).fit(known, labels).discover(new)
found
"""
SAMPLER = """
from vbrand import BrandSampler
sampler = BrandSampler(n_burn=10, n_draws=10, n_chains=2, init="known", random_state=0, verbose=True).fit(known, labels)
exact = sampler.discover(new)
"""


@pytest.fixture(scope="module")
def outputs():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in (CODE, SAMPLER)])
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    return book.cells[0].outputs, book.cells[1].outputs


def test_a_discovery_shows_sentence_check_table_and_map_without_any_script(outputs):
    shown = outputs[0][-1]["data"]["text/html"]
    assert "30 rows belong to the 2 known classes, 30 to 1 novel group." in shown
    assert "likely known" in shown
    assert shown.count("<tr>") == 4
    assert "<svg" in shown
    assert "<script" not in shown
    assert "onload" not in shown


def test_progress_is_one_line_that_changes_and_nothing_asks_for_widgets(outputs):
    for cell, told in zip(outputs, ("novel components, bound", "sampling: 40 of 40 sweeps"), strict=True):
        lines = [each["data"]["text/plain"] for each in cell if each["output_type"] == "display_data"]
        assert len(lines) == 1
        assert told in lines[0]
        assert not any("ipywidgets" in each.get("text", "") for each in cell)
