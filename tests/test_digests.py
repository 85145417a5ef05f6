"""Answers stay the same to the last bit while the code is moved about.

`digests.json` holds, for each kind of machine it was made on, a hash of labels, bounds, draws and predictions on some
problems. Another processor or another version of numpy, scipy, numba or scikit-learn rounds otherwise and may give
other bits, so there the test is skipped. Work that changes answers on purpose renews the file:

    make digests
"""

import hashlib
import json
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_name
from numba import config
from shared import SHARED, statlog
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_info, threadpool_limits

from vbrand import MRCD, BrandSampler, VBrand, partition
from vbrand.studies.simulate import simulate

KEPT = Path(__file__).with_name("digests.json")


def machine():
    """Return what bits depend on: the processor as numba and BLAS see it, and versions."""
    cores = sorted({str(each.get("architecture")) for each in threadpool_info() if each["user_api"] == "blas"})
    versions = [f"{name} {version(name)}" for name in ("numpy", "scipy", "numba", "scikit-learn")]
    return ", ".join([config.CPU_NAME or get_host_cpu_name(), *cores, *versions])


def digest(*parts):
    found = hashlib.sha256()
    for part in parts:
        array = np.asarray(part)
        found.update(
            str(array.tolist()).encode() if array.dtype.kind in "OU" else np.ascontiguousarray(array).tobytes()
        )
    return found.hexdigest()[:16]


def grains(columns, seed=0):
    rng = np.random.default_rng(seed)
    known = np.vstack([rng.normal(0, 1, (40, columns)), rng.normal(8, 1, (40, columns))])
    unknown = np.vstack([rng.normal(0, 1, (30, columns)), rng.normal(-9, 1, (25, columns))])
    return known, np.repeat(["oat", "rye"], 40), unknown


def answers(detector, train, labels, test):
    """Return the digest of all that a detector says of rows, before and after it has seen them."""
    with warnings.catch_warnings(action="ignore"):
        before = detector.fit(train, labels).predict_proba(test)
        found = detector.discover(test)
        known = detector.known_classes_
        after = detector.predict(test), detector.predict_proba(test), detector.novelty_score(test)
        density = detector.score_samples(test)
    said = [found.labels, found.clusters, found.novelty_probability, found.novelty_score, found.probabilities]
    groups = [group.weight for group in found.groups], [group.centre for group in found.groups]
    count = found.n_groups.mean, found.n_groups.low, found.n_groups.high
    bound = (found.elbo, *found.traces) if isinstance(detector, VBrand) else (found.chains.weights,)
    words = str(found), str(found.summary()), str(found.explain(0))
    stage1 = known.centres, known.scatters, known.class_of
    return digest(*stage1, before, *said, *groups, *count, *bound, *after, density, *words)


def by_settings(columns=3, seed=0, **settings):
    return answers(VBrand(random_state=0, **settings), *grains(columns, seed))


def by_sampler(**settings):
    return answers(BrandSampler(n_draws=60, n_burn=20, n_chains=2, random_state=0, **settings), *grains(3))


def simulated(study, detector, **how):
    data = simulate(study, 3, **how)
    return answers(detector or VBrand(random_state=0), data.train, data.train_classes, data.test)


def by_paper(study):
    data = simulate(study, 3, size=0.5)
    detector = VBrand.paper(data.train, study if study == "ss1" else "ss2", n_starts=4, random_state=0)
    return answers(detector, data.train, data.train_classes, data.test)


def wine():
    table = load_wine()
    known = (table.target != 1) & (np.arange(178) % 2 == 0)
    return answers(VBrand(random_state=0), table.data[known], table.target[known], table.data[~known])


def demo():
    pixels, digit = load_digits(return_X_y=True)
    learn, test, learned, _ = train_test_split(pixels, digit, test_size=0.5, random_state=0, stratify=digit)
    seen = ~np.isin(learned, (3, 8))
    reduce = PCA(30, random_state=0).fit(learn[seen])
    return answers(VBrand(random_state=0), reduce.transform(learn[seen]), learned[seen], reduce.transform(test))


