"""A detector on disk and back: what `save` keeps, and what a detector is made from when it is loaded."""

import os
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from vbrand.estimators.base import Shell
from vbrand.estimators.checking import without_witnesses
from vbrand.estimators.fitted import INSIDE, Fitted
from vbrand.estimators.model_file import Model, write_model
from vbrand.estimators.story import frozen
from vbrand.facts.facts import Facts
from vbrand.io.files.container import ModelFileError
from vbrand.io.files.provenance import kept_settings, versions


class Stored(Shell):
    """A detector that can be saved, without the cluster that it may compute on; clones have that, too."""

    def __sklearn_clone__(self) -> Self:
        bare = copy(self)
        bare.engine = None  # a client can't be copied
        made: Self = super(Stored, bare).__sklearn_clone__()
        made.engine = self.engine
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "engine": None}

    def save(self, path: str | os.PathLike[str], *, rows: bool = True) -> None:
        """Write the detector to a file, whole or not at all, for `vbrand.load` and `vbrand report`.

        The file holds arrays and text only: nothing that runs. It has what was learned and the facts of the last
        discovery (among them principal components of up to 2,000 rows), not the table; nor `init`, nor a
        `random_state` that is no number. So that later discoveries can be checked it has labelled rows, at most 1,000
        of each class.

        Parameters
        ----------
        path : path
            Of the file; the folder is made if need be.
        rows : bool, default True
            Whether labelled rows and the last rows of batches are kept. Without them discoveries of the detector that
            is loaded are unchecked; what batches taught is kept.

        Examples
        --------
        >>> import vbrand
        >>> detector.save("grain.vbrand")
        >>> vbrand.load("grain.vbrand").predict([[8.1, 7.9]])
        array(['rye'], dtype='<U5')
        """
        model = self.model()
        write_model(Path(path), model if rows else without_rows(model))

    def model(self, facts: Facts | None = None) -> Model:
        """Return what a model file holds: `save` writes it.

        Parameters
        ----------
        facts : Facts, optional
            Instead of those of the last discovery.

        Returns
        -------
        Model
            Versions, settings, what was learned and found, and the facts of reports.

        Examples
        --------
        >>> detector.model().settings["random_state"]
        0
        """
        fitted = self._fitted
        if facts is None:
            facts = fitted.facts if fitted.discovery is None else fitted.discovery.facts()
        return Model(versions(), kept_settings(self.get_params()), fitted.learned, fitted.finding, facts)

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Return the detector that a model file holds.

        Parameters
        ----------
        model : Model
            As `model()` gives it.

        Returns
        -------
        detector
            It predicts, discovers and goes on from batch to batch.

        Examples
        --------
        >>> VBrand.from_model(detector.model()).predict([[8.1, 7.9]])
        array(['rye'], dtype='<U5')
        """
        unknown = sorted(set(model.settings) - set(cls().get_params()))
        if unknown:
            raise ModelFileError(
                f"the model has a setting {unknown[0]!r} that this vbrand does not know. Use the version that made it: "
                f"{model.versions.get('vbrand', 'unknown')}."
            )
        settings: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in model.settings.items()}
        detector = cls(**settings)
        detector._check_parameters()
        detector._state = Fitted(model.learned, model.finding, facts=model.facts)
        return detector


def without_rows(model: Model) -> Model:
    """Return a model that holds no labelled row, on its map neither."""
    facts = None if model.facts is None else replace(model.facts, labelled=None)
    learned = replace(without_witnesses(model.learned), prints=None)
    finding, story = model.finding, model.finding.story
    if story is not None:
        finding = replace(finding, story=frozen(story, finding.posterior, story.homes >= INSIDE))
    return replace(model, learned=learned, finding=finding, facts=facts)
