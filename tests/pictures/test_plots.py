"""Pictures for notebooks: what is drawn is what was found."""

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pandas as pd
import pytest
from doubts import doubted
from matplotlib import pyplot
from tables import grain_rows

from vbrand import BrandSampler, VBrand
from vbrand.pictures.plots import Plots


@pytest.fixture(autouse=True)
def no_figures_left_open():
    yield
    pyplot.close("all")


@pytest.mark.parametrize("method", ["pca", "tsne"])
@pytest.mark.parametrize("colour", ["group", "novelty"])
def test_every_row_is_on_the_map(grain_found, method, colour):
    axes = grain_found.plot.map(method=method, colour=colour, labelled=False)
    assert sum(len(each.get_offsets()) for each in axes.collections) == 60
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["oat (30)", "novel 1 (30)"]


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_labelled_rows_are_on_the_map_too(grain_found, method):
    axes = grain_found.plot.map(method=method)
    drawn = {each.get_label(): each for each in axes.collections}
    assert list(drawn) == ["oat (30)", "novel 1 (30)", "oat, labelled", "rye, labelled"]
    assert len(drawn["oat, labelled"].get_offsets()) == len(drawn["rye, labelled"].get_offsets()) == 40
    assert len(drawn["oat, labelled"].get_facecolors()) == 0  # hollow
    middle = {name: each.get_offsets().mean(axis=0) for name, each in drawn.items()}
    apart = np.linalg.norm(middle["novel 1 (30)"] - middle["oat (30)"])
    assert np.linalg.norm(middle["oat, labelled"] - middle["oat (30)"]) < 0.3 * apart


def test_without_labelled_rows_at_hand_the_others_are_drawn():
    known, labels, new, _ = grain_rows()
    found = VBrand(check=0, random_state=0).fit(known, labels).discover(new)
    assert found.facts().labelled is None
    assert len(found.plot.map().collections) == 2


def test_profiles_are_medians(grain_found):
    axes = grain_found.plot.profile()
    lines = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    assert set(lines) == {"oat", "rye", "novel 1"}  # of rye, which has no rows, what the model expects
    assert (lines["novel 1"] < lines["oat"]).all()
    assert (lines["rye"] > lines["oat"]).all()
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["moisture", "protein", "ash"]


def test_history_ends_at_the_bound(grain_found):
    axes = grain_found.plot.history()
    assert axes.get_lines()[0].get_ydata()[-1] == grain_found.elbo


def test_confusion_counts(grain_found):
    axes = grain_found.plot.confusion(["oat"] * 30 + ["teff"] * 30)
    assert sorted(text.get_text() for text in axes.texts) == ["30", "30"]
    with pytest.raises(ValueError, match="one value for each of 60 rows"):
        grain_found.plot.confusion(["oat"])


def test_pictures_go_where_they_are_told(grain_found):
    _, panels = pyplot.subplots(1, 4)
    assert grain_found.plot.map(ax=panels[0]) is panels[0]
    assert grain_found.plot.profile(ax=panels[1]) is panels[1]
    assert grain_found.plot.history(ax=panels[2]) is panels[2]
    assert grain_found.plot.confusion(grain_found.labels, ax=panels[3]) is panels[3]


def test_what_can_not_be_drawn_is_said(grain_found):
    with pytest.raises(ValueError, match="method is 'umap'"):
        grain_found.plot.map(method="umap")
    known, labels, new, _ = grain_rows()
    detector = VBrand().fit(known, labels)
    with pytest.raises(ValueError, match="too few for t-SNE"):
        detector.discover(new[:5]).plot.map(method="tsne", labelled=False)


def test_the_sampler_has_the_same_pictures_but_no_bound():
    known, labels, new, _ = grain_rows()
    exact = BrandSampler(n_draws=400, n_burn=100, n_chains=1, random_state=0).fit(known, labels).discover(new)
    exact.plot.map()
    exact.plot.profile()
    with pytest.raises(ValueError, match="no bound"):
        exact.plot.history()


def test_spectra_are_drawn_in_the_units_of_the_table():
    rng = np.random.default_rng(0)
    shapes = np.sin(np.linspace(0, 3, 40)) * np.array([[1.0], [2.0], [-3.0]])
    rows = [shapes[k] + 0.1 * rng.normal(size=(30, 40)) for k in (0, 1, 0, 2)]
    names = [f"{1100 + 2 * j}" for j in range(40)]
    detector = VBrand(random_state=0).fit(pd.DataFrame(np.vstack(rows[:2]), columns=names), ["a"] * 30 + ["b"] * 30)
    found = detector.discover(pd.DataFrame(np.vstack(rows[2:]), columns=names))
    lines = {line.get_label(): line for line in found.plot.profile().get_lines()}
    np.testing.assert_allclose(lines["novel 1"].get_ydata(), shapes[2], atol=0.1)
    assert lines["novel 1"].get_xdata()[-1] == 1178.0


def test_doubtful_groups_are_called_so(grain_found):
    plot = Plots(lambda **words: doubted(grain_found.facts(**words)))
    for axes, name in ((plot.map(labelled=False), "novel 1 (30), doubtful"), (plot.profile(), "novel 1, doubtful")):
        assert [text.get_text() for text in axes.get_legend().get_texts()][-1] == name
    axes = plot.confusion(grain_rows()[3])
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["oat", "rye", "novel 1, doubtful"]
