"""Draws on disk: a leg comes back whole or not at all, and a folder holds one run."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vbrand.discovery.draw_store import DrawStore, fingerprint, stored_seed
from vbrand.inference.sampler import Leg

RUN = "a" * 64


@pytest.fixture
def leg():
    rng = np.random.default_rng(0)
    return Leg(
        kept_labels=rng.integers(0, 4, (5, 7)).astype(np.uint8),
        weights=rng.dirichlet(np.ones(3), 5),
        concentration=rng.gamma(1.0, 1.0, 5),
        known_means=rng.normal(size=(5, 2, 3)),
        last_labels=rng.integers(0, 4, 7).astype(np.int32),
        last_concentration=0.1 + 0.2,
    )


def same(left, right):
    names = ("weights", "concentration", "known_means", "last_labels", "last_concentration", "labels")
    return all(np.array_equal(getattr(left, name), getattr(right, name)) for name in names)


def test_a_leg_comes_back_bit_for_bit_with_its_labels_left_on_disk(tmp_path, leg):
    store = DrawStore.open(tmp_path / "draws", RUN, 5)
    assert store.recall(1, 2) is None
    kept = store.keep(1, 2, leg)
    recalled = store.recall(1, 2)
    assert same(kept, leg)
    assert same(recalled, leg)
    assert isinstance(recalled.labels, np.memmap)
    assert type(recalled.last_concentration) is float
    assert store.recall(2, 1) is None


def test_a_leg_without_draws_comes_back(tmp_path, leg):
    empty = Leg(leg.kept_labels[:0], leg.weights[:0], leg.concentration[:0], leg.known_means[:0], leg.last_labels, 1.0)
    store = DrawStore.open(tmp_path / "draws", RUN, 5)
    store.keep(0, 0, empty)
    assert same(store.recall(0, 0), empty)


def test_whatever_is_cut_off_a_leg_is_not_there(tmp_path, leg):
    store = DrawStore.open(tmp_path / "draws", RUN, 5)
    store.keep(0, 0, leg)
    files = [path for path in (tmp_path / "draws").iterdir() if path.suffix != ".json"]
    assert len(files) == 2
    for path in files:
        whole = path.read_bytes()
        for length in range(0, len(whole), 97):
            path.write_bytes(whole[:length])
            assert store.recall(0, 0) is None
        path.write_bytes(whole.replace(b"), }", b"(, }"))  # a header that numpy does not come to the end of
        assert store.recall(0, 0) is None
        path.unlink()
        assert store.recall(0, 0) is None
        path.write_bytes(whole)
        assert same(store.recall(0, 0), leg)


def test_a_folder_holds_one_run_and_its_seed(tmp_path, leg):
    folder = tmp_path / "draws"
    assert stored_seed(folder) is None
    DrawStore.open(folder, RUN, 5).keep(0, 0, leg)
    assert stored_seed(folder) == 5
    assert same(DrawStore.open(folder, RUN, 5).recall(0, 0), leg)
    with pytest.raises(ValueError, match="holds the draws of another run"):
        DrawStore.open(folder, "b" * 64, 5)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"schema": 99, "run": "a", "seed": 1}', '{"schema": 1, "run": 2}'])
def test_a_folder_that_can_not_be_read_is_refused(tmp_path, text):
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(ValueError, match="is damaged, or was written by another version of vbrand"):
        DrawStore.open(tmp_path, RUN, 5)
    with pytest.raises(ValueError, match="is damaged, or was written by another version of vbrand"):
        stored_seed(tmp_path)


parts = st.lists(st.integers() | st.text(max_size=5) | st.none() | st.lists(st.floats(allow_nan=False), max_size=3))


@given(parts, parts)
def test_fingerprints_of_the_same_parts_are_the_same(first, second):
    assert fingerprint(first) == fingerprint(list(first))
    if "".join(map(json.dumps, first)) != "".join(map(json.dumps, second)):
        assert fingerprint(first) != fingerprint(second)


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.astype(np.float32),
        lambda table: table.T,
        lambda table: table.reshape(2, 6),
        lambda table: table + np.eye(3, 4) * 2.0**-40,
        lambda table: table[::-1],
    ],
)
def test_any_change_of_an_array_changes_the_fingerprint(change):
    table = np.arange(12.0).reshape(3, 4)
    assert fingerprint([table]) == fingerprint([np.asfortranarray(table)])
    assert fingerprint([change(table)]) != fingerprint([table])


def test_labels_that_were_altered_on_disk_are_not_there(tmp_path, leg):
    store = DrawStore.open(tmp_path, "a" * 64, 1)
    store.keep(0, 0, leg)
    assert store.recall(0, 0) is not None
    (labels,) = tmp_path.glob("*.labels.npy")
    content = bytearray(labels.read_bytes())
    content[-1] ^= 1
    labels.write_bytes(content)
    assert store.recall(0, 0) is None


def test_an_empty_note_on_the_run_does_not_spoil_its_folder(tmp_path):
    (tmp_path / "run.json").touch()
    assert stored_seed(tmp_path) is None
    DrawStore.open(tmp_path, "a" * 64, 7)
    assert stored_seed(tmp_path) == 7
