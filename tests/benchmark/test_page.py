"""The page: what is in it, and how it behaves in a browser."""

import base64
import dataclasses
import hashlib
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imsave

from mc2 import InputError
from mc2.benchmark.curve import shipped_curve
from mc2.benchmark.leaderboard import Entry, read_entries
from mc2.benchmark.leaderboard.page import build_page, write_page
from mc2.benchmark.scores import METRICS
from mc2.zoo import FAMILIES

ARGUMENTS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
EVIL = "<script>document.title = 'evil'</script><img src=x onerror=\"document.title = 'evil'\">{{script}}"


def made(method, psnr, **about):
    """An entry whose families have PSNR psnr, psnr + 1, …"""
    claimed = {}
    for place, family in enumerate(FAMILIES):
        decibels = psnr + place
        rest = {"mse": 10 ** (-decibels / 10), "lpips": None, "relative_l2": 100 / decibels}
        claimed[family] = {"psnr": decibels, "snr": decibels - 5, **rest}
    claimed["overall"] = {
        metric: None if metric == "lpips" else float(np.mean([claimed[family][metric] for family in FAMILIES]))
        for metric in METRICS
    }
    usual = {
        "authors": "A. Author", "code": "", "paper": "", "setting": "correction", "walks": 8, "parameters": 0,
        "training_instances": 0, "hardware": "", "seconds_per_field": 0.0, "split": "test", "count": 250,
        "generator_version": "1", "checksum": "0" * 64, "evaluated": None, "evaluated_split": "", "evaluated_count": 0,
        "notes": "", "date": "2026-01-31",
    }  # fmt: skip
    entry = Entry(method="name", claimed=claimed, **usual | about)
    object.__setattr__(entry, "method", method)  # any text, as if it had come in some other way
    return entry


def some():
    first = made("alpha", 20.0, seconds_per_field=0.25, code="https://example.org/code", parameters=8_100_000)
    checked = {"evaluated": first.claimed, "evaluated_split": "fresh-7", "evaluated_count": 50}
    return [
        first,
        made("beta", 60.0, setting="dense", walks=0, seconds_per_field=1.5),
        made("gamma", 40.0, walks=32, **checked),
        made(EVIL[:80], 10.0, notes=EVIL, authors=EVIL, hardware=EVIL),
        made("a name without any space in it that is as long as it may be".replace(" ", "_"), 5.0, parameters=123),
    ]


def test_families_without_scores_are_dashes():
    """And an entry without some of them has no overall score, and comes last."""
    entry = made("partial", 70.0)
    nothing = dict.fromkeys(METRICS)
    entry.claimed.update(helmholtz=nothing, overall=nothing)
    page = build_page([entry, made("whole", 20.0)])
    assert page.index(">whole<") < page.index(">partial<")
    row = page[page.index(">partial<") :]
    assert re.search(r'data-column="helmholtz"[^>]*data-psnr=""[^>]*>–<', row)
    assert re.search(r'data-column="overall"[^>]*data-psnr=""[^>]*>–<', row)


def test_rows_are_ranked_among_rows_of_the_same_instances():
    page = build_page([made("few", 90.0, count=100), made("more", 20.0, count=5000), made("best", 30.0, count=5000)])
    ranks = re.findall(r'data-column="rank"[^>]*>(\d+)<', page)
    counts = re.findall(r'data-column="count"[^>]*>([^<]+)<', page)
    names = re.findall(r'class="toggle"[^>]*>([^<]+)<', page)
    assert list(zip(names, ranks, counts, strict=True)) == [
        ("best", "1", "5000"),
        ("more", "2", "5000"),
        ("few", "1", "100"),
    ]


class Reader(HTMLParser):
    """Collects tags with their attributes."""

    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def tags(page):
    reader = Reader()
    reader.feed(page)
    return reader.tags


def test_strangers_texts_are_only_texts():
    page = build_page(some())
    found = tags(page)
    assert sum(tag == "script" for tag, _ in found) == 1
    assert not [tag for tag, _ in found if tag in ("img", "iframe", "object")]
    assert not [name for _, attributes in found for name in attributes if name.startswith("on") or name == "style"]
    assert "&lt;script&gt;" in page
    assert "{{script}}" in page  # in a note: places of the template are filled once, not again
    assert [attributes["href"] for tag, attributes in found if tag == "a"] == ["https://example.org/code"]


