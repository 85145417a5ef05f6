"""What a detector leaves on disk when no labelled row may be in it."""

import numpy as np
import pandas as pd
from tables import grain_rows

from vbrand import VBrand, load
from vbrand.estimators.model_file import read_model


def test_a_model_without_rows_has_none_on_its_map_either(tmp_path):
    known, labels, new, _ = grain_rows()
    detector = VBrand(random_state=0).fit(known, labels)
    detector.discover(new)
    detector.save(tmp_path / "with")
    detector.save(tmp_path / "without", rows=False)
    held, bare = read_model(tmp_path / "with"), read_model(tmp_path / "without")
    assert held.facts.labelled.scores.shape[0] == held.facts.labelled.classes.size == 80
    assert held.learned.witnesses is not None
    assert bare.facts.labelled is None
    assert bare.learned.witnesses is None
    np.testing.assert_array_equal(load(tmp_path / "without").predict(new), detector.predict(new))


def test_categories_that_the_user_names_are_found_saved_and_loaded(tmp_path):
    rng = np.random.default_rng(0)
    member = np.arange(120) % 3
    table = pd.DataFrame({"ash": 9.0 * member + rng.normal(size=120), "grade": member + 1})
    detector = VBrand(random_state=0, check=0, categories=["grade"]).fit(
        table[member < 2][:40], member[member < 2][:40]
    )
    found = detector.discover(table)
    detector.save(tmp_path / "model.vbrand")
    again = load(tmp_path / "model.vbrand")
    assert again.get_params()["categories"] == ("grade",)
    np.testing.assert_array_equal(again.predict(table), found.labels)
