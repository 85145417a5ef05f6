"""Pictures for notebooks: matplotlib axes of the facts of a discovery."""

from collections.abc import Callable
from typing import Any

import numpy as np

from vbrand.checks import check_choice
from vbrand.facts.facts import Facts
from vbrand.facts.groups import GroupKind
from vbrand.facts.maps import tsne_points
from vbrand.inference.moves import MoveKind
from vbrand.pictures.looks import NOVELTY_COLOURS, called, looks_of

_MARKS = {
    MoveKind.BIRTH: "^",
    MoveKind.MERGE: "v",
    MoveKind.RELEASE: "s",
    MoveKind.RESPLIT: "D",
    MoveKind.RENEW: "P",
    MoveKind.DELETE: "X",
}


class Plots:
    """Pictures of a discovery, `found.plot`; each method draws on `ax`, or on new axes, and returns them.

    Parameters
    ----------
    facts : function
        Which returns the facts to draw.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> figure, both = plt.subplots(1, 2)
    >>> found.plot.map(ax=both[0]) is both[0]
    True
    """

    def __init__(self, facts: Callable[..., Facts]) -> None:
        self._facts = facts

    def map(self, method: str = "pca", colour: str = "group", ax: Any = None, *, labelled: bool = True) -> Any:
        """Draw the rows in the plane. If the table is long, a sample of it is drawn and the title says so.

        Parameters
        ----------
        method : "pca" or "tsne", default "pca"
            Principal components, or a map that keeps neighbours together.
        colour : "group" or "novelty", default "group"
            What colours tell: the group of a row, or its P(novel).
        ax : matplotlib axes, optional
            Where to draw; by default on new axes.
        labelled : bool, default True
            Whether labelled rows, some of each class, are drawn as hollow marks, where they are at hand: a detector
            that does not check its answers keeps none.

        Returns
        -------
        matplotlib axes
            To go on with.

        Examples
        --------
        >>> found.plot.map(colour="novelty").get_xlabel()
        'first principal component'
        """
        check_choice("method", method, ("pca", "tsne"))
        check_choice("colour", colour, ("group", "novelty"))
        facts = self._facts()
        beside = facts.labelled if labelled else None
        scores = facts.points.scores if beside is None else np.vstack([facts.points.scores, beside.scores])
        places = scores[:, :2] if method == "pca" else tsne_points(scores)
        if places is None:
            raise ValueError(f"{len(facts.points.names)} rows are too few for t-SNE; use method='pca'.")

        points, known = np.split(places, [len(facts.points.names)])
        axes, shown = _axes(ax), None
        for k, (group, look) in enumerate(zip(facts.groups, looks_of(facts.groups), strict=True)):
            own = facts.points.clusters == k
            if own.any():
                hue = {"color": look.colour} if colour == "group" else _hue(facts.points.novelty[own])
                label = called(group, f"{group.name} ({group.rows:,})")
                shown = axes.scatter(*points[own].T, marker=look.marker, s=22, alpha=0.7, lw=0, label=label, **hue)

        if beside is not None:
            _draw_labelled(axes, facts, known, beside.classes)
        axes.legend(title="group (rows)")
        if colour == "novelty" and shown is not None:
            axes.figure.colorbar(shown, ax=axes, label="P(novel)")

        words = (
            ("first principal component", "second principal component") if method == "pca" else ("t-SNE 1", "t-SNE 2")
        )
        axes.set(xlabel=words[0], ylabel=words[1])
        if len(facts.points.names) < facts.rows:
            axes.set_title(f"{len(facts.points.names):,} of {facts.rows:,} rows")
        return axes

    def profile(self, ax: Any = None) -> Any:
        """Draw the median of every column for each group, with the quartiles of novel groups as bands.

        Columns whose names are ordered numbers are drawn as a spectrum in your units, others in robust scales.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default on new axes.

        Returns
        -------
        matplotlib axes
            To go on with.

        Examples
        --------
        >>> found.plot.profile().get_ylabel()
        'median (robust scales)'
        """
        facts = self._facts()
        profiles, axes = facts.profiles, _axes(ax)
        place = profiles.axis

        for k, (group, look) in enumerate(zip(facts.groups, looks_of(facts.groups), strict=True)):
            lower, middle, upper = profiles.drawn[:, k]
            line = "-" if group.kind == GroupKind.KNOWN else "--"
            marker = None if profiles.are_spectra else look.marker
            axes.plot(place, middle, line, color=look.colour, marker=marker, ms=4, label=called(group, group.name))
            if group.kind == GroupKind.NOVEL:
                axes.fill_between(place, lower, upper, color=look.colour, alpha=0.15, lw=0)

        if not profiles.are_spectra:
            axes.set_xticks(place, profiles.columns, rotation=90)
        axes.set(ylabel="median" if profiles.are_spectra else "median (robust scales)")
        if len(profiles.columns) < profiles.of:
            axes.set_title(f"{len(profiles.columns)} of {profiles.of:,} columns")
        axes.legend()
        return axes

    def history(self, ax: Any = None) -> Any:
        """Draw how the bound rose, with the moves that were kept.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default on new axes.

        Returns
        -------
        matplotlib axes
            To go on with.

        Examples
        --------
        >>> found.plot.history().get_ylabel()
        'bound'
        """
        climb = self._facts().climb
        if climb is None:
            raise ValueError(
                "the draws of a sampler have no bound to draw; look at `found.chains` and `found.diagnostics` instead."
            )

        axes = _axes(ax)
        axes.plot(climb.trace, color="0.4", lw=1)
        kept = [move for move in climb.moves if move.kept]
        for kind in dict.fromkeys(move.kind for move in kept):
            bounds = np.array([move.bound for move in kept if move.kind == kind])
            axes.plot(np.searchsorted(climb.trace, bounds), bounds, _MARKS.get(kind, "o"), label=kind)
        axes.set(xlabel="sweeps that were kept", ylabel="bound")
        if kept:
            axes.legend()
        return axes

    def confusion(self, truth: Any, ax: Any = None) -> Any:
        """Draw true classes against known classes and novel groups.

        Parameters
        ----------
        truth : array of shape (n,)
            The true class of each row.
        ax : matplotlib axes, optional
            Where to draw; by default on new axes.

        Returns
        -------
        matplotlib axes
            To go on with.

        Examples
        --------
        >>> found.plot.confusion(["oat"] * 40 + ["millet"] * 30).get_ylabel()
        'true class'
        """
        facts = self._facts(truth=truth)
        assert facts.confusion is not None
        table, axes = facts.confusion, _axes(ax)
        axes.imshow(np.sqrt(table.counts), cmap="Blues", aspect="auto")  # so that small counts show beside large ones
        for (i, j), count in np.ndenumerate(table.counts):
            if count:
                dark = count > 0.25 * table.counts.max()
                axes.text(j, i, f"{count:,}", ha="center", va="center", color="white" if dark else "black")
        found = [called(group, name) for group, name in zip(facts.groups, table.clusters, strict=True)]
        axes.set_xticks(range(len(found)), found, rotation=45, ha="right")
        axes.set_yticks(range(len(table.truth)), table.truth)
        axes.set(xlabel="found", ylabel="true class")
        return axes


def _draw_labelled(axes: Any, facts: Facts, places: Any, classes: Any) -> None:
    """Draw labelled rows below the others, hollow, in the look of their class."""
    for k, (group, look) in enumerate(zip(facts.groups, looks_of(facts.groups), strict=True)):
        own = classes == k
        if own.any():
            hollow = {"facecolors": "none", "edgecolors": look.colour}
            label = f"{group.name}, labelled"
            axes.scatter(*places[own].T, marker=look.marker, s=26, alpha=0.6, lw=0.7, zorder=0.9, label=label, **hollow)


def _hue(novelty: Any) -> dict[str, Any]:
    from matplotlib.colors import LinearSegmentedColormap

    return {
        "c": novelty,
        "cmap": LinearSegmentedColormap.from_list("novelty", NOVELTY_COLOURS),
        "vmin": 0.0,
        "vmax": 1.0,
    }


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("found.plot needs the package matplotlib: pip install 'vbrand[plot]'") from None
    return pyplot.subplots(layout="constrained")[1]
