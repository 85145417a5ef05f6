"""Which tasks make a study: each once, first replicates first."""

import pytest

from vbrand.studies.plans import EFFORTS, plan
from vbrand.studies.reproduce import SIMULATED
from vbrand.studies.simulate import DESIGNS


@pytest.mark.parametrize("effort", ["shown", "quick", "toy"])
@pytest.mark.parametrize("study", SIMULATED)
def test_tasks_are_distinct_and_first_replicates_come_first(study, effort):
    tasks = plan(study, EFFORTS[effort])
    assert len({task.key for task in tasks}) == len(tasks)
    assert [task.replicate for task in tasks] == sorted(task.replicate for task in tasks)
    assert {task.study for task in tasks} <= set(DESIGNS)
    assert all((task.draws > 0) == (task.arm == "sampler") for task in tasks)
    assert all(task.cost > 0.0 for task in tasks)


def test_a_larger_effort_holds_all_that_a_smaller_one_of_its_sizes_holds():
    for study in ("ss1", "robustness"):
        full, shown = ({task.key for task in plan(study, EFFORTS[name])} for name in ("full", "shown"))
        assert shown <= full


def test_robustness_pairs_clean_with_dirty_rows():
    tasks = plan("robustness", EFFORTS["quick"])
    clean = [task.key for task in tasks if not task.dirty]
    assert 2 * len(clean) == len(tasks)
    assert {task.size for task in tasks} == {1.0}


def test_the_shown_effort_is_what_the_issue_asks_for():
    shown = EFFORTS["shown"]
    count = {study: len(plan(study, shown)) for study in SIMULATED}
    assert count["ss1"] == 25 * (50 + 10 + 10 + 10)
    assert count["ss2"] == 50 * (4 * 5 + 1 + 5)
    assert count["ss3"] == 2 * 5 * (81 * 2 + 1)
    assert all(len({task.key for task in plan(study, shown)}) == count[study] for study in SIMULATED)
