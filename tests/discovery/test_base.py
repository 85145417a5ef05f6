"""What every discovery says of itself: a sentence, a table, explanations."""

from dataclasses import replace

import numpy as np
import pytest
from tables import grain_rows

from vbrand import Discovery, VBrand
from vbrand.discovery.base import Summary


def test_notebooks_show_the_summary_and_no_markup_of_names():
    known, labels, new, _ = grain_rows()
    named = np.where(np.array(labels) == "oat", "<b>oat</b>", "rye")
    shown = VBrand().fit(known, named).discover(new)._repr_html_()
    assert "30 rows belong to the 2 known classes" in shown
    assert "&lt;b&gt;oat&lt;/b&gt;" in shown
    assert "<b>oat" not in shown
    assert shown.count("<tr>") == 4


def test_the_sentence_counts_every_row_once(grain_found):
    assert repr(grain_found) == "30 rows belong to the 2 known classes, 30 to 1 novel group, 0 look like outliers."
    kinds = tuple(
        replace(group, kind="outlier group") if k == 2 else group for k, group in enumerate(grain_found.groups)
    )
    outlying = replace(grain_found, groups=(*kinds[:2], replace(kinds[2], rows=1)))
    assert repr(outlying).endswith("0 to 0 novel groups, 1 looks like an outlier.")


def test_the_summary_has_a_line_for_each_group_and_then_explanations_and_notes(grain_found):
    lines = str(grain_found.summary()).splitlines()
    assert lines.pop(0) == str(grain_found.check)
    assert lines[0].split() == ["group", "rows", "weight", "P(novel)", "kind"]
    assert [line.split()[0] for line in lines[1:4]] == ["oat", "rye", "novel"]
    assert lines[4].startswith("novel 1: nearest known class: oat")
    assert tuple(lines[-len(grain_found.notes) :]) == grain_found.notes
    assert repr(grain_found.summary()) == str(grain_found.summary())


def test_columns_of_the_summary_stand_below_their_names(grain_found):
    long = tuple(replace(group, name=group.name * 9, rows=1_234_567) for group in grain_found.groups)
    _, head, *lines = str(Summary(long, ())).splitlines()[:5]
    for name in ("rows", "weight", "P(novel)"):
        end = head.index(name) + len(name)
        assert all(line[end - 1] != " " and line[end] == " " for line in lines)


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
