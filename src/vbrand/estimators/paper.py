"""The settings of the paper's studies, as really run."""

from typing import Any, Self

import numpy as np

from vbrand.checks import check_choice
from vbrand.types import FloatArray


class Published:
    """Gives a detector the settings of the paper."""

    @classmethod
    def paper(cls, X: Any, study: str = "statlog", **changes: Any) -> Self:
        """Return a detector with the settings of the paper, derived from labelled rows as in one of its studies.

        One Gaussian per class, its MCD, the study's priors, 200 restarts.

        Parameters
        ----------
        X : table of shape (n, p)
            The labelled rows.
        study : "statlog", "ss1", "ss2" or "ss3", default "statlog"
            "statlog", the real-data study, is the one for tables of your own: its priors come from the mean and
            covariance of X.
        **changes
            Settings that should be different.

        Returns
        -------
        detector
            Not fitted yet.

        Examples
        --------
        >>> VBrand.paper(known, n_starts=20).kernel
        'gaussian'
        """
        check_choice("study", study, ("statlog", "ss1", "ss2", "ss3"))
        own = paper_settings(study, np.asarray(X, dtype=np.float64))
        settings: dict[str, Any] = {"search": "restarts", "check": 0, **own, **changes}
        return cls(**settings)


def sampler_settings(columns: int) -> dict[str, Any]:
    """Return the settings of BrandSampler with which SS2 was run; its length is not among them."""
    strength = 20.0 - columns - 1.0
    return {
        "scatter": "mcd",
        "support_fraction": 0.75,
        "known_weight": 1.0,
        "novel_weight": 0.1,
        "concentration": (1.0, 5.0),
        "novel_mean": np.zeros(columns),
        "novel_mean_strength": 0.1,
        "novel_dof": columns + 2.0,
        "novel_scale": 3.0 * np.eye(columns),
        "known_mean_strength": columns + 11.0,
        "known_scatter_strength": strength,
        "kappa": 0.25,
    }


def paper_settings(study: str, train: FloatArray) -> dict[str, Any]:
    """Return the settings of VBrand with which a study of the paper was run on these labelled rows.

    Studies are ss1, ss2, ss3 (its grid's middle of the road: alpha .1, gamma 5.5, lambda_0 1, nu_0 4) and statlog.
    """
    p = train.shape[1]
    shared = {
        "kernel": "gaussian",
        "scatter": "mcd",
        "support_fraction": 0.5,
        "known_weight": 0.1,
        "novel_weight": 0.1,
        "novel_dof": p + 2.0,
    }

    own: dict[str, dict[str, Any]] = {
        "ss1": {
            "max_novel": 20,
            "concentration": 5.0,
            "novel_mean": np.zeros(p),
            "novel_mean_strength": 0.1,
            "novel_scale": 10.0 * np.eye(p),
            "known_mean_strength": 50.0,
            "known_scatter_strength": 50.0,
        },
        "ss2": {
            "max_novel": 20,
            "concentration": 5.0,
            "novel_mean": np.zeros(p),
            "novel_mean_strength": 0.1,
            "novel_scale": 3.0 * np.eye(p),
            "known_mean_strength": 20.0,
            "known_scatter_strength": 10.0,
            "known_scatter_factor": 0.1,
        },
        "ss3": {
            "max_novel": 10,
            "concentration": 5.5,
            "novel_mean": np.zeros(p),
            "novel_mean_strength": 1.0,
            "novel_scale": np.eye(p),
            "known_mean_strength": 1.0,
            "known_scatter_strength": 1.0,
        },
        "statlog": {
            "max_novel": 10,
            "concentration": 5.0,
            "novel_mean": train.mean(axis=0),
            "novel_mean_strength": 0.1,
            "novel_scale": (p + 1.0) * np.cov(train, rowvar=False),
            "known_mean_strength": 200.0,
            "known_scatter_strength": 200.0,
        },
    }

    return shared | own[study]