def soils(detector):
    rows, codes = statlog()
    known = ~np.isin(codes, [2, 5])
    return answers(detector(rows[known]), rows[known], codes[known], statlog("tst")[0])


def long_table():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 120_000)
    test = np.array([0.0, 8.0, -9.0])[truth][:, None] + rng.normal(size=(truth.size, 3))
    train = np.vstack([rng.normal(0, 1, (60, 3)), rng.normal(8, 1, (60, 3))])
    return answers(VBrand(random_state=0, n_jobs=2), train, np.repeat([0, 1], 60), test.astype(np.float32))


def robust():
    rows = np.random.default_rng(0).normal(size=(60, 5)) * [1, 10, 0.1, 1, 1]
    fits = [MRCD(target=target).fit(rows) for target in ("identity", "equicorrelation")]
    return digest(*(part for fit in fits for part in (fit.location_, fit.covariance_, fit.support_, fit.rho_)))


def summed_up():
    draws = np.random.default_rng(0).integers(0, 4, (50, 40))
    found = [partition.best_partition(draws, loss=loss, random_state=0) for loss in ("vi", "binder")]
    return digest(partition.similarity(draws), *(part for each in found for part in (each.labels, each.runs)))


PROBLEMS = {
    "robust": robust,
    "partition": summed_up,
    "wine": wine,
    "demo": demo,
    "long": long_table,
    "grains": by_settings,
    "grains wide": lambda: by_settings(60),
    "grains reduced": lambda: by_settings(8, reduce=3),
    "grains auto": lambda: by_settings(kernel="auto"),
    "grains fixed": lambda: by_settings(update_known=False, scatter="mrcd", kernel="gaussian"),
    "grains fixed heavy": lambda: by_settings(update_known=False, scatter="empirical"),
    "grains number": lambda: by_settings(concentration=0.5, max_novel=3, novel_mean=[0.0, 1, 2], novel_scale=np.eye(3)),
    "grains none": lambda: by_settings(search="none", kernel="gaussian", scatter="mcd"),
    "grains init": lambda: by_settings(init=["oat"] * 30 + ["new"] * 25),
    "sampler": by_sampler,
    "sampler fixed": lambda: by_sampler(update_known=False, init="known"),
    "sampler random": lambda: by_sampler(init="random", concentration=2.0, reduce=2),
    "ss1": lambda: simulated("ss1", None),
    "ss1 paper": lambda: by_paper("ss1"),
    "ss2 paper": lambda: by_paper("ss2_complex"),
    "ss2 wide": lambda: simulated("ss2_complex", None, size=0.3, columns=18),
    "ss3": lambda: simulated("ss3_high", None),
    "statlog": lambda: soils(lambda rows: VBrand(random_state=0)),
    "statlog paper": lambda: soils(lambda rows: VBrand.paper(rows, "statlog", search="moves", random_state=0)),
}


def solved(problem):
    """Return the digest of a problem; with one thread, for the sums of BLAS depend on their number."""
    with threadpool_limits(1):
        return PROBLEMS[problem]()


@pytest.mark.parametrize("problem", PROBLEMS)
def test_answers_are_the_same_bit_for_bit(problem):
    kept = json.loads(KEPT.read_text()).get(machine())
    if kept is None:
        pytest.skip(f"no digests of this kind of machine: {machine()}")
    if problem.startswith("statlog") and not SHARED.is_dir():
        pytest.skip("the team's oracles and data are not beside this clone")
    assert solved(problem) == kept[problem]


def renew():
    """Write the digests of this kind of machine; those of others are of answers that no longer hold."""
    found = {}
    for name in PROBLEMS:
        found[name] = solved(name)
        print(name, found[name], flush=True)
    KEPT.write_text(json.dumps({machine(): found}, indent=2) + "\n")


if __name__ == "__main__":
    renew()
