"""Progress is shown on standard error, or not at all."""

import gc
import sys

import numba
import pytest
from numba.core import event

from vbrand.estimators.progress import Pace, compilation_told, counted, passes_on, passes_shown, shown
from vbrand.io.sources.scratch import Scratch


def test_who_is_silent_gets_nothing_to_tell(capsys):
    with shown(False) as search, counted(False, 10, "sampling") as sweeps:
        assert search is None
        assert sweeps is None
    assert capsys.readouterr() == ("", "")


def test_a_log_gets_one_line_for_each_tenth(capsys):
    with counted(True, 200, "sampling") as advance:
        for _ in range(200):
            advance(1)
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line for line in err.splitlines() if line.startswith("sampling:")]
    assert lines == [f"sampling: {share} % of 200 sweeps" for share in range(10, 101, 10)]


def test_large_steps_skip_tenths_and_never_repeat_one(capsys):
    with counted(True, 1_000, "sampling") as advance:
        for done in (350, 40, 5, 605):
            advance(done)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("sampling:")]
    assert lines == ["sampling: 30 % of 1,000 sweeps", "sampling: 100 % of 1,000 sweeps"]


def test_the_search_can_be_told_of(capsys):
    with shown(True) as show:
        show(12, 3, -1234.56)
    assert capsys.readouterr().out == ""


def test_a_pass_has_rows_per_second_and_time_left():
    now = 100.0
    pace = Pace(lambda: now)
    assert pace.words(0, 8_000_000) == "a pass over 8,000,000 rows begins"
    now = 102.0
    said = "25% of 8,000,000 rows, 1,000,000 rows per second, 0:00:06 left of this pass"
    assert pace.words(2_000_000, 8_000_000) == said
    now = 200.0
    pace.words(0, 5_000)  # another pass
    now = 201.0
    assert pace.words(5_000, 5_000) == "100% of 5,000 rows, 5,000 rows per second, 0:00:00 left of this pass"


def test_who_waits_for_passes_is_told_while_they_go_on(capsys):
    scratch = Scratch()
    with shown(True, scratch) as show:
        show(12, 3, -1234.56)
        scratch.heard(10, 100)
        assert scratch.listener is not None
    with passes_shown(True, scratch, "reading") as held:
        held.heard(10, 100)
    assert scratch.listener is None
    scratch.heard(100, 100)  # nobody listens
    with passes_shown(True, None, "answering"), passes_shown(False, scratch, "answering"):
        assert scratch.listener is None
    assert capsys.readouterr().out == ""


def test_a_line_of_the_terminal_shows_passes():
    said = list[str]()
    line = type("Line", (), {"update": staticmethod(said.append)})
    passes_on(line, "reading big")(0, 7)
    assert said == ["reading big: a pass over 7 rows begins"]
    assert passes_on(None, "reading") is None


def test_without_rich_a_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    for progress in (shown(True), counted(True, 10, "sampling")):
        with (
            pytest.raises(ImportError, match=r"verbose=True needs the package rich: pip install 'vbrand\[cli\]'"),
            progress,
        ):
            pass


@pytest.mark.parametrize("verbose", [True, False])
def test_compilation_is_told_of_once_and_only_to_those_who_listen(verbose, capsys):
    twice, thrice = numba.njit(lambda x: 2 * x), numba.njit(lambda x: 3 * x)
    with compilation_told(verbose):
        assert (twice(1), twice(1.0), thrice(1)) == (2, 2.0, 3)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("compiles its loops") == err.count("\n") == verbose


def test_nothing_is_said_where_nothing_is_compiled(capsys):
    twice = numba.njit(lambda x: 2 * x)
    twice(1)
    with compilation_told(True):
        twice(2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("collects", [True, False])
def test_pythons_collector_rests_while_numba_compiles_and_then_is_as_it_was(collects, monkeypatch):
    seen = []
    before = gc.isenabled()
    (gc.enable if collects else gc.disable)()
    try:
        listener = event.RecordingListener()
        monkeypatch.setattr(listener, "on_start", lambda _: seen.append(gc.isenabled()))
        with compilation_told(False), event.install_listener("numba:compile", listener):
            assert numba.njit(lambda x: 5 * x)(1) == 5
        assert seen
        assert not any(seen)
        assert gc.isenabled() is collects
    finally:
        (gc.enable if before else gc.disable)()