def test_a_bad_link_is_refused_and_never_shown():
    for link in ("javascript:alert(1)", "https://github.com@evil.com/"):
        with pytest.raises(InputError, match="must be a link that begins with https:// and a plain host"):
            dataclasses.replace(some()[0], code=link)
    entry = some()[0]
    object.__setattr__(entry, "code", "javascript:alert(1)")  # as if it had come in some other way
    assert "javascript:" not in build_page([entry])


def test_the_policy_allows_what_is_on_the_page_and_nothing_else():
    page = build_page(some())
    policy = next(attributes["content"] for tag, attributes in tags(page) if tag == "meta" and "content" in attributes)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        own = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{own}'" in policy
        assert "http" not in content
    links = [own[name] for _, own in tags(page) for name in ("src", "href") if name in own]
    assert links == ["data:,", "https://example.org/code"]


def test_the_page_is_the_same_every_time(tmp_path):
    assert build_page(some()) == build_page(reversed(some()))
    write_page(some(), tmp_path / "new" / "index.html")
    assert (tmp_path / "new" / "index.html").read_text("utf-8") == build_page(some())
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["index.html"]
    with pytest.raises(InputError, match=r"must end in \.html"):
        write_page(some(), tmp_path / "other" / "index.txt")
    assert not (tmp_path / "other").exists()


