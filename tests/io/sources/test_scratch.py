"""A scratch folder: answers have their names when all are whole, and a temporary folder goes."""

import gc

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
