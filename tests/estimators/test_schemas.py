"""Model files outlive classes: files of every schema load, answer as they did, and can be worked with."""

import json
from pathlib import Path

import numpy as np
import pytest
from forged import forged, taken_apart
from golden import make

import vbrand
from vbrand.estimators.model_file import read_model
from vbrand.estimators.schemas import SCHEMA, upgraded
from vbrand.io.files.container import ModelFileError, read_tree
from vbrand.io.files.trees import WrongTreeError
from vbrand.model.kernels import Gaussian, Student

GOLDEN = Path(__file__).parents[1] / "golden"
MODELS = [
    (said.stem, name, expected)
    for said in sorted(GOLDEN.glob("schema*.json"))
    for name, expected in json.loads(said.read_text()).items()
]
each_golden_file = pytest.mark.parametrize(
    ("schema", "name", "expected"), MODELS, ids=[f"{schema}-{name}" for schema, name, _ in MODELS]
)


def same_answers(detector, expected):
    found = make.answers(detector, make.table(expected["rows"], expected["columns"]))
    assert found["predict"] == expected["predict"]
    for part in ("proba", "score", "novelty"):
        np.testing.assert_allclose(found[part], expected[part], rtol=1e-9)


def schema_of(path):
    return int(path.read_bytes().split(b"\n", 1)[0].removeprefix(b"vbrand model "))


@each_golden_file
def test_a_golden_file_answers_as_it_did_and_still_does_when_saved_again(tmp_path, schema, name, expected):
    path = GOLDEN / f"{schema}-{name}.vbrand"
    assert schema == f"schema{schema_of(path)}"
    detector = vbrand.load(path)
    same_answers(detector, expected)
    detector.save(tmp_path / "again.vbrand")
    assert schema_of(tmp_path / "again.vbrand") == SCHEMA
    same_answers(vbrand.load(tmp_path / "again.vbrand"), expected)


@each_golden_file
def test_a_golden_file_discovers_again(schema, name, expected):
    detector = vbrand.load(GOLDEN / f"{schema}-{name}.vbrand")
    _, unknown = make.grains(len(expected["rows"][0]))
    found = detector.discover(make.table(unknown, expected["columns"]))
    novel = -1 if found.classes.dtype.kind == "i" else "novel"
    assert (found.labels[:30] == found.classes[0]).all()
    assert (found.labels[30:] == novel).all()


@each_golden_file
def test_a_golden_file_goes_on_with_a_batch(schema, name, expected):
    detector = vbrand.load(GOLDEN / f"{schema}-{name}.vbrand")
    _, unknown = make.grains(len(expected["rows"][0]))
    found = detector.update(make.table(unknown[10:50], expected["columns"]))
    assert (found.clusters[:20] == 0).all()
    assert {found.groups[k].name for k in found.clusters[20:]} == {"novel 1"}
    assert detector.events()[-1].group == "novel 1"


@pytest.mark.parametrize("number", range(1, SCHEMA + 1))
def test_there_are_golden_files_of_every_schema(number):
    assert {name for schema, name, _ in MODELS if schema == f"schema{number}"} >= set(make.PROBLEMS)


def test_golden_files_can_be_made_once(tmp_path):
    make.write(tmp_path)
    said = json.loads((tmp_path / f"schema{SCHEMA}.json").read_text())
    assert set(said) == {name for schema, name, _ in MODELS if schema == "schema1"}
    for name, expected in said.items():
        same_answers(vbrand.load(tmp_path / f"schema{SCHEMA}-{name}.vbrand"), expected)
    with pytest.raises(FileExistsError, match="never renewed"):
        make.write(tmp_path)


def test_a_tail_of_schema_1_is_a_kernel():
    auto = read_model(GOLDEN / "schema1-auto.vbrand")
    views, finding = auto.learned.views, auto.finding
    assert [kernel for kernel, _ in views] == [Student(15.0), Student(5.0), Student(40.0), Gaussian()]
    assert set(finding.prior.components.kernels) == {views[finding.chosen][0]}
    assert set(finding.posterior.components.kernels) == {views[finding.chosen][0]}


def test_a_model_of_schema_1_that_has_discovered_nothing_predicts_by_its_prior():
    finding = read_model(GOLDEN / "schema1-undiscovered.vbrand").finding
    np.testing.assert_array_equal(finding.posterior.components.mean, finding.prior.components.mean)
    assert finding.group_components.size == 0


def test_a_step_leaves_the_tree_that_it_is_given_as_it_is():
    tree, schema = read_tree(GOLDEN / "schema1-grains.vbrand", SCHEMA)
    before = repr(tree)
    assert upgraded(tree, schema) is not tree
    assert repr(tree) == before
    assert upgraded(tree, SCHEMA) is tree


@pytest.mark.parametrize(
    "tree", [None, 7, [], {}, {"views": 1}, {"views": [[1.0, {}]], "prior": {}, "posterior": None}]
)
def test_what_is_no_tree_of_an_old_schema_is_refused(tree):
    with pytest.raises(WrongTreeError, match="does not have the parts of schema 1"):
        upgraded(tree, 1)


def test_an_old_file_with_a_tail_that_is_none_is_refused(tmp_path):
    header, body = taken_apart(GOLDEN / "schema1-grains.vbrand")
    header["tree"]["views"][0][0] = -3.0
    with pytest.raises(ModelFileError, match="a Student t has -3 degrees of freedom; a positive number is expected"):
        vbrand.load(forged(tmp_path / "odd.vbrand", header, body, schema=1))


def test_a_file_of_this_schema_may_not_call_itself_an_older_one(tmp_path):
    """Its parts are told apart by names: nothing is read as what it is not."""
    vbrand.load(GOLDEN / "schema1-grains.vbrand").save(tmp_path / "now.vbrand")
    header, body = taken_apart(tmp_path / "now.vbrand")
    with pytest.raises(ModelFileError, match="does not have the parts of schema 1"):
        vbrand.load(forged(tmp_path / "odd.vbrand", header, body, schema=1))
    header, body = taken_apart(GOLDEN / "schema1-grains.vbrand")
    with pytest.raises(ModelFileError, match="damaged, or was not written by vbrand"):
        vbrand.load(forged(tmp_path / "odd.vbrand", header, body, schema=SCHEMA))
