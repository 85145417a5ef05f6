"""What counts as a failure: a traceback, NaN, a hang, nonsense, or a message that helps nobody."""

import os
import resource
import signal
import warnings
from contextlib import contextmanager

import numpy as np

# seconds of a processor that one attempt may take, its children included
LONGEST = 30.0
# and by the clock, on a machine that does much else
HANGS = 300
# megabytes by which the most memory that was ever needed may grow in one attempt: its input has less than one
MOST_MEMORY = 300.0
# words of numpy, joblib and Python that say nothing to someone with a table
_OF_OTHERS = (
    "not positive definite",
    "could not convert",
    "operands could not",
    "truth value of an array",
    "object is not",
    "not supported between",
    "did not converge",
    "codec can't",
    "nopython",
)


def failure_of(attempt, generator, folder):
    """Return what is wrong with the outcome of an attempt; None if it ended well, or in a sentence."""
    began, needed = sum(os.times()[:4]), _needed()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            with _alarm():
                attempt(generator, folder)
    except (ValueError, ImportError) as error:
        wrong = _wrong_sentence(str(error))
        if wrong or type(error) is ImportError:
            return f"{type(error).__name__}: {wrong}: {str(error)[:200]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]!r}"
    took, more = sum(os.times()[:4]) - began, _needed() - needed
    if more > MOST_MEMORY:
        return f"took {more:.0f} MB of memory"
    return f"took {took:.0f} s" if took > LONGEST else None


def _needed():
    """Return the most memory that this process ever had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def _alarm():
    """Wake an attempt that waits for something that never comes: sleep takes no time of a processor."""

    def ring(*_):
        raise TimeoutError(f"it hangs: no end after {HANGS} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(HANGS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _wrong_sentence(text):
    if "\n" in text.strip() or len(text) > 1_000:
        return "more than a sentence"
    if any(words in text for words in _OF_OTHERS):
        return "a message of another package"
    return "no sentence" if len(text) < 15 else ""


def want(holds, complaint):
    """Fail an attempt whose outcome is not as it should be."""
    if not holds:
        raise AssertionError(complaint)


def want_answer(detector, found, rows):
    """Fail an attempt whose answer is no answer."""
    n = len(rows)
    shares = found.probabilities
    want(np.isfinite(shares).all() and shares.shape[0] == n, "probabilities are not finite")
    want(bool((np.abs(shares.sum(axis=1) - 1.0) < 1e-6).all()), "probabilities do not sum to 1")
    want(len(found.labels) == n and np.isfinite(found.novelty_probability).all(), "labels or P(novel) are missing")
    for values in (detector.predict_proba(rows), detector.novelty_score(rows), detector.score_samples(rows)):
        want(np.isfinite(values).all(), "predictions are not finite")
    for trace in found.traces:
        # relative to the bound there: far rows let an ascent begin at -1e14
        fall = (np.diff(trace) / np.maximum(1.0, np.abs(trace[1:]))).min(initial=0.0)
        want(fall >= -1e-6, f"the bound fell by {-fall:.3g} of its size")
