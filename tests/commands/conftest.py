"""What the tests of the commands share."""

import pytest
from calls import discover
from tables import write_grain


@pytest.fixture(scope="module", autouse=True)
def _maps(quick_maps):
    """Nothing here looks at t-SNE's view of a map; tests of maps and pictures do."""


@pytest.fixture(scope="session")
def answered(tmp_path_factory):
    """Return a folder with train.csv, test.csv and in "out" what `vbrand discover` makes of them."""
    folder = tmp_path_factory.mktemp("answered")
    train, test = write_grain(folder)
    discover(folder, train, test, "--label", "variety", "--truth", "truth", "-q")
    return folder
