"""What tests of sources share: one cluster, for its processes take longer to start than most tests to run."""

import pytest


@pytest.fixture(scope="session")
def client():
    """Return the client of two processes, which are started again when they are killed."""
    from clusters import cluster

    with cluster(2) as client:
        yield client
