"""Model files: the same answers after a round trip, and one sentence for whatever is not a model."""

import contextlib
import json
import math
import os
import pickle
import tracemalloc
import zipfile
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from forged import forged, taken_apart
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vbrand
from vbrand import VBrand
from vbrand.estimators.schemas import SCHEMA
from vbrand.io.files.container import ModelFileError


def grains(columns=3, seed=0):
    rng = np.random.default_rng(seed)
    known = np.vstack([rng.normal(0, 1, (40, columns)), rng.normal(8, 1, (40, columns))])
    unknown = np.vstack([rng.normal(0, 1, (30, columns)), rng.normal(-9, 1, (25, columns))])
    return known, np.repeat(["oat", "rye"], 40), unknown


def fitted(columns=3, **settings):
    known, labels, unknown = grains(columns)
    detector = VBrand(random_state=0, **settings).fit(known, labels)
    detector.discover(unknown)
    return detector, unknown


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    detector, unknown = fitted()
    path = tmp_path_factory.mktemp("models") / "grain.vbrand"
    detector.save(path)
    return detector, unknown, path


@pytest.mark.parametrize(
    ("columns", "settings"),
    [
        (3, {}),
        (60, {}),  # wide: reduced to principal components
        (3, {"kernel": "auto"}),
        (3, {"update_known": False, "scatter": "mrcd", "kernel": "gaussian"}),
        (3, {"concentration": 0.5, "max_novel": 3, "novel_mean": [0.0, 1.0, 2.0], "novel_scale": np.eye(3)}),
    ],
)
def test_predictions_after_a_round_trip_are_bit_identical(tmp_path, columns, settings):
    detector, unknown = fitted(columns, **settings)
    detector.save(tmp_path / "model.vbrand")
    again = vbrand.load(tmp_path / "model.vbrand")
    for method in ("predict", "predict_proba", "novelty_score", "decision_function", "score_samples"):
        assert np.array_equal(getattr(detector, method)(unknown), getattr(again, method)(unknown))
    for (_, first), (_, second) in zip(detector.answers(unknown), again.answers(unknown), strict=True):
        assert np.array_equal(first.clusters, second.clusters)
    assert np.array_equal(detector.known_classes_.scatters, again.known_classes_.scatters)
    assert again.discover(unknown).elbo == detector.discovery_.elbo


def test_what_is_loaded_saves_the_same_file(saved, tmp_path):
    _, _, path = saved
    vbrand.load(path).save(tmp_path / "again.vbrand")
    assert (tmp_path / "again.vbrand").read_bytes() == path.read_bytes()


def test_a_detector_that_has_discovered_nothing_can_be_saved(tmp_path):
    known, labels, unknown = grains()
    detector = VBrand().fit(known, np.where(labels == "oat", 3, 7))
    detector.save(tmp_path / "model.vbrand")
    again = vbrand.load(tmp_path / "model.vbrand")
    assert np.array_equal(again.predict_proba(unknown), detector.predict_proba(unknown))
    assert again.predict(unknown)[-1] == -1
    assert next(again.answers(unknown))[1].clusters.max() == 2  # novel, like no group


def test_names_of_columns_travel(tmp_path):
    known, labels, unknown = grains()
    names = ["été", "a b", "</script>"]
    detector = VBrand().fit(pd.DataFrame(known, columns=names), labels)
    detector.save(tmp_path / "model.vbrand")
    again = vbrand.load(tmp_path / "model.vbrand")
    again.predict(pd.DataFrame(unknown, columns=names))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(pd.DataFrame(unknown, columns=names[::-1]))


def test_clusters_of_discovered_rows_are_those_of_the_discovery(saved):
    detector, unknown, _ = saved
    clusters = np.concatenate([answers.clusters for _, answers in detector.answers(unknown)])
    assert np.array_equal(clusters, detector.discovery_.clusters)


def test_a_novelty_like_no_group_says_so(saved):
    detector, _, _ = saved
    far = np.full((1, 3), 500.0)
    (_, answers), *_ = detector.answers(far)
    assert answers.labels[0] == "novel"
    assert answers.clusters[0] == len(detector.discovery_.groups)


