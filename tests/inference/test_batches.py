"""The fit of a batch after others."""

import numpy as np

from vbrand.inference import batches
from vbrand.inference.batches import Earlier, find_further, same_group, statistics_in, with_earlier
from vbrand.inference.kernel import statistics_of_labels
from vbrand.inference.rows import Rows
from vbrand.inference.search import Effort, find
from vbrand.model.components import Components
from vbrand.model.kernels import Gaussian
from vbrand.model.prior import Prior
from vbrand.model.weights import prior_weights

PRIOR = Prior(
    Components(
        np.zeros((6, 2)),
        np.append(50.0, np.full(5, 0.01)),
        np.append(53.0, np.full(5, 8.0)),
        np.append(50.0, np.full(5, 5.0))[:, None, None] * np.eye(2),
        (Gaussian(),) * 6,
    ),
    prior_weights(np.ones(2), 1.0, 5),
    np.array([0]),
)


def earlier_with(rng, *centres):
    """Return what batches taught of the known component and of groups about some centres, and their rows."""
    places = ([0.0, 0.0], *centres)
    rows = np.vstack([rng.normal(place, 1.0, (40, 2)) for place in places])
    label = np.repeat(np.arange(len(places)), 40)
    taught = statistics_of_labels(Rows.plain(rows), label, len(places))
    return Earlier(taught, np.full(len(centres), -1), np.arange(len(centres)))


def found_after(earlier, rows):
    return find_further(Rows.plain(rows), PRIOR, earlier, Effort(), np.random.default_rng(0))


def test_rows_go_to_the_group_that_earlier_batches_found_and_new_ones_are_born():
    rng = np.random.default_rng(0)
    earlier = earlier_with(rng, [9.0, 0.0])
    rows = np.vstack([rng.normal(place, 1.0, (15, 2)) for place in ([0, 0], [9, 0], [0, 12])])
    further = found_after(earlier, rows)
    assert further.merged == ()
    np.testing.assert_array_equal(further.found.best.winners, np.repeat([0, 1, 2], 15))
    everything = with_earlier(earlier.taught, further.found.best.statistics)
    np.testing.assert_allclose(everything.counts[:3], [55, 55, 15], atol=1e-3)


def test_two_groups_of_the_same_class_become_one():
    rng = np.random.default_rng(1)
    earlier = earlier_with(rng, [9.0, 0.0], [9.0, 0.0], [0.0, 12.0])
    further = found_after(earlier, rng.normal([9, 0], 1.0, (15, 2)))
    assert further.merged == ((1, 2),)
    assert further.earlier.origin.tolist() == [0, 2]
    assert further.earlier.taught.counts.tolist() == [40, 80, 40]
    assert same_group(PRIOR, further.earlier, further.found.best) is None


def test_a_group_joins_a_class_that_has_a_name_and_never_the_other_way_round():
    rng = np.random.default_rng(2)
    groups = earlier_with(rng, [9.0, 0.0], [9.0, 0.0])
    named = Earlier(groups.taught, np.array([-1, 1]), groups.origin)
    assert found_after(named, rng.normal([9, 0], 1.0, (15, 2))).merged == ((2, 1),)


def test_no_rows_teach_nothing():
    rng = np.random.default_rng(3)
    further = found_after(earlier_with(rng, [9.0, 0.0]), rng.normal(size=(9, 2)))
    posterior = further.found.best.posterior
    assert statistics_in(np.empty((0, 2)), posterior).counts.sum() == 0.0
    assert abs(statistics_in(rng.normal(size=(9, 2)), posterior).counts.sum() - 9.0) < 1e-9


def test_components_of_stage_1_that_are_gone_leave_the_groups_alone():
    earlier = earlier_with(np.random.default_rng(4), [9.0, 0.0])
    left = earlier.of_components(np.array([0]), 1)
    np.testing.assert_array_equal(left.taught.counts, earlier.taught.counts)
    assert earlier.known(PRIOR).components.dof[0] == PRIOR.components.dof[0]
    assert earlier.known(PRIOR).components.dof[1] == PRIOR.components.dof[1] + 40


def test_what_a_batch_shows_alone_is_tried_among_all_rows(monkeypatch):
    """Only rows of the batch are hinted at, and the hint is a group that it has by itself."""
    rng, hints = np.random.default_rng(5), []

    def spied(*args, hint=None, **how):
        hints.append(hint)
        return find(*args, hint=hint, **how)

    monkeypatch.setattr(batches, "find", spied)
    batch = np.vstack([rng.normal(0.0, 1.0, (20, 2)), rng.normal([0.0, 12.0], 1.0, (10, 2))])
    rows = np.vstack([batch, rng.normal(0.0, 1.0, (100, 2))])
    earlier = earlier_with(rng, [9.0, 0.0])
    further = find_further(Rows.plain(rows), PRIOR, earlier, Effort(), np.random.default_rng(0), batch=30)
    assert [hint is None for hint in hints] == [True, False]
    np.testing.assert_array_equal(np.flatnonzero(hints[1] >= 0), np.arange(20, 30))
    assert (further.found.best.winners[20:30] == 2).all()
    found_after(earlier, batch)
    assert hints[2:] == [None]  # all rows are of the batch
