"""A scratch folder: answers have their names when all are whole, and a temporary folder goes."""

import gc
import os
import signal
import tempfile
import threading
from errno import ENOSPC

import numpy as np
import pytest

from vbrand.io.sources.scratch import Scratch


def test_answers_get_their_names_together(tmp_path):
    scratch = Scratch(tmp_path / "store")
    with scratch.answering():
        answers = scratch.answers("labels", (3,), "<U3")
        answers[:] = ["oat", "rye", "oat"]
        assert not (tmp_path / "store" / "labels.npy").exists()
    assert np.load(tmp_path / "store" / "labels.npy").tolist() == ["oat", "rye", "oat"]
    answers[0] = "rye"  # it is still mapped
    assert np.load(tmp_path / "store" / "labels.npy").tolist() == ["rye", "rye", "oat"]


def test_answers_that_are_not_whole_are_taken_away_and_older_ones_stay(tmp_path):
    np.save(tmp_path / "clusters.npy", [7])
    scratch = Scratch(tmp_path)

    def fail():
        with scratch.answering():
            scratch.answers("clusters", (3,), np.int64)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert [file.name for file in tmp_path.iterdir()] == ["clusters.npy"]
    assert np.load(tmp_path / "clusters.npy").tolist() == [7]


def test_a_temporary_folder_stays_as_long_as_its_answers():
    scratch = Scratch()
    folder, answers = scratch.folder, scratch.answers("labels", (2,), np.int64)
    del scratch
    gc.collect()
    assert folder.exists()
    assert answers.tolist() == [0, 0]
    del answers
    gc.collect()
    assert not folder.exists()


def test_what_is_put_aside_has_no_name_and_counts_as_no_answer(tmp_path):
    scratch = Scratch(tmp_path)
    with scratch.answering():
        aside = scratch.aside((2, 3), np.float64)
        aside[1, 2] = 7.0
        scratch.let_go()
        assert list(tmp_path.iterdir()) == []
    assert aside.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 7.0]]
    assert isinstance(aside, np.memmap)
    assert scratch.aside((0, 3), np.float64).shape == (0, 3)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="which is a file; the name of a folder is expected"):
        Scratch(tmp_path / "file")


def test_answers_that_are_let_go_stay_in_their_files(tmp_path):
    scratch = Scratch(tmp_path)
    answers = scratch.answers("labels", (100_000,), np.int64)
    answers[:] = np.arange(100_000)
    scratch.let_go()
    np.testing.assert_array_equal(answers, np.arange(100_000))
    del answers
    gc.collect()
    scratch.let_go()  # nothing is mapped any more


def test_two_runs_in_one_folder_do_not_take_each_others_answers(tmp_path):
    first, second = Scratch(tmp_path), Scratch(tmp_path)
    with first.answering():
        first.answers("labels", (2,), np.int64)[:] = 1
        with second.answering():
            second.answers("labels", (2,), np.int64)[:] = 2
        assert np.load(tmp_path / "labels.npy").tolist() == [2, 2]
        assert len(list(tmp_path.iterdir())) == 2
    assert np.load(tmp_path / "labels.npy").tolist() == [1, 1]
    assert [file.name for file in tmp_path.iterdir()] == ["labels.npy"]


def test_answers_that_are_asked_for_twice_or_later_leave_nothing_behind(tmp_path):
    scratch = Scratch(tmp_path)
    with scratch.answering():
        for value in (1, 2):
            scratch.answers("labels", (2,), np.int64)[:] = value
    later = scratch.answers("probabilities", (2, 2), np.float64)
    later[:] = 0.5
    assert later.sum() == 2.0
    assert [file.name for file in tmp_path.iterdir()] == ["labels.npy"]
    assert np.load(tmp_path / "labels.npy").tolist() == [2, 2]


def test_what_a_killed_run_left_goes_with_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    child = os.fork()
    if child == 0:
        scratch, held = Scratch(tmp_path / "store"), Scratch()
        with scratch.answering():
            scratch.answers("labels", (2,), np.int64)
            os.kill(os.getpid(), signal.SIGKILL if held.folder.exists() else signal.SIGTERM)
    os.waitpid(child, 0)
    (left,) = tmp_path.glob("vbrand-*")
    assert len(list((tmp_path / "store").iterdir())) == 1
    mine = Scratch()
    assert list(tmp_path.glob("vbrand-*")) == [mine.folder]
    assert left != mine.folder
    other = Scratch()
    assert mine.folder.exists()
    del other
    scratch = Scratch(tmp_path / "store")
    with scratch.answering():
        scratch.answers("labels", (2,), np.int64)
    assert [file.name for file in (tmp_path / "store").iterdir()] == ["labels.npy"]


def test_temporary_folders_of_others_may_go_at_any_moment():
    """Each new one looks for abandoned ones, and found some that their owners were just removing."""
    over, wrong = threading.Event(), list[Exception]()

    def come_and_go():
        while not over.is_set():
            try:
                Scratch()
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=come_and_go) for _ in range(4)]
    for thread in threads:
        thread.start()
    over.wait(1.0)
    over.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_full_disk_is_told_before_anything_is_written(tmp_path, monkeypatch):
    """A map of a file without room would end the process. tests/attack fills a real disk."""

    def full(*_):
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    scratch = Scratch(tmp_path)
    with pytest.raises(OSError, match=r"labels\.npy"), scratch.answering():
        scratch.answers("labels", (2,), np.float64)
    assert list(tmp_path.iterdir()) == []


def test_room_that_a_disk_does_not_have_is_told_with_the_name_of_the_folder(tmp_path):
    resource = pytest.importorskip("resource", reason="this system has no limits")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    scratch = Scratch(tmp_path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(OSError, match="File too large") as aside:
            scratch.aside((10_000,), np.float64)
        with pytest.raises(OSError, match="File too large") as named, scratch.answering():
            scratch.answers("labels", (10_000,), np.float64)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (aside.value.filename, named.value.filename) == (str(tmp_path), str(tmp_path / "labels.npy"))
    assert not list(tmp_path.iterdir())