@pytest.mark.parametrize("part", [0.0, 0.001, 0.01, 0.3, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_refused(saved, tmp_path, part):
    whole = saved[2].read_bytes()
    cut = tmp_path / "cut.vbrand"
    cut.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(ModelFileError, match=r"cut off or altered|not a model file"):
        vbrand.load(cut)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_file_with_one_altered_byte_is_refused(saved, tmp_path, data):
    whole = bytearray(saved[2].read_bytes())
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    altered = tmp_path / "altered.vbrand"
    altered.write_bytes(whole)
    with pytest.raises(ModelFileError):
        vbrand.load(altered)


def test_a_newer_file_says_upgrade(saved, tmp_path):
    newer = tmp_path / "newer.vbrand"
    now, next_one = f"vbrand model {SCHEMA}\n".encode(), f"vbrand model {SCHEMA + 1}\n".encode()
    newer.write_bytes(saved[2].read_bytes().replace(now, next_one, 1))
    sentence = rf"newer vbrand \(schema {SCHEMA + 1}; this one reads up to {SCHEMA}\). Upgrade"
    with pytest.raises(ModelFileError, match=sentence):
        vbrand.load(newer)


def test_there_was_no_schema_before_the_first(saved, tmp_path):
    path = tmp_path / "older.vbrand"
    path.write_bytes(saved[2].read_bytes().replace(f"vbrand model {SCHEMA}\n".encode(), b"vbrand model 0\n", 1))
    with pytest.raises(ModelFileError, match="is not a model file of vbrand"):
        vbrand.load(path)


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


def test_nothing_in_a_file_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pickle.vbrand").write_bytes(pickle.dumps(Bomb()))
    with zipfile.ZipFile(tmp_path / "zip.vbrand", "w") as archive:
        archive.writestr("model.npy", pickle.dumps(Bomb()))
    np.save(tmp_path / "array.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    for name in ("pickle.vbrand", "zip.vbrand", "array.npy"):
        with pytest.raises(ModelFileError, match="not a model file"):
            vbrand.load(tmp_path / name)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[" * 100_000,
        b'{"tree": 1}',
        b'{"arrays": [], "tree": {"array": 0}}',
        b'{"arrays": [{"dtype": "|O", "shape": [1]}], "tree": 1}',
        b'{"arrays": [{"dtype": "<f8", "shape": [1000000000000]}], "tree": 1}',
        b'{"arrays": [{"dtype": "<f8", "shape": [-1]}], "tree": 1}',
        b'{"arrays": [{"dtype": "<f8", "shape": ["1"]}], "tree": 1}',
        b'{"arrays": {"a": 1}, "tree": 1}',
        b'{"arrays": [], "tree": {"__class__": "os.system"}}',
        b'{"arrays": [], "tree": ' + b"9" * 10_000 + b"}",
        b'{"arrays": [], "tree": [' + b"[]," * 3_000_000 + b"1]}",
        b'{"arrays": [' + b'{"dtype": "<f8", "shape": [0]},' * 300_000 + b'{}], "tree": 1}',
    ],
)
def test_a_forged_header_is_refused_and_takes_no_memory(tmp_path, header):
    path = forged(tmp_path / "forged.vbrand", header)
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        vbrand.load(path)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000 + len(header)
    tracemalloc.stop()


def places_in(tree, at=()):
    if isinstance(tree, dict) and set(tree) != {"array"}:
        for name, part in tree.items():
            yield (*at, name)
            yield from places_in(part, (*at, name))
    elif isinstance(tree, list):
        for i, part in enumerate(tree[:2]):
            yield from places_in(part, (*at, i))


def changed_at(header, at, odd):
    """Return the header with another part at some place of the tree; None if it is there already."""
    changed = json.loads(json.dumps(header))
    part = changed["tree"]
    for step in at[:-1]:
        part = part[step]
    if part[at[-1]] == odd:
        return None
    part[at[-1]] = odd
    return changed


def test_parts_that_do_not_fit_together_are_refused(saved, tmp_path):
    """Every part of the tree is replaced by things it can't be: one line says so, or the model still predicts."""
    header, body = taken_apart(saved[2])
    odds = (None, [], "x", -7, {"array": 0}, {"array": 10**6}, {"text": [1]})
    refusals, taken = [], []
    for at, odd in product(places_in(header["tree"]), odds):
        changed = changed_at(header, at, odd)
        if changed is None:
            continue
        try:
            detector = vbrand.load(forged(tmp_path / "odd.vbrand", changed, body))
        except ValueError as error:  # of the file or of a setting
            refusals.append(str(error))
        else:
            shares = detector.predict_proba(saved[1])
            assert shares.shape == (len(saved[1]), 3)
            assert np.isfinite(shares).all()
            taken.append(at)
    assert [text for text in refusals if not text.endswith(".") or "\n" in text] == []
    assert len(refusals) > 10 * len(taken)
    # what is taken says nothing of rows: settings of a later discovery, numbers and words of a report
    assert {at[0] if at[0] in ("versions", "settings", "facts") else at for at in taken} == {
        "versions",
        "settings",
        "facts",
        ("finding", "meaning", "checked", "rareness"),  # None: as in older files
        ("finding", "meaning", "checked", "votes"),  # likewise
        ("finding", "prior", "weights", "concentration"),
        ("finding", "posterior", "weights", "concentration"),
        # what a check needs, and what it found: without it later answers are unchecked
        ("learned", "witnesses"),
        ("learned", "prints"),
        ("learned", "ranges"),
        ("learned", "views", 0, 1, "lessons"),
        ("learned", "views", 0, 1, "lessons", "statistics", "evidence"),
        ("finding", "meaning", "checked"),
        ("finding", "meaning", "checked", "farthest"),
    }


@pytest.mark.parametrize(
    ("at", "odd", "sentence"),
    [
        (("facts", "threshold"), 10**400, "model.facts.threshold is no float"),
        (("settings", "tol"), 10**400, "tol is 1000"),
        (("facts", "groups"), [], "a row belongs to no group"),
        (("learned", "classes"), {"text": ["oat", "oat"]}, "its classes are no labels"),
        (("learned", "classes"), {"text": ["oat", "novel"]}, "a class is called as novelty is"),
        (("learned", "classes"), {"text": ["oat", "\ud800"]}, r"model.learned.classes\[1\] is no text"),
        (("kernel",), "student", "model has a part 'kernel' that is not known"),
        (
            ("finding", "prior", "components", "tail"),
            [],
            "model.finding.prior.components has a part 'tail' that is not known",
        ),
        (("versions", "numpy"), 2, "model.versions.numpy is no str"),
        (
            ("learned", "views", 0, 0, "dof"),
            -1.0,
            r"views\[0\]\[0\]: a Student t has -1 degrees of freedom; a positive number",
        ),
        (
            ("learned", "views", 0, 0, "name"),
            "cauchy",
            r"views\[0\]\[0\] is called 'cauchy', not 'gaussian' or 'student'",
        ),
        (("finding", "posterior", "components", "kernels"), [], "a component has no kernel"),
    ],
)
def test_values_that_would_fail_later_are_refused(saved, tmp_path, at, odd, sentence):
    header, body = taken_apart(saved[2])
    part = header["tree"]
    for step in at[:-1]:
        part = part[step]
    part[at[-1]] = odd
    with pytest.raises(ValueError, match=sentence):
        vbrand.load(forged(tmp_path / "odd.vbrand", header, body))


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("scatters", np.nan),
        ("scatters", -1.0),
        ("scatters", 1e308),
        ("average", np.nan),
        ("centres", 1e308),
        ("rows", -1),
        ("counts", -1.0),
        ("squares", 1e308),
        ("squares", -1.0),
        ("classes", -1e308),
        ("novelty", 1.5),
        ("dof", 1e308),
        ("dirichlet", 1e308),
        ("log_weights", -1e308),
        ("class_of", 0),
    ],
)
def test_numbers_that_no_fit_gives_are_refused_at_the_door(saved, tmp_path, part, value):
    """They loaded, and then failed in `discover` or gave NaN."""
    with pytest.raises(ModelFileError, match="is damaged, or was not written by vbrand"):
        vbrand.load(with_numbers(saved[2], tmp_path / "odd.vbrand", part, value))


