"""What every discovery says of itself: a sentence, a table, explanations."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tables import COLUMNS, grain_rows

from vbrand import Discovery, VBrand


def test_notebooks_show_the_summary_and_no_markup_of_names():
    known, labels, new, _ = grain_rows()
    named = np.where(np.array(labels) == "oat", "<b>oat</b>", "rye")
    shown = VBrand().fit(known, named).discover(new)._repr_html_()
    assert "30 rows belong to the 2 known classes" in shown
    assert "&lt;b&gt;oat&lt;/b&gt;" in shown
    assert "<b>oat" not in shown
    assert shown.count("<tr>") == 4


def test_the_sentence_counts_every_row_once(grain_found):
    assert repr(grain_found) == "30 rows belong to the 2 known classes, 30 to 1 novel group."
    kinds = tuple(
        replace(group, kind="outlier group") if k == 2 else group for k, group in enumerate(grain_found.groups)
    )
    outlying = replace(grain_found, groups=(*kinds[:2], replace(kinds[2], rows=1)))
    assert repr(outlying).endswith("none to a novel group, 1 looks like an outlier.")


def test_a_row_that_is_not_there_is_refused(grain_found):
    assert grain_found.explain(-1) == grain_found.explain(59)
    for row in (60, -61):
        with pytest.raises(IndexError, match=rf"there is no row {row}; the rows .* are numbered from 0 to 59"):
            grain_found.explain(row)


def test_the_same_rows_are_the_same_in_their_order_only(grain_found):
    known, labels, new, _ = grain_rows()
    detector = VBrand(random_state=0).fit(known, labels)
    assert detector.discover(new).has_rows_of(grain_found)
    assert not detector.discover(new[::-1]).has_rows_of(grain_found)
    assert not detector.discover(new[1:]).has_rows_of(grain_found)


def test_labels_clusters_and_scores_tell_the_same(grain_found):
    assert isinstance(grain_found, Discovery)
    novel = grain_found.novelty_probability > grain_found.threshold
    np.testing.assert_array_equal(grain_found.labels == "novel", novel)
    np.testing.assert_array_equal(grain_found.clusters >= grain_found.classes.size, novel)
    np.testing.assert_array_equal(grain_found.novelty_score > 0.0, novel)


def test_a_discovery_can_not_be_changed(grain_found):
    with pytest.raises(AttributeError, match="cannot assign"):
        grain_found.labels = None


def test_a_frame_has_a_line_for_each_row_and_the_index_of_the_table():
    known, labels, new, _ = grain_rows()
    rows = pd.DataFrame(new, columns=COLUMNS, index=[f"g{i}" for i in range(60)])
    found = VBrand(random_state=0).fit(pd.DataFrame(known, columns=COLUMNS), labels).discover(rows)
    frame = found.to_frame()
    assert list(frame.columns) == ["label", "group", "P(novel)", "P(oat)", "P(rye)", "doubtful"]
    pd.testing.assert_index_equal(frame.index, rows.index)
    assert frame["label"].tolist() == found.labels.tolist()
    assert frame["group"].unique().tolist() == ["oat", "novel 1"]
    np.testing.assert_array_equal(frame["P(novel)"], found.novelty_probability)
    np.testing.assert_allclose(frame[["P(novel)", "P(oat)", "P(rye)"]].sum(axis=1), 1.0, atol=1e-12)
    assert not frame["doubtful"].any()
    assert found.facts().points.names[:2] == ("g0", "g1")
    assert len(rows.join(frame)) == 60


def test_of_unlabelled_rows_in_one_table_the_frame_has_their_names():
    known, labels, new, _ = grain_rows()
    table = pd.DataFrame(np.vstack([new[:30], known, new[30:]]), columns=COLUMNS)
    detector = VBrand(random_state=0).fit(table, [None] * 30 + labels + [None] * 30)
    assert detector.discovery_.to_frame().index.tolist() == [*range(30), *range(110, 140)]


def test_of_polars_and_without_a_check_there_is_a_frame_too():
    known, labels, new, _ = grain_rows()
    detector = VBrand(check=0, random_state=0).fit(pl.DataFrame(known, schema=COLUMNS), labels)
    frame = detector.discover(pl.DataFrame(new, schema=COLUMNS)).to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame["doubtful"].null_count() == frame.height == 60
    assert isinstance(detector.discover(pl.DataFrame(new, schema=COLUMNS)).summary().to_frame(), pl.DataFrame)


def test_a_report_is_one_file_with_the_settings(grain_found, tmp_path):
    path = grain_found.report(tmp_path / "deep" / "page.html", source="grains & co", truth=grain_found.labels)
    assert path == tmp_path / "deep" / "page.html"
    page = path.read_text(encoding="utf-8")
    assert "What is new in grains &amp; co" in page
    assert repr(grain_found) in page
    assert "max_false_novelty" in page
    assert not list(path.parent.glob(".*"))


def test_a_group_is_explained_by_its_name(grain_found):
    assert grain_found.explain("novel 1") == grain_found.groups[-1].explanation
    with pytest.raises(ValueError, match="there is no novel group 'rye'; there are: novel 1"):
        grain_found.explain("rye")
    for wrong in ([0, 1], 1.5, None):
        with pytest.raises(ValueError, match="the number of a row, or the name of a group, is expected"):
            grain_found.explain(wrong)
