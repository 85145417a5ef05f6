"""Labels in `init` become components: of a class its likeliest one, of any other label a novel one."""

import numpy as np
import pytest

from vbrand import VBrand


def test_labels_lead_to_components_and_anything_else_to_one_sentence():
    rng = np.random.default_rng(0)
    known = np.r_[rng.normal(0, 1, (40, 2)), rng.normal(9, 1, (40, 2))]
    new = np.r_[rng.normal(0, 1, (30, 2)), rng.normal(-9, 1, (30, 2))]
    start = ["oat"] * 30 + ["what is this"] * 30
    detector = VBrand(random_state=0, check=0, init=start).fit(known, np.repeat(["oat", "rye"], 40))
    assert detector.discover(new).clusters.tolist() == [0] * 30 + [2] * 30
    with pytest.raises(ValueError, match="init has 59 labels; one for each of the 60 rows is expected"):
        detector.set_params(init=start[1:]).discover(new)