def test_lessons_that_are_not_those_of_the_labelled_rows_are_told_as_such_or_answer(saved, tmp_path):
    """Rows that count for nothing may leave less than nothing where they are forgotten, and no scatter."""
    odd = vbrand.load(with_numbers(saved[2], tmp_path / "odd.vbrand", "weights", 1e-30))
    try:
        assert np.isfinite(odd.discover(saved[1]).probabilities).all()
    except ValueError as error:
        assert "do not fit what was learned from them" in str(error)  # noqa: PT017


def with_numbers(path, odd, part, value):
    """Write a model again with other numbers in the first array that is called so; return where it lies."""
    header, body = taken_apart(path)
    sizes = [np.dtype(each["dtype"]).itemsize * math.prod(each["shape"]) for each in header["arrays"]]
    index = arrays_called(part, header["tree"])[0]
    start, array = sum(sizes[:index]), header["arrays"][index]
    numbers = np.full(array["shape"], value, dtype=array["dtype"]).tobytes()
    return forged(odd, header, body[:start] + numbers + body[start + sizes[index] :])


def arrays_called(name, tree):
    """Return the numbers of the arrays that are called so anywhere in a tree."""
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    own = [part["array"] for each, part in parts if each == name and isinstance(part, dict) and "array" in part]
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return own + [found for part in parts for found in arrays_called(name, part)]


