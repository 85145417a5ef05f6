"""Batch after batch, and what a person says in between: names that are right, wrong, or odd."""

import numpy as np
from attack.judge import want, want_answer

import vbrand
from vbrand import VBrand

_NAMES = (
    "wheat",
    "oat",
    "novel 1",
    "novel 7",
    "novel",
    "",
    " ",
    "-1",
    "\x1b[2J",
    "a\0",
    "x" * 5_000,
    3,
    None,
    1.5,
    ["a"],
    {},
)


def _batch(generator, centres):
    """Return the rows of a batch: of some of the groups, few or many, at times odd ones."""
    some = generator.integers(len(centres), size=int(generator.choice([1, 2, 5, 30, 60])))
    rows = centres[some] + generator.normal(size=(some.size, centres.shape[1]))
    odd = generator.random()
    if odd < 0.1:
        rows *= 10.0 ** generator.integers(-3, 8)
    elif odd < 0.2:
        rows = np.round(rows)
    elif odd < 0.3:
        rows[generator.random(rows.shape) < 0.3] = np.nan
    elif odd < 0.35:
        rows[:] = rows[0]
    return rows


def _say(detector, generator):
    """Say something of a group or a class; a sentence that refuses it is an answer, too."""
    groups = [*detector.group_names, *_NAMES]
    group, name = (groups[generator.integers(len(groups))] for _ in range(2))
    before = detector.classes_.tolist()
    try:
        how = generator.integers(4)
        if how == 0:
            detector.name(group, name)
        elif how == 1:
            detector.join(group, name)
        elif how == 2:
            detector.rename(group, name)
        else:
            detector.forget(group)
    except ValueError as error:
        want(15 < len(str(error)) < 1_000 and "\n" not in str(error), f"no sentence: {str(error)[:200]}")
        want(detector.classes_.tolist() == before, "what was refused has changed the classes")


def go_on(generator, folder):
    """Update a few times, with words between, files between, and a discovery now and then."""
    p = int(generator.integers(1, 4))
    centres = generator.normal(0.0, 8.0, (int(generator.integers(2, 6)), p))
    member = np.repeat(np.arange(2), generator.integers(8, 40, 2))
    labels = np.array(["oat", "rye"])[member] if generator.random() < 0.7 else member
    detector = VBrand(random_state=0, check=int(generator.choice([0, 3])), max_novel=int(generator.choice([2, 10])))
    detector.fit(centres[member] + generator.normal(size=(member.size, p)), labels)
    for _ in range(int(generator.integers(2, 6))):
        rows = _batch(generator, centres)
        try:
            found = detector.discover(rows) if generator.random() < 0.15 else detector.update(rows)
        except ValueError as error:
            want(15 < len(str(error)) < 1_000 and "\n" not in str(error), f"no sentence: {str(error)[:200]}")
            continue
        want_answer(detector, found, rows)
        for _ in range(int(generator.integers(3))):
            _say(detector, generator)
        want(np.isfinite(detector.predict_proba(rows)).all(), "predictions are not finite")
        want(len(set(detector.group_names)) == len(detector.group_names), "two groups have one name")
        str(detector.events())
        if generator.random() < 0.3:
            detector.save(folder / "model.vbrand", rows=bool(generator.random() < 0.8))
            again = vbrand.load(folder / "model.vbrand")
            want((again.predict(rows) == detector.predict(rows)).all(), "a saved model predicts otherwise")
            detector = again
