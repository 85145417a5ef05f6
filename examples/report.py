"""Write docs/report.png: the top of the demo's report, as headless Chromium shows it.

python examples/report.py      (needs Chromium, its driver and selenium)
"""

import shutil
import tempfile
from contextlib import nullcontext
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

from vbrand.commands.analysis import write_analysis
from vbrand.commands.demo import run_demo

DOCS = Path(__file__).resolve().parents[1] / "docs"
FLAGS = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"

with tempfile.TemporaryDirectory() as folder:
    analysis = run_demo(lambda what: nullcontext())
    write_analysis(analysis, Path(folder), lambda what: nullcontext())
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in [*FLAGS.split(), "--window-size=1080,2620", "--hide-scrollbars", f"--user-data-dir={folder}/browser"]:
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    browser.get((Path(folder) / "report.html").as_uri())
    WebDriverWait(browser, 60).until(lambda page: page.execute_script("return document.documentElement.dataset.drawn"))
    browser.save_screenshot(str(DOCS / "report.png"))
    browser.quit()