@pytest.mark.parametrize(
    "at",
    [
        ("finding", "meaning"),
        ("finding", "prior", "components", "kernels"),
        ("learned", "views", 0, 0, "dof"),
    ],
)
def test_a_part_without_a_default_is_missed_by_name(saved, tmp_path, at):
    header, body = taken_apart(saved[2])
    part = header["tree"]
    for step in at[:-1]:
        part = part[step]
    del part[at[-1]]
    with pytest.raises(ModelFileError, match=f"has no {at[-1]}"):
        vbrand.load(forged(tmp_path / "short.vbrand", header, body))


def test_a_part_that_has_a_default_may_be_missing(saved, tmp_path):
    detector, unknown, path = saved
    header, body = taken_apart(path)
    del header["tree"]["finding"]["posterior"]["weights"]["concentration"]
    again = vbrand.load(forged(tmp_path / "short.vbrand", header, body))
    assert np.array_equal(again.predict_proba(unknown), detector.predict_proba(unknown))


def test_numbers_that_are_not_finite_are_refused(saved, tmp_path):
    """Of all arrays in turn: a model that loads predicts numbers."""
    header, body = taken_apart(saved[2])
    begin = 0
    for each in header["arrays"]:
        size = int(np.prod(each["shape"])) * np.dtype(each["dtype"]).itemsize
        if each["dtype"] == "<f8" and size:
            for odd in (np.nan, np.inf, -1.0):
                changed = body[:begin] + np.float64(odd).tobytes() + body[begin + 8 :]
                with contextlib.suppress(ModelFileError):
                    detector = vbrand.load(forged(tmp_path / "odd.vbrand", header, changed))
                    assert np.isfinite(detector.predict_proba(saved[1])).all()
                    list(detector.answers(saved[1]))
        begin += size


@pytest.mark.parametrize(
    "settings",
    [
        {"concentration": (np.float32(1), np.int64(2))},
        {"novel_mean": (np.float32(0), 1.0, 2.0)},
        {"threshold": Fraction(1, 2)},
        {"max_novel": np.int64(7)},
    ],
)
def test_settings_of_any_kind_of_number_are_kept(tmp_path, settings):
    known, labels, unknown = grains()
    detector = VBrand(**settings).fit(known, labels)
    detector.save(tmp_path / "model.vbrand")
    assert np.array_equal(
        vbrand.load(tmp_path / "model.vbrand").predict_proba(unknown), detector.predict_proba(unknown)
    )


@pytest.mark.parametrize("categories", [["colour"], ("colour",), np.array(["colour"]), [1], np.array([1])])
def test_which_columns_are_categories_is_kept(tmp_path, categories):
    """Names could not be saved, and places came back as numbers that are no places."""
    known, labels, _ = grains(columns=1)
    table = pd.DataFrame({"size": known[:, 0], "colour": np.where(np.arange(80) % 3, "red", "blue")})
    detector = VBrand(random_state=0, check=0, categories=categories).fit(table, labels)
    detector.save(tmp_path / "model.vbrand")
    again = vbrand.load(tmp_path / "model.vbrand")
    assert (again.predict(table) == detector.predict(table)).all()
    assert again.fit(table, labels).categories_ == detector.categories_


@pytest.mark.parametrize("odd", [{}, {"a": 1}, [[1]], [{}]])
def test_settings_that_are_none_are_refused(saved, tmp_path, odd):
    header, body = taken_apart(saved[2])
    header["tree"]["settings"]["categories"] = odd
    with pytest.raises(ModelFileError, match="the setting categories is none"):
        vbrand.load(forged(tmp_path / "odd.vbrand", header, body))


def test_a_pipe_is_no_model(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a model file"):
        vbrand.load(tmp_path / "pipe")


def test_scatters_that_are_none_are_refused(saved, tmp_path):
    header, body = taken_apart(saved[2])
    with pytest.raises(ModelFileError, match="damaged"):
        vbrand.load(forged(tmp_path / "zeros.vbrand", header, bytes(len(body))))


def test_saving_replaces_a_file_at_once(saved, tmp_path):
    detector, _, path = saved
    target = tmp_path / "model.vbrand"
    target.write_text("before")
    detector.save(target)
    assert target.read_bytes() == path.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["model.vbrand"]


def test_settings_that_a_file_can_not_hold_are_left_out(tmp_path):
    known, labels, unknown = grains()
    detector = VBrand(random_state=np.random.RandomState(0), init=["oat"] * 30 + ["new"] * 25).fit(known, labels)
    detector.discover(unknown)
    detector.save(tmp_path / "model.vbrand")
    again = vbrand.load(tmp_path / "model.vbrand")
    assert again.init is None
    assert again.random_state is None
    assert again.concentration == (1.0, 1.0)


def test_before_fit_there_is_nothing_to_save(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        VBrand().save(tmp_path / "model.vbrand")
    assert not list(tmp_path.iterdir())
