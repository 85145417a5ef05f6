"""The report on handwritten digits in a real browser: headless Chromium, driven by Selenium."""

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
    WebDriverWait(browser, 60).until(lambda page: page.execute_script("return document.documentElement.dataset.drawn"))


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


def soon(page, holds):
    """Wait for what the page needs a moment for."""
    WebDriverWait(page, 10).until(lambda _: holds())


def count(page, selector):
    return len(page.find_elements(By.CSS_SELECTOR, selector))


def fills(page):
    script = "return [...document.querySelectorAll('#map .points path.point')].map(p => getComputedStyle(p).fill)"
    return page.execute_script(script)


def places(page):
    script = "return [...document.querySelectorAll('#map .points path.point')].map(p => p.getAttribute('transform'))"
    return page.execute_script(script)


def test_nothing_is_fetched_and_nothing_fails(page):
    for name in ("map-colour", "map-places"):
        for option in Select(page.find_element(By.ID, name)).options:
            Select(page.find_element(By.ID, name)).select_by_value(option.get_attribute("value"))
            time.sleep(0.3)
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
    lines = page.find_elements(By.CSS_SELECTOR, "#trust tbody tr")
    assert len(lines) == len(summary["check"]["by_group"])
    doubtful = sum(group["doubtful"] for group in summary["groups"])
    assert count(page, "#trust .badge") == count(page, "#groups .badge") == doubtful


def test_every_figure_is_drawn(page):
    assert count(page, "#map .points path.point") == 899
    assert count(page, "#novelty .bars .point path") > 0
    assert count(page, "#profile path.js-line") >= 11
    assert count(page, "#history path.js-line") >= 1
    assert count(page, "#confusion .heatmaplayer image") == 1
    features = page.find_elements(By.CSS_SELECTOR, "[id^='features-']")
    assert len(features) == 3
    for figure in features:
        assert len(figure.find_elements(By.CSS_SELECTOR, ".bars .point path")) > 3
    for figure in page.find_elements(By.CSS_SELECTOR, ".plot"):
        size = figure.find_element(By.CSS_SELECTOR, "svg.main-svg").size
        assert size["width"] > 500
        assert size["height"] > 150
        assert size["height"] <= figure.size["height"]


def test_a_row_under_the_mouse_says_who_it_is(page):
    page.execute_script("document.getElementById('map').scrollIntoView({block: 'center', behavior: 'instant'})")
    point = page.find_elements(By.CSS_SELECTOR, "#map .points path.point")[-1]
    ActionChains(page).move_to_element(point).perform()
    soon(page, lambda: "P(" in page.find_element(By.CSS_SELECTOR, "#map .hoverlayer").text)
    said = page.find_element(By.CSS_SELECTOR, "#map .hoverlayer").text
    assert "P(novel)" in said
    assert "true class" in said


def test_arrow_keys_go_from_row_to_row(page):
    page.find_element(By.ID, "map").send_keys(Keys.ARROW_RIGHT)
    said = page.find_element(By.ID, "map-row")
    soon(page, lambda: "P(" in said.text)
    first = said.text
    page.find_element(By.ID, "map").send_keys(Keys.ARROW_RIGHT)
    soon(page, lambda: said.text != first)
    assert "<" not in said.text


def test_colours_switch(page):
    by_group = fills(page)
    assert len(set(by_group)) == 9  # eight classes of six colours in all, and three novel groups
    Select(page.find_element(By.ID, "map-colour")).select_by_value("class")
    soon(page, lambda: len(set(fills(page))) == 7)  # novel groups have one colour
    Select(page.find_element(By.ID, "map-colour")).select_by_value("novelty")
    soon(page, lambda: count(page, "#map .colorbar") == 1)
    assert fills(page) != by_group
    Select(page.find_element(By.ID, "map-colour")).select_by_value("group")
    soon(page, lambda: fills(page) == by_group)
    assert count(page, "#map .colorbar") == 0


def test_shapes_tell_groups_apart_without_colour(page):
    shapes = (
        "return new Set([...document.querySelectorAll('#map .points path.point')].map(p => p.getAttribute('d'))).size"
    )
    assert page.execute_script(shapes) == 8  # five round shapes, three pointed ones


def test_places_switch_between_pca_and_tsne(page):
    before = places(page)
    select = page.find_element(By.ID, "map-places")
    select.send_keys(Keys.ARROW_DOWN)  # by keyboard
    soon(page, lambda: places(page) != before)
    assert select.get_attribute("value") == "tsne"
    assert "t-SNE 1" in page.find_element(By.ID, "map").text


def test_dark_and_light(page):
    def colours():
        body = page.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
        script = "return getComputedStyle(document.querySelector('#novelty .xtick text')).fill"
        return body, page.execute_script(script)

    light = colours()
    page.find_element(By.ID, "theme").send_keys(Keys.ENTER)
    soon(page, lambda: all(now != then for now, then in zip(colours(), light, strict=True)))
    assert page.find_element(By.ID, "theme").get_attribute("aria-pressed") == "true"


def test_a_dark_system_gets_a_dark_page(page, digits):
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    open_report(page, digits[0] / "report.html")
    assert page.find_element(By.TAG_NAME, "body").value_of_css_property("background-color") == "rgba(18, 24, 31, 1)"
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_all_that_can_be_used_can_be_reached_by_keyboard(page):
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    reached = set()
    for _ in range(90):  # figures have buttons of their own
        reached.add(page.switch_to.active_element.get_attribute("id") or page.switch_to.active_element.tag_name)
        ActionChains(page).send_keys(Keys.TAB).perform()
    assert {"theme", "map-places", "map-colour", "map", "summary", "a"} <= reached


def test_it_prints(page):
    pdf = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"]
    assert len(pdf) > 50_000
    assert page.get_log("browser") == []


def test_names_with_markup_are_shown_as_they_are(browser, tmp_path):
    """Names come from tables of strangers: nothing in them runs or is taken for markup."""
    import numpy as np
    import pandas as pd
    from tables import grain_rows

    from vbrand import VBrand
    from vbrand.pictures.page import report_html

    known, labels, new, _ = grain_rows()
    evil = "<img src=x onerror='document.title=1'></script><script>document.title=2</script>"
    names = [evil, "<b>bold</b>", "a & b"]
    detector = VBrand(random_state=0).fit(
        pd.DataFrame(known, columns=names), np.where(np.array(labels) == "oat", evil, "rye")
    )
    found = detector.discover(pd.DataFrame(new, columns=names))
    facts = found.facts(source=evil, names=[evil] * 60, truth=[evil] * 60)
    (tmp_path / "report.html").write_text(report_html(facts, {}, {}), encoding="utf-8")
    browser.get_log("browser")
    open_report(browser, tmp_path / "report.html")
    browser.find_element(By.ID, "map").send_keys(Keys.ARROW_RIGHT)
    soon(browser, lambda: "P(" in browser.find_element(By.ID, "map-row").text)
    assert browser.title == f"What is new in {evil}"
    assert evil in browser.find_element(By.ID, "groups").text
    assert count(browser, "#map img") + count(browser, "main img") == 0
    assert browser.get_log("browser") == []
