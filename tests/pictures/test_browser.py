"""The report in a real browser, headless Chromium driven by Selenium: on digits, many groups, names of strangers."""

import csv
import json
import os
import shutil
import time

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: pip install 'vbrand[dev]'")
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1200,1400 --force-prefers-reduced-motion"
)
pytestmark = pytest.mark.skipif(
    (CHROMIUM is None or DRIVER is None) and "VBRAND_NEEDS_BROWSER" not in os.environ,
    reason="Chromium and its driver are not installed (Debian: apt-get install chromium chromium-driver)",
)
WIDTHS = (390, 820, 1400)
THEMES = ("light", "dark")
MARKS = ".mark:not(.hollow)"
PAINT = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def open_browser(folder):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={folder}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))


def open_report(browser, path):
    browser.get(path.resolve().as_uri())
    WebDriverWait(browser, 300).until(lambda page: page.execute_script("return document.documentElement.dataset.drawn"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = open_browser(tmp_path_factory.mktemp("chromium"))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, digits):
    browser.get_log("browser"), browser.get_log("performance")  # what came before is not this page's
    open_report(browser, digits[0] / "report.html")
    return browser


@pytest.fixture
def sized(browser):
    """Return a function that gives the page a width and a theme, as a screen would."""

    def size(width, theme):
        screen = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        wish = [{"name": "prefers-color-scheme", "value": theme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wish})

    yield size
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.fixture(scope="session")
def crowd(tmp_path_factory):
    """Return the report of a million rows in 45 groups, of which two are doubtful and one has far outliers."""
    from crowds import crowd_facts

    from vbrand.pictures.page import report_html

    path = tmp_path_factory.mktemp("crowd") / "report.html"
    path.write_text(report_html(crowd_facts(), {}, {}), encoding="utf-8")
    return path


def soon(page, holds):
    """Wait for what the page needs a moment for, and return it."""
    return WebDriverWait(page, 60).until(lambda _: holds())


def count(page, selector):
    return len(page.find_elements(By.CSS_SELECTOR, selector))


def fills(page):
    script = f"return [...document.querySelectorAll('#map {MARKS}')].map(p => getComputedStyle(p).fill)"
    return page.execute_script(script)


def places(page):
    script = f"return [...document.querySelectorAll('#map {MARKS}')].map(p => p.getAttribute('transform'))"
    return page.execute_script(script)


def listed(page, column=1):
    """Return a column of the table of rows as it is shown."""
    script = "return [...document.querySelectorAll('#rows-body tr')].map(r => r.children[arguments[0]].textContent)"
    return page.execute_script(script, column - 1)


def choose(page, name, value):
    Select(page.find_element(By.ID, name)).select_by_value(value)


def centre(page, selector):
    page.execute_script(
        "document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", selector
    )


def test_nothing_is_fetched_and_nothing_fails(page):
    for name in ("map-colour", "map-places", "rows-order", "rows-group"):
        for option in Select(page.find_element(By.ID, name)).options:
            if option.get_attribute("value"):
                choose(page, name, option.get_attribute("value"))
    page.find_element(By.ID, "theme").click()
    assert page.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = [each["params"] for each in messages if each["method"] == "Network.requestWillBeSent"]
    asked = [each for each in asked if each["documentURL"].startswith("file:")]  # not the browser's own first page
    outside = [each["request"]["url"] for each in asked if not each["request"]["url"].startswith(("data:", "blob:"))]
    assert outside == [asked[0]["documentURL"]]  # the page itself


def test_the_answer_comes_first(page, digits):
    sentence = json.loads((digits[0] / "summary.json").read_text())["sentence"]
    assert page.find_element(By.CSS_SELECTOR, "main p").text == sentence
    assert page.find_element(By.CSS_SELECTOR, "main p").location["y"] < 300
    assert count(page, "#groups tbody tr") == 11


def test_how_far_to_trust_it_is_told_below_the_answer(page, digits):
    summary = json.loads((digits[0] / "summary.json").read_text())
    headline = page.find_element(By.ID, "headline")
    assert headline.text.startswith(summary["trust"])
    assert headline.location["y"] < 500
    lines = page.find_elements(By.CSS_SELECTOR, "#trust > .wide tbody tr")
    assert len(lines) == len(summary["check"]["by_group"])
    doubtful = sum(group["doubtful"] for group in summary["groups"])
    assert count(page, "#trust > .wide .badge") == count(page, "#groups .badge") == doubtful


def test_every_figure_is_drawn(page):
    assert count(page, f"#map {MARKS}") == 899
    assert count(page, "#map .mark.hollow") > 100  # labelled rows
    assert count(page, "#novelty .bar") > 0
    assert count(page, "#novelty .line") == 1  # labelled rows, while they were hidden
    assert count(page, "#profile .line") >= 3
    assert count(page, "#history .line") == 1
    assert count(page, "#confusion .cell") == 110
    assert count(page, "[id^='features-'] .bar") > 9
    for figure in page.find_elements(By.CSS_SELECTOR, ".plot"):
        assert count(figure, "svg text.axis") == 2
        drawn = figure.find_element(By.CSS_SELECTOR, ".stage svg").size
        assert drawn["width"] > 500
        assert drawn["height"] > 150


def test_a_row_under_the_mouse_says_who_it_is(page):
    centre(page, "#map")
    point = page.find_elements(By.CSS_SELECTOR, f"#map {MARKS}")[-1]
    ActionChains(page).move_to_element(point).perform()
    tip = page.find_element(By.ID, "tip")
    soon(page, lambda: "P(" in tip.text)
    assert "P(novel)" in tip.text
    assert "true class" in tip.text


def test_a_click_on_a_mark_shows_its_row(page):
    centre(page, "#map")
    ActionChains(page).move_to_element(page.find_elements(By.CSS_SELECTOR, f"#map {MARKS}")[-1]).click().perform()
    said = page.find_element(By.ID, "map-row")
    soon(page, lambda: "P(novel)" in said.text)
    chosen = page.find_element(By.CSS_SELECTOR, "#rows-body tr.chosen th").text
    assert said.text.startswith(f"{chosen}: ")
    assert count(page, "#map circle.chosen") == 1
    other = page.find_elements(By.CSS_SELECTOR, "#rows-body tr:not(.chosen) th button")[0]
    name = other.text
    page.execute_script("arguments[0].focus()", other)
    other.send_keys(Keys.ENTER)  # by keyboard, from the table to the map
    assert said.text.startswith(f"{name}: ")


def test_arrow_keys_go_from_mark_to_mark_and_enter_chooses(page):
    stage = page.find_element(By.CSS_SELECTOR, "#map .stage")
    said = page.find_element(By.CSS_SELECTOR, "#map .said")
    stage.send_keys(Keys.ARROW_LEFT)
    soon(page, lambda: "P(" in said.get_attribute("textContent"))
    first = said.get_attribute("textContent")
    stage.send_keys(Keys.ARROW_LEFT)
    assert said.get_attribute("textContent") != first
    stage.send_keys(Keys.ENTER)
    assert page.find_element(By.ID, "map-row").text == said.get_attribute("textContent")
    bars = page.find_element(By.CSS_SELECTOR, "#novelty .stage")
    bars.send_keys(Keys.ARROW_RIGHT)
    assert "P(novel) about" in page.find_element(By.CSS_SELECTOR, "#novelty .said").get_attribute("textContent")


def test_colours_switch(page):
    by_group = fills(page)
    assert len(set(by_group)) == 11  # eight classes and three novel groups
    choose(page, "map-colour", "class")
    assert len(set(fills(page))) == 9  # novel groups have one colour
    choose(page, "map-colour", "novelty")
    assert page.find_element(By.ID, "map-scale").is_displayed()
    assert fills(page) != by_group
    choose(page, "map-colour", "group")
    assert fills(page) == by_group
    assert not page.find_element(By.ID, "map-scale").is_displayed()


def test_shapes_tell_groups_apart_without_colour(page):
    shapes = f"return new Set([...document.querySelectorAll('#map {MARKS}')].map(p => p.getAttribute('d'))).size"
    assert page.execute_script(shapes) == 8  # five round shapes, three pointed ones


def test_places_switch_between_pca_and_tsne(page):
    before = places(page)
    select = page.find_element(By.ID, "map-places")
    select.send_keys(Keys.ARROW_DOWN)  # by keyboard
    soon(page, lambda: places(page) != before)
    assert select.get_attribute("value") == "tsne"
    assert "t-SNE 1" in page.find_element(By.ID, "map").text


def test_the_map_zooms_by_mouse_and_by_buttons_and_comes_back(page):
    centre(page, "#map")
    before = places(page)
    stage = page.find_element(By.CSS_SELECTOR, "#map .stage")
    ActionChains(page).move_to_element_with_offset(stage, -100, -80).click_and_hold().move_by_offset(
        150, 120
    ).release().perform()
    soon(page, lambda: places(page) != before)
    ActionChains(page).double_click(stage).perform()
    soon(page, lambda: places(page) == before)
    for tool in page.find_elements(By.CSS_SELECTOR, "#map .tools button")[:2]:  # in, then out by as much
        tool.send_keys(Keys.ENTER)
    page.find_elements(By.CSS_SELECTOR, "#map .tools button")[2].send_keys(Keys.ENTER)
    assert places(page) == before


def test_names_in_the_legend_take_marks_away(page):
    button = page.find_element(By.CSS_SELECTOR, "#map .legend button")
    button.send_keys(Keys.SPACE)
    assert 0 < count(page, f"#map {MARKS}") < 899
    page.find_element(By.CSS_SELECTOR, "#map .legend button").send_keys(Keys.SPACE)
    assert count(page, f"#map {MARKS}") == 899


def novelty_listed(page):
    return [float(cell) for cell in listed(page, 3)]


def test_rows_are_ordered_by_mouse_and_keyboard(page):
    assert len(listed(page)) == 20
    assert novelty_listed(page)[0] > 0.9  # the most novel come first
    choose(page, "rows-order", "place")
    assert listed(page) == sorted(listed(page), key=int)
    head = page.find_element(By.CSS_SELECTOR, "#rows-table th[data-key='novelty'] button")
    centre(page, "#rows-table")
    head.click()
    assert novelty_listed(page) == sorted(novelty_listed(page), reverse=True)
    assert novelty_listed(page)[0] > 0.9
    assert head.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"
    head.send_keys(Keys.ENTER)
    assert novelty_listed(page)[0] < 0.1
    order = page.find_element(By.ID, "rows-order")
    order.send_keys(Keys.HOME, Keys.ARROW_DOWN)  # most doubtful first
    assert order.get_attribute("value") == "doubt"
    sure = [abs(value - 0.5) for value in novelty_listed(page)]
    choose(page, "rows-order", "novelty")
    assert max(sure) < min(abs(value - 0.5) for value in novelty_listed(page))
    choose(page, "rows-order", "middle")
    away = [float(cell.split()[0]) for cell in listed(page, 5)]
    assert away == sorted(away)


def test_rows_are_filtered_turned_over_and_saved(page, tmp_path, digits):
    page.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    choose(page, "rows-order", "novelty")
    group = Select(page.find_element(By.ID, "rows-group"))
    name = next(option.text for option in group.options if option.text.startswith("novel 1"))
    group.select_by_visible_text(name)
    assert set(listed(page, 2)) == {name}
    first = listed(page)
    page.find_element(By.ID, "rows-on").send_keys(Keys.ENTER)
    assert not set(listed(page)) & set(first)
    page.find_element(By.ID, "rows-save").send_keys(Keys.ENTER)
    soon(page, lambda: (tmp_path / "rows.csv").is_file())
    with (tmp_path / "rows.csv").open(newline="") as file:
        saved = list(csv.DictReader(file))
    summary = json.loads((digits[0] / "summary.json").read_text())
    assert len(saved) == next(each["rows"] for each in summary["groups"] if each["name"] == "novel 1")
    assert [line["row"] for line in saved[:20]] == first
    assert {line["group"] for line in saved} == {"novel 1"}
    chances = [float(line["P(novel)"]) for line in saved]
    assert chances[0] == max(chances)


def test_a_figure_is_saved_as_a_picture(page, tmp_path):
    page.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.find_elements(By.CSS_SELECTOR, "#map .tools button")[-1].send_keys(Keys.ENTER)
    soon(page, lambda: (tmp_path / "map.png").is_file())
    assert (tmp_path / "map.png").stat().st_size > 20_000
    assert page.get_log("browser") == []


def test_terms_are_explained_by_mouse_and_keyboard(page):
    term = page.find_element(By.CSS_SELECTOR, "#groups .term")
    term.send_keys("")
    page.execute_script("arguments[0].focus()", term)
    tip = page.find_element(By.ID, "tip")
    soon(page, tip.is_displayed)
    assert "share of all rows" in tip.text
    page.execute_script("arguments[0].blur()", term)
    assert not tip.is_displayed()


def test_dark_and_light(page):
    def colours():
        body = page.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
        script = "return getComputedStyle(document.querySelector('#novelty .xtick')).fill"
        return body, page.execute_script(script)

    light = colours()
    page.find_element(By.ID, "theme").send_keys(Keys.ENTER)
    soon(page, lambda: all(now != then for now, then in zip(colours(), light, strict=True)))
    assert page.find_element(By.ID, "theme").get_attribute("aria-pressed") == "true"


def test_a_dark_system_gets_a_dark_page(page, digits, sized):
    sized(1200, "dark")
    open_report(page, digits[0] / "report.html")
    assert page.find_element(By.TAG_NAME, "body").value_of_css_property("background-color") == "rgba(18, 24, 31, 1)"


def test_all_that_can_be_used_can_be_reached_by_keyboard(page):
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    reached = set()
    for _ in range(140):  # figures have buttons of their own
        at = page.switch_to.active_element
        reached.add(at.get_attribute("id") or at.get_attribute("class") or at.tag_name)
        ActionChains(page).send_keys(Keys.TAB).perform()
    assert {"theme", "map-places", "map-colour", "rows-order", "rows-group", "rows-save", "rows-on"} <= reached
    assert {"stage", "term", "wide", "summary", "a"} <= {name.split()[0] for name in reached}


def test_it_prints(page):
    pdf = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    assert len(pdf) > 50_000
    assert page.get_log("browser") == []


OVERLAPS = """
const all = [...document.querySelectorAll(arguments[0])];
const boxes = all.map((each) => [each.textContent, each.getBoundingClientRect()]);
const found = [];
boxes.forEach(([one, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
  if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) found.push([one, other]);
}));
return [boxes.length, found];
"""
CUT = """
const wide = document.documentElement.clientWidth;
const bad = [];
for (const each of document.querySelectorAll("main *, header *, nav *")) {
  const box = each.getBoundingClientRect();
  const rolls = each.closest(".wide, .stage, .said, details:not([open]), [hidden]");
  const out = box.right > wide + 1 || box.left < -1;
  if (box.width && !rolls && out) bad.push([each.tagName, each.className, box.right]);
}
for (const svg of document.querySelectorAll(".stage svg")) {
  const frame = svg.getBoundingClientRect();
  for (const text of svg.querySelectorAll("text:not(.bar-word)")) {
    const box = text.getBoundingClientRect();
    const out = box.left < frame.left - 2 || box.right > frame.right + 2 || box.bottom > frame.bottom + 2;
    if (out) bad.push(["text", text.textContent]);
  }
}
return [document.documentElement.scrollWidth - wide, bad];
"""
CONTRASTS = """
const light = (colour) => {
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const part = colour.match(/[\\d.]+/g).slice(0, 3).map((each) => linear(each / 255));
  return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
};
const found = {};
const seen = ".plot .mark, .plot .line, .plot .bar, .plot .rule, .legend svg *, .shape";
for (const each of document.querySelectorAll(seen)) {
  const style = getComputedStyle(each);
  const stroked = style.fill === "none" || each.matches("line");
  const colour = each.matches(".shape") ? style.color : stroked ? style.stroke : style.fill;
  const under = each.closest(".plot") || document.body;
  const ends = [light(colour), light(getComputedStyle(under).backgroundColor)].sort((a, b) => b - a);
  found[colour] = (ends[0] + 0.05) / (ends[1] + 0.05);
}
return found;
"""


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("which", ["digits", "crowd"])
def test_labels_are_apart_nothing_is_cut_and_marks_are_seen(browser, sized, request, which, width, theme):
    report = request.getfixturevalue(which)
    sized(width, theme)
    browser.get_log("browser")
    open_report(browser, report[0] / "report.html" if which == "digits" else report)
    for view in ("pca", "tsne"):
        choose(browser, "map-places", view)
        labels, overlaps = browser.execute_script(OVERLAPS, "#map .names text")
        assert labels >= 5
        assert overlaps == []
    for words in (".xtick", ".ytick"):
        for figure in ("map", "novelty", "profile", "history", "confusion", "features-0"):
            if count(browser, f"#{figure}"):
                assert browser.execute_script(OVERLAPS, f"#{figure} {words}:not([transform*=rotate])")[1] == []
    too_wide, cut = browser.execute_script(CUT)
    assert (too_wide, cut) == (0, [])
    for colour in ("group", "class", "novelty"):
        choose(browser, "map-colour", colour)
        contrasts = browser.execute_script(CONTRASTS)
        assert min(contrasts.values()) >= 3.0, contrasts
    legend = browser.find_element(By.CSS_SELECTOR, "#map .legend")
    drawn = browser.find_element(By.CSS_SELECTOR, "#map .stage svg")
    assert legend.location["y"] >= drawn.location["y"] + drawn.size["height"]
    assert browser.get_log("browser") == []


def test_wide_tables_say_that_they_can_be_scrolled_on_a_phone(browser, digits, sized):
    sized(390, "light")
    open_report(browser, digits[0] / "report.html")
    tables = {"#groups .wide", "#where .wide"}
    script = "return [arguments[0].scrollWidth > arguments[0].clientWidth, arguments[0].classList.contains('scrolls')]"
    for selector in tables:
        wide = browser.find_element(By.CSS_SELECTOR, selector)
        assert browser.execute_script(script, wide) == [True, True]
    sized(1400, "light")
    soon(browser, lambda: not browser.execute_script(script, browser.find_element(By.CSS_SELECTOR, "#groups .wide"))[1])


def test_a_million_rows_and_45_groups_are_a_small_page_that_shows_at_once(browser, crowd):
    assert crowd.stat().st_size < 2_000_000
    open_report(browser, crowd)
    paint = soon(browser, lambda: browser.execute_script(PAINT))  # noted a moment after the page is there
    print(f"{crowd.stat().st_size / 1e6:.2f} MB, first paint after {paint / 1e3:.2f} s")
    assert count(browser, "#groups tbody tr:not([hidden])") == 10
    button = browser.find_element(By.CSS_SELECTOR, "#groups button[data-unfolds]")
    button.send_keys(Keys.ENTER)
    assert count(browser, "#groups tbody tr:not([hidden])") == 46
    assert count(browser, "#map .legend button") == 11
    browser.find_element(By.CSS_SELECTOR, "#map .legend .more").send_keys(Keys.ENTER)
    assert count(browser, "#map .legend button") > 60


def test_outliers_do_not_squash_the_map_and_are_told_of(browser, crowd):
    open_report(browser, crowd)
    note = browser.find_element(By.ID, "map-outside")
    assert note.text.startswith("2 rows outside.")
    before = places(browser)
    note.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    soon(browser, lambda: places(browser) != before)
    assert "outside" not in note.text
    note.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    soon(browser, lambda: places(browser) == before)


def test_folds_open_and_their_figures_are_drawn(browser, crowd):
    open_report(browser, crowd)
    fold = browser.find_element(By.CSS_SELECTOR, "details.figure:not([open])")
    assert count(fold, ".stage svg") == 0
    fold.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    soon(browser, lambda: count(fold, ".stage svg") == 1)


def test_names_with_markup_are_shown_as_they_are(browser, tmp_path):
    """Names come from tables of strangers: nothing in them runs or is taken for markup."""
    import numpy as np
    import pandas as pd
    from tables import grain_rows

    from vbrand import VBrand

    known, labels, new, _ = grain_rows()
    evil = "<img src=x onerror='document.title=1'></script><script>document.title=2</script>"
    names = [evil, "<b>bold</b>", "a & b"]
    detector = VBrand(random_state=0).fit(
        pd.DataFrame(known, columns=names), np.where(np.array(labels) == "oat", evil, "rye")
    )
    found = detector.discover(pd.DataFrame(new, columns=names))
    found.report(tmp_path / "report.html", source=evil, names=[evil] * 60, truth=[evil] * 60)
    browser.get_log("browser")
    open_report(browser, tmp_path / "report.html")
    stage = browser.find_element(By.CSS_SELECTOR, "#map .stage")
    stage.send_keys(Keys.ARROW_LEFT, Keys.ENTER)
    assert "<img src=x" in browser.find_element(By.ID, "map-row").text
    assert browser.title == f"What is new in {evil}"
    assert evil in browser.find_element(By.ID, "groups").text
    assert count(browser, "img") == 0
    time.sleep(0.2)
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_models_of_older_schemas_are_drawn(browser, tmp_path, schema):
    """They know nothing of labelled rows, of scores beyond probabilities, nor of hidden rows."""
    from pathlib import Path

    from vbrand.estimators.model_file import read_model
    from vbrand.pictures.page import report_html

    held = read_model(Path(__file__).parents[1] / "golden" / f"schema{schema}-grains.vbrand")
    (tmp_path / "report.html").write_text(report_html(held.facts, held.settings, held.versions), encoding="utf-8")
    browser.get_log("browser")
    open_report(browser, tmp_path / "report.html")
    assert count(browser, ".stage svg") == count(browser, ".plot")
    assert len(listed(browser)) == 20
    assert browser.get_log("browser") == []


def test_a_single_row_is_a_report_too(browser, tmp_path):
    from tables import grain_rows

    from vbrand import VBrand

    known, labels, new, _ = grain_rows()
    VBrand(random_state=0).fit(known, labels).discover(new[:1]).report(tmp_path / "report.html", truth=["oat"])
    browser.get_log("browser")
    open_report(browser, tmp_path / "report.html")
    assert count(browser, f"#map .marks {MARKS}") == len(listed(browser)) == 1
    assert browser.get_log("browser") == []


@pytest.fixture(scope="module")
def weeks(tmp_path_factory):
    """Return a folder with a model and a report after four batches, in which two groups have no name."""
    import numpy as np
    from stream import fitted, rows_of

    folder, rng = tmp_path_factory.mktemp("weeks"), np.random.default_rng(0)
    detector = fitted(rng)
    for third, fourth in ((0, 0), (15, 0), (12, 14), (10, 9)):
        found = detector.update(rows_of(rng, third=third, fourth=fourth))
    found.report(folder / "report.html", names=[f"w4-{i}" for i in range(59)])
    detector.save(folder / "model.vbrand")
    return folder


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_groups_over_batches_are_drawn_on_any_screen(browser, sized, weeks, width, theme):
    sized(width, theme)
    browser.get_log("browser")
    open_report(browser, weeks / "report.html")
    assert count(browser, "#timeline .line") == 2
    assert count(browser, "#timeline .mark.hollow") == 2  # births
    assert count(browser, "#timeline .mark:not(.hollow)") == 3 + 2
    for words in (".xtick", ".ytick"):
        assert browser.execute_script(OVERLAPS, f"#timeline {words}")[1] == []
    for fold in browser.find_elements(By.CSS_SELECTOR, "#groups details"):
        browser.execute_script("arguments[0].open = true", fold)
    browser.find_element(By.CSS_SELECTOR, "#naming input").send_keys("a name that is so long " * 4)
    assert tuple(browser.execute_script(CUT)) == (0, [])
    assert min(browser.execute_script(CONTRASTS).values()) >= 3.0
    browser.find_element(By.CSS_SELECTOR, "#timeline .stage").send_keys(Keys.ARROW_RIGHT)
    said = browser.find_element(By.CSS_SELECTOR, "#timeline .said").get_attribute("textContent")
    assert said == "novel 1, batch 2: 15 rows, 15 so far"
    assert count(browser, "#events tbody tr") == 5
    assert browser.get_log("browser") == []


def test_rows_worth_a_look_are_shown_on_the_map(browser, weeks):
    open_report(browser, weeks / "report.html")
    cards = browser.find_elements(By.CSS_SELECTOR, ".naming")
    assert len(cards) == 2
    assert "In its middle: w4-" in cards[0].text
    button = cards[0].find_element(By.TAG_NAME, "button")
    name = button.text
    button.send_keys(Keys.ENTER)
    assert browser.find_element(By.ID, "map-row").text.startswith(f"{name}: novel 1")


def typed(browser, *names):
    for place, name in zip(browser.find_elements(By.CSS_SELECTOR, "#naming input"), names, strict=True):
        place.clear()
        place.send_keys(name)


@pytest.mark.parametrize(
    ("names", "classes"),
    [
        (("millet", 'vetch\'s "$HOME" `x` <b>'), ["oat", "rye", "millet", 'vetch\'s "$HOME" `x` <b>']),
        (("millet", "millet"), ["oat", "rye", "millet"]),
        (("rye", "-x"), ["oat", "rye", "-x"]),
        (("", "vetch"), ["oat", "rye", "vetch"]),
    ],
)
def test_names_that_are_typed_reach_the_model_by_commands_and_by_a_file(browser, weeks, tmp_path, names, classes):
    import shlex

    from typer.testing import CliRunner

    from vbrand import load
    from vbrand.commands.cli import app

    browser.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    open_report(browser, weeks / "report.html")
    assert not browser.find_element(By.ID, "named").is_displayed()
    typed(browser, *names)
    by_command, by_file = tmp_path / "model.vbrand", tmp_path / "other.vbrand"
    for copy in (by_command, by_file):
        shutil.copy(weeks / "model.vbrand", copy)
    lines = browser.find_element(By.ID, "named-commands").text.splitlines()
    assert len(lines) == sum(map(bool, names))
    for line in lines:
        words = [str(by_command) if word == "model.vbrand" else word for word in shlex.split(line)[1:]]
        assert CliRunner().invoke(app, words).exit_code == 0
    browser.find_element(By.ID, "named-save").send_keys(Keys.ENTER)
    soon(browser, lambda: (tmp_path / "names.json").is_file())
    done = CliRunner().invoke(app, ["name", str(by_file), "--from", str(tmp_path / "names.json")])
    assert done.exit_code == 0, done.output
    assert load(by_command).classes_.tolist() == load(by_file).classes_.tolist() == classes
