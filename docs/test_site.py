"""The site as a browser shows it: run by `make docs`, after it was built."""

import os
import re
import shutil
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest

SITE = Path(__file__).resolve().parent / "_site"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
LOOKED_AT = ["index.html", "start.html", "guide.html", "gallery/index.html", "gallery/plot_01_wine.html"]
LOOKED_AT += ["reference.html", "from/index.html", "from/mclust.html", "command-line.html"]
FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        if os.environ.get("VBRAND_NEEDS_BROWSER"):
            pytest.fail("Chromium was installed for this, and is not to be found")
        pytest.skip("no Chromium on this machine")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in [*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('browser')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    yield browser
    browser.quit()


def opened(browser, page, width=1200):
    # mobileEmulation would fix the width for all pages; the protocol sets it page by page, also below 500 px
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.get((SITE / page).as_uri())


def test_there_are_pages():
    assert len(PAGES) > 25


@cache
def anchors(path):
    return set(re.findall(r'\b(?:id|name)="([^"]*)"', path.read_text()))


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    text = (SITE / page).read_text()
    astray = []
    for link in map(unescape, re.findall(r'\b(?:href|src)="([^"]*)"', text)):
        if re.match(r"(https?|mailto|data|javascript):", link) or not link:
            continue
        target, _, place = link.partition("#")
        there = ((SITE / page).parent / unquote(target.partition("?")[0])).resolve() if target else SITE / page
        if not there.is_file() or (place and there.suffix == ".html" and unquote(place) not in anchors(there)):
            astray.append(link)
    assert astray == []


@pytest.mark.parametrize("page", PAGES)
def test_pages_need_nothing_from_elsewhere(page):
    text = (SITE / page).read_text()
    assert re.findall(r'<(?:script|img|iframe)[^>]*\bsrc="(?:https?:)?//[^"]*"', text) == []
    assert re.findall(r'<link[^>]*\brel="stylesheet"[^>]*\bhref="(?:https?:)?//[^"]*"', text) == []


def test_the_tutorial_is_a_notebook_that_runs():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    book = nbformat.read(SITE.parent / "gallery" / "plot_01_wine.ipynb", as_version=4)
    nbclient.NotebookClient(book, timeout=300, kernel_name="python3").execute()
    shown = [output.get("data", {}) for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("<svg" in data.get("text/html", "") for data in shown)
    assert any("image/png" in data for data in shown)


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_quiet_and_their_images_are_there(browser, page):
    opened(browser, page)
    missing = browser.execute_script(
        "return [...document.images].filter(i => i.loading !== 'lazy' && !i.naturalWidth).map(i => i.src)"
    )
    assert missing == []
    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []


@pytest.mark.parametrize("page", LOOKED_AT)
def test_nothing_is_wider_than_a_phone(browser, page):
    opened(browser, page, width=390)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("page", LOOKED_AT)
def test_dark_pages_have_light_letters(browser, page):
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    opened(browser, page)
    colours = """
        const page = getComputedStyle(document.body)
        return [getComputedStyle(document.querySelector("article")).color, page.backgroundColor]"""
    ink, paper = (sum(map(float, c[c.index("(") + 1 : -1].split(",")[:3])) for c in browser.execute_script(colours))
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert ink > 400 > 200 > paper


def test_search_finds_a_page_offline(browser):
    from selenium.webdriver.support.ui import WebDriverWait

    opened(browser, "search.html")
    browser.get((SITE / "search.html").as_uri() + "?q=spectra")
    found = "return document.querySelectorAll('#search-results li').length"
    WebDriverWait(browser, 30).until(lambda page: page.execute_script(found) > 0)


def test_the_keyboard_opens_a_page(browser):
    from selenium.webdriver.common.keys import Keys

    opened(browser, "index.html")
    for _ in range(40):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        if browser.execute_script("return document.activeElement.textContent").strip() == "Start here":
            break
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.current_url.endswith("start.html")
