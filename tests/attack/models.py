"""Model files that somebody has changed, with a right checksum around them: refused, or they answer."""

import functools
import json
import tempfile
from pathlib import Path

import numpy as np
from attack.judge import want
from forged import forged, taken_apart

import vbrand
from vbrand import VBrand
from vbrand.pictures.page import report_html

_NUMBERS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e30, -1e30, -1.0, 0.0, 1e-308, 1e-30)
_PARTS = (None, [], {}, "x", "\x1b[2J", -7, 10**400, 1.5, True, {"array": 0}, {"array": 10**6}, {"text": [1]})
_UNKNOWN = np.random.default_rng(1).normal(0, 4, (40, 3))


@functools.cache
def _model():
    """Return the header and the arrays of a whole model."""
    generator = np.random.default_rng(0)
    rows = np.vstack([generator.normal(0, 1, (40, 3)), generator.normal(8, 1, (40, 3))])
    detector = VBrand(random_state=0).fit(rows, np.repeat(["oat", "rye"], 40))
    detector.discover(_UNKNOWN)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.vbrand"
        detector.save(path)
        return taken_apart(path)


def change(generator, folder):
    """Change some numbers, a part of the header, or some bytes; load it, predict, report, at times discover."""
    header, body = _model()
    how = generator.integers(4)
    if how < 2:
        body = _other_numbers(header, bytearray(body), generator)
    elif how == 2:
        header = _other_part(json.loads(json.dumps(header)), generator)
    else:
        body = _other_bytes(bytearray(body), generator)
    detector = vbrand.load(forged(folder / "odd.vbrand", header, bytes(body)))

    shares = detector.predict_proba(_UNKNOWN)
    want(np.isfinite(shares).all(), "predictions are not finite")
    model = detector.model()
    if model.facts is not None:
        report_html(model.facts, model.settings, model.versions)
    if generator.random() < 0.2:
        want(np.isfinite(detector.discover(_UNKNOWN).probabilities).all(), "probabilities are not finite")


def _other_numbers(header, body, generator):
    index = int(generator.integers(len(header["arrays"])))
    sizes = [np.dtype(each["dtype"]).itemsize * int(np.prod(each["shape"])) for each in header["arrays"]]
    start, dtype = sum(sizes[:index]), header["arrays"][index]["dtype"]
    values = np.frombuffer(bytes(body[start : start + sizes[index]]), dtype).copy()
    if values.size:
        number = _NUMBERS[generator.integers(len(_NUMBERS))]
        if dtype != "<f8":
            number = int(np.clip(np.nan_to_num(number), -(2**62), 2**62))
        values[generator.integers(values.size) if generator.random() < 0.7 else slice(None)] = number
    body[start : start + sizes[index]] = values.tobytes()
    return body


def _other_part(header, generator):
    part = header["tree"]
    while True:
        steps = sorted(part) if isinstance(part, dict) else range(len(part))
        step = steps[generator.integers(len(steps))]
        below = part[step]
        if not (isinstance(below, dict | list) and below) or generator.random() < 0.25:
            part[step] = _PARTS[generator.integers(len(_PARTS))]
            return header
        part = below


def _other_bytes(body, generator):
    for place in generator.integers(len(body), size=int(generator.integers(1, 8))):
        body[place] = generator.integers(256)
    return body
