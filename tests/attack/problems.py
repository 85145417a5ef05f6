"""Random problems: few rows, ties, collinear and constant columns, wild cells, extreme units, odd settings."""

import numpy as np
from attack.judge import want_answer

from vbrand import VBrand


def random_problem(generator):
    """Return labelled rows, labels and unlabelled rows that somebody might have."""
    p, classes = int(generator.integers(1, 9)), int(generator.integers(1, 4))
    turn = generator.normal(size=(p, p)) if generator.random() < 0.5 else np.eye(p)
    centres = generator.normal(0.0, generator.choice([0.0, 3.0, 30.0]), (classes + 1, p))
    sizes = generator.integers(3, 60, classes)
    labels = np.repeat(np.arange(classes), sizes)
    known = (generator.normal(size=(labels.size, p)) + centres[labels]) @ turn
    places = centres[generator.integers(classes + 1, size=int(generator.integers(1, 80)))]
    unknown = (generator.normal(size=places.shape) + places) @ turn

    table = np.vstack([known, unknown])
    for deform in generator.choice([_rounded, _collinear, _constant, _wild, _units, _repeated], generator.integers(3)):
        table = deform(table, generator)
    return table[: labels.size], labels, table[labels.size :]


def _rounded(table, generator):
    return np.round(table, int(generator.integers(-1, 2)))


def _collinear(table, generator):
    return np.column_stack([table, table @ generator.normal(size=table.shape[1])])


def _constant(table, generator):
    table = table.copy()
    table[:, generator.integers(table.shape[1])] = 7.0
    return table


def _wild(table, generator):
    table = table.copy()
    rows = generator.integers(table.shape[0], size=int(generator.integers(1, 20)))
    table[rows] *= 10.0 ** generator.integers(2, 12)
    return table


def _units(table, generator):
    return table * 10.0 ** generator.integers(-320, 300, table.shape[1]).clip(-140, 130)


def _repeated(table, generator):
    return table[generator.integers(0, max(1, table.shape[0] // 3), table.shape[0])]


def solve(generator, folder):
    """Fit and discover."""
    known, labels, unknown = random_problem(generator)
    settings = {
        "kernel": generator.choice(["student", "gaussian"]).item(),
        "scatter": generator.choice(["modes", "modes", "mrcd", "mcd", "empirical"]).item(),
        "search": generator.choice(["moves", "moves", "none"]).item(),
        "check": int(generator.choice([0, 0, 0, 3])),
        "update_known": bool(generator.random() < 0.9),
        "random_state": int(generator.integers(100)),
    }
    detector = VBrand(**settings).fit(known, labels)
    want_answer(detector, detector.discover(unknown), unknown)
