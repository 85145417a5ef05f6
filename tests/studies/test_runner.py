"""Many tasks, one line of a table each: nothing is run twice, nothing half-written is kept."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.studies import runner
from vbrand.studies.plans import EFFORTS, plan
from vbrand.studies.runner import read, run_all
from vbrand.studies.tasks import COLUMNS, Task

TOY = EFFORTS["toy"]
TASKS = [Task("ss1", "paper", 0.5, 2, replicate, weight=0.1 + 0.2) for replicate in range(4)]


def pretended(task):
    """Return a line without the work."""
    return dict.fromkeys(COLUMNS, 0.5) | {name: getattr(task, name) for name in task.__dataclass_fields__}


@settings(deadline=None, max_examples=30)
@given(cut=st.integers(0, 600), first=st.integers(0, 4))
def test_only_what_is_missing_is_run(tmp_path_factory, cut, first):
    path = tmp_path_factory.mktemp("runner") / "table.csv"
    ran = []

    def quiet(task):
        ran.append(task.replicate)
        return pretended(task)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "_quiet", quiet)
        run_all(TASKS[:first], path)
        whole = path.read_text()
        path.write_text(whole[: max(len(whole) - cut, 0)])
        held = [int(line["replicate"]) for line in read(path).values()]
        ran.clear()
        lines = run_all(TASKS, path)
    assert sorted(ran) == [task.replicate for task in TASKS if task.replicate not in held]
    assert [line["replicate"] for line in lines] == ["0", "1", "2", "3"]
    assert len(path.read_text().splitlines()) == 5
    assert set(read(path)) == {task.key for task in TASKS}


def test_progress_is_told_of_all_costs(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "_quiet", pretended)
    told = []
    for _ in range(2):
        told.clear()
        run_all(TASKS, tmp_path / "table.csv", progress=told.append)
        assert abs(sum(told) - sum(task.cost for task in TASKS)) < 1e-12
    assert len(told) == 1  # nothing was left to run


def test_a_table_that_is_not_there_has_no_lines(tmp_path):
    assert read(tmp_path / "no.csv") == {}


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    path = tmp_path / "ss1.csv"
    tasks = plan("ss1", TOY)
    whole = run_all(tasks, path)
    text = path.read_text()
    path.write_text("".join(text.splitlines(keepends=True)[:2]) + text.splitlines()[2][:20])  # cut within a line
    assert len(read(path)) == 1
    again = run_all(tasks, path)
    assert [line["ari"] for line in again] == [line["ari"] for line in whole]
    assert again[0] == whole[0]  # times and all: it was not run again
    assert len(path.read_text().splitlines()) == len(tasks) + 1