def test_figures_are_part_of_the_page(tmp_path):
    imsave(tmp_path / "error_by_walks.png", np.zeros((4, 4, 3)))
    (tmp_path / "notes.txt").write_text("not a figure")
    page = build_page(some(), tmp_path)
    content = base64.b64encode((tmp_path / "error_by_walks.png").read_bytes()).decode()
    assert f'<img alt="Error by walks" src="data:image/png;base64,{content}">' in page
    (tmp_path / "b.png").write_bytes(b"<svg onload=alert(1)>")
    with pytest.raises(InputError, match="is not a PNG file"):
        build_page(some(), tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        build_page(some(), tmp_path / "nothing")


def test_raw_walks_of_every_budget_are_on_the_page():
    page = build_page([])
    rows = dict(re.findall(r'<th scope="row">([\d,]+)</th>(.*?)</tr>', page))
    curve = shipped_curve()
    assert list(rows) == [f"{budget:,}" for budget in curve["budgets"]]
    for number, cells in enumerate(rows.values()):
        scores = [curve["families"][family]["psnr"]["mean"][number] for family in FAMILIES]
        found = [float(cell) for cell in re.findall(r"<td>(.*?)</td>", cells)]
        assert found == pytest.approx([*scores, np.mean(scores)], abs=0.006)


def test_without_jinja_there_is_a_word_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(InputError, match=r"the leaderboard's page needs Jinja2: pip install 'mc2-pde\[pages\]'"):
        build_page([])


def test_a_page_without_entries():
    assert "There are no entries" in build_page([])


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    selenium = pytest.importorskip("selenium", reason="the page is not opened: selenium is not installed")
    programs = [shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")]
    if None in programs:
        pytest.skip("the page is not opened: it takes chromium and chromedriver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for argument in (*ARGUMENTS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = selenium.webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, tmp_path):
    """The page, freshly loaded, and sent nowhere but here."""
    imsave(tmp_path / "figure.png", np.zeros((40, 1600, 3)))
    write_page(some(), tmp_path / "index.html", tmp_path)
    resize(browser, 1280)
    browser.get_log("performance")
    browser.get((tmp_path / "index.html").as_uri())
    yield browser
    assert [entry["message"] for entry in browser.get_log("browser")] == []
    assert browser.execute_script("return performance.getEntriesByType('resource').map((r) => r.name)") == []
    messages = "".join(entry["message"] for entry in browser.get_log("performance"))
    asked = re.findall(r'"url":"((?!data:|about:|chrome)[^"]+)"', messages)
    assert {address.split("#")[0] for address in asked} == {(tmp_path / "index.html").as_uri()}
    assert browser.title == "PDEZoo leaderboard"


def resize(browser, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}  # a phone would zoom out instead
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def find(browser, selector):
    return browser.find_elements("css selector", selector)


def methods(browser):
    """What is shown, from the top."""
    return [element.text[:5] for element in find(browser, ".toggle") if element.is_displayed()]


def column(browser, name):
    return [element.text for element in find(browser, f'.summary > [data-column="{name}"]') if element.is_displayed()]


def choose(browser, name, value):
    find(browser, f'#{name} > option[value="{value}"]')[0].click()


@pytest.mark.slow
def test_sorting(opened):
    best_first = ["beta", "gamma", "alpha", "<scri", "a_nam"]
    assert methods(opened) == best_first
    header = find(opened, 'thead [data-column="laplace"]')[0]
    button = header.find_element("css selector", "button")
    assert header.get_attribute("aria-sort") is None
    button.click()
    assert (header.get_attribute("aria-sort"), methods(opened)) == ("descending", best_first)
    assert column(opened, "laplace") == ["60.00", "40.00", "20.00", "10.00", "5.00"]
    button.click()
    assert (header.get_attribute("aria-sort"), methods(opened)) == ("ascending", best_first[::-1])
    assert column(opened, "rank") == ["5", "4", "3", "2", "1"]
    assert len(find(opened, "th[aria-sort]")) == 1


def test_sorting_by_keyboard_and_with_unknown_values(opened):
    button = find(opened, '[data-column="seconds"] button')[0]
    button.send_keys("\n")
    assert column(opened, "seconds") == ["0.25", "1.5", "–", "–", "–"]
    button.send_keys(" ")
    assert column(opened, "seconds") == ["1.5", "0.25", "–", "–", "–"]
    find(opened, '[data-column="method"] button')[0].click()
    assert methods(opened)[-2:] == ["beta", "gamma"]


def test_metrics(opened):
    choose(opened, "metric", "mse")
    assert methods(opened)[:3] == ["beta", "gamma", "alpha"]
    assert column(opened, "laplace") == ["1.00e-6", "1.00e-4", "0.0100", "0.100", "0.316"]
    assert "lower is better" in find(opened, "#caption")[0].text
    assert find(opened, 'thead [data-column="overall"]')[0].get_attribute("aria-sort") == "ascending"
    choose(opened, "metric", "lpips")
    assert set(column(opened, "overall")) == {"–"}
    choose(opened, "metric", "relative_l2")
    shown = column(opened, "poisson")
    for toggle in find(opened, ".toggle"):
        toggle.click()
    rows = find(opened, ".entry .scores:first-of-type tbody tr:nth-child(5) td:nth-child(3)")
    assert shown == [row.text for row in rows]  # Python and the script write numbers alike


def test_filtering(opened):
    choose(opened, "setting", "dense")
    assert (methods(opened), column(opened, "rank")) == (["beta"], ["1"])
    choose(opened, "setting", "correction")
    assert methods(opened) == ["gamma", "alpha", "<scri", "a_nam"]
    assert column(opened, "rank") == ["1", "2", "3", "4"]
    assert not find(opened, "#none")[0].is_displayed()
    choose(opened, "setting", "points")
    assert methods(opened) == []
    assert find(opened, "#none")[0].is_displayed()


def test_details(opened):
    toggle = find(opened, ".toggle")[1]
    details = opened.find_element("id", toggle.get_attribute("aria-controls"))
    assert (toggle.get_attribute("aria-expanded"), details.is_displayed()) == ("false", False)
    toggle.click()
    assert (toggle.get_attribute("aria-expanded"), details.is_displayed()) == ("true", True)
    assert "A. Author" in details.text
    assert "50 of fresh-7" in details.text
    assert "0" * 64 in details.text
    toggle.send_keys("\n")
    assert not details.is_displayed()


@pytest.mark.parametrize("width", [1280, 800, 375, 320])
def test_nothing_is_wider_than_the_window(opened, width):
    resize(opened, width)
    for unfold in (False, True):
        for toggle in find(opened, ".toggle") if unfold else ():
            toggle.click()
        for metric in METRICS:
            choose(opened, "metric", metric)
            assert opened.execute_script("return document.documentElement.scrollWidth") <= width


def test_ranks_in_a_browser(opened, tmp_path):
    rows = [made("few", 90.0, count=100), made("more", 20.0, count=5000), made("best", 30.0, count=5000)]
    write_page(rows, tmp_path / "index.html")
    opened.get((tmp_path / "index.html").as_uri())
    assert (methods(opened), column(opened, "rank")) == (["best", "more", "few"], ["1", "2", "1"])
    find(opened, '[data-column="overall"] button')[0].click()
    assert (methods(opened), column(opened, "rank")) == (["more", "best", "few"], ["2", "1", "1"])
    find(opened, '[data-column="count"] button')[0].click()
    assert methods(opened) == ["few", "best", "more"]


@pytest.mark.slow
def test_the_real_entries_fit_without_scrolling(opened, tmp_path):
    """At 1280 pixels, not even the table scrolls in its box."""
    write_page(read_entries(Path(__file__).parents[2] / "leaderboard" / "entries"), tmp_path / "index.html")
    opened.get((tmp_path / "index.html").as_uri())
    assert opened.execute_script("const b = document.querySelector('.board'); return b.scrollWidth <= b.clientWidth")
