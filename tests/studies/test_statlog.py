"""The satellite study: the right data, or one sentence."""

import os
import shutil
import urllib.error

import numpy as np
import pytest
from shared import SHARED, needs_shared

from vbrand.studies import statlog
from vbrand.studies.statlog import SOILS, UNLABELLED, Soils, load_soils


def test_thinning_takes_every_so_many_rows_with_their_kinds():
    kinds = np.arange(10)
    soils = Soils(kinds[:, None] * 1.0, kinds, kinds[:, None] * 2.0, kinds)
    third = soils.thinned(3)
    assert third.train_kinds.tolist() == [0, 3, 6, 9]
    np.testing.assert_array_equal(third.train[:, 0], third.train_kinds)
    np.testing.assert_array_equal(third.test[:, 0], 2.0 * third.test_kinds)


def test_two_kinds_of_soil_are_never_labelled():
    assert set(UNLABELLED) < set(SOILS)
    assert [SOILS[kind] for kind in UNLABELLED] == ["cotton crop", "vegetation stubble"]


def test_without_a_network_one_sentence_says_what_to_do_and_nothing_is_left(tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise urllib.error.URLError("no route")

    monkeypatch.delenv("VBRAND_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", unreachable)
    with pytest.raises(OSError, match=r"can't be downloaded .*no route.* --data FOLDER, or VBRAND_DATA"):
        load_soils()
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("text", ["1 2 3\n", "no numbers\n"])
def test_other_numbers_are_not_taken_for_the_data(tmp_path, text):
    for name in ("sat.trn", "sat.tst"):
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=r"does not hold the numbers of Statlog's sat\.trn\. Delete it"):
        load_soils(tmp_path)


def test_a_download_is_kept_whole(tmp_path, monkeypatch):
    class Answer:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def read(self):
            return b"1 2 3\n"

    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: Answer())
    statlog._download("address", tmp_path / "deep" / "sat.trn")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["sat.trn"]
    assert (tmp_path / "deep" / "sat.trn").read_bytes() == b"1 2 3\n"


@needs_shared
def test_soils_come_from_a_named_folder_and_are_checked(tmp_path, monkeypatch):
    folder = SHARED / "data" / "statlog"
    monkeypatch.setenv("VBRAND_DATA", str(folder))
    soils = load_soils()
    assert (soils.train.shape, soils.test.shape) == ((3486, 36), (2000, 36))
    assert set(soils.train_kinds) == set(SOILS) - {2, 5}
    with pytest.raises(FileNotFoundError, match=r"must hold sat\.trn and sat\.tst"):
        load_soils(tmp_path)
    for name in ("sat.trn", "sat.tst"):
        shutil.copy(folder / name, tmp_path / name)
    changed = (tmp_path / "sat.tst").read_text().replace("80 102 102", "80 102 103", 1)
    os.chmod(tmp_path / "sat.tst", 0o600)
    (tmp_path / "sat.tst").write_text(changed)
    with pytest.raises(ValueError, match=r"does not hold the numbers of Statlog's sat\.tst"):
        load_soils(tmp_path)


def test_without_data_and_network_one_sentence_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.delenv("VBRAND_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    try:
        test, sentence = load_soils().test.shape, None
    except OSError as error:
        test, sentence = None, str(error)
    # where there is a network the copy is the right one
    assert test == (2000, 36) or "--data FOLDER, or VBRAND_DATA" in sentence
    assert test is not None or not list(tmp_path.rglob("sat.*"))
