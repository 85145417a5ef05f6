"""One line per group: rows, weights and centres that add up."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import grain_rows

from vbrand import VBrand
from vbrand.facts.facts import _novelty_counts
from vbrand.facts.groups import plural, some_rows


def test_rows_of_groups_add_up_and_weights_nearly_so(grain_found):
    groups = grain_found.groups
    assert [(group.name, group.rows) for group in groups] == [("oat", 30), ("rye", 0), ("novel 1", 30)]
    assert 0.9 < sum(group.weight for group in groups) <= 1.0 + 1e-12


def test_a_line_holds_means_over_the_rows_of_the_group(grain_found):
    _, _, new, _ = grain_rows()
    for k, rows in ((0, slice(0, 30)), (2, slice(30, 60))):
        group = grain_found.groups[k]
        np.testing.assert_allclose(group.centre, new[rows].mean(axis=0))
        assert group.novelty_probability == pytest.approx(grain_found.novelty_probability[rows].mean())
    assert np.isnan(grain_found.groups[1].centre).all()


def test_novel_groups_and_only_they_are_explained(grain_found):
    assert [group.kind for group in grain_found.groups] == ["known class", "known class", "novel group"]
    assert [group.explanation is None for group in grain_found.groups] == [True, True, False]
    middle = {part.column: part.value for part in grain_found.groups[2].explanation.contributions}
    np.testing.assert_allclose([middle[name] for name in grain_found.columns], grain_found.groups[2].centre)


@pytest.mark.parametrize(("smallest", "kind"), [(30, "novel group"), (31, "outlier group")])
def test_a_group_with_fewer_rows_than_asked_for_is_of_outliers(smallest, kind):
    known, labels, new, _ = grain_rows()
    found = VBrand(random_state=0, min_group=smallest).fit(known, labels).discover(new)
    assert found.groups[2].kind == kind
    assert found.n_groups.high == (kind == "novel group")


@given(st.integers(1, 5_000), st.data())
def test_of_many_rows_an_even_sample_is_taken(count, data):
    others = data.draw(st.integers(0, 50))
    chosen = np.random.default_rng(count).permutation(np.arange(count + others) < count)
    table = np.arange(count + others, dtype=np.float32)[:, None]
    rows = some_rows(table, chosen.astype(np.int64), 1)[:, 0].astype(int)
    assert chosen[rows].all()
    assert rows.size == count if count <= 1_000 else 500 <= rows.size <= 1_000
    assert len(set(np.diff(np.cumsum(chosen)[rows]).tolist())) <= 1  # every so many of the chosen


def test_one_is_singular():
    assert [plural(n, "row", "rows") for n in (0, 1, 2, 1_000)] == ["0 rows", "1 row", "2 rows", "1,000 rows"]


def test_rows_of_doubtful_groups_are_not_counted_with_sure_ones(grain_found):
    groups = grain_found.groups
    doubted = (*groups[:2], replace(groups[2], doubtful=True))
    sure, unsure = (
        _novelty_counts(grain_found.novelty_probability, grain_found.clusters, g) for g in (groups, doubted)
    )
    assert sure.sum(axis=0).tolist() == [30, 30, 0]
    assert unsure.sum(axis=0).tolist() == [30, 0, 30]
