"""The page in a real browser: Debian's chromium, driven by playwright."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright import sync_api as playwright

from tests.helpers.ci import skip_or_fail
from tests.helpers.served_models import serving, train_toy

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

TEXT = "the dog sees the cat today which sleeps .\n\nthe small bird hears the child ."
WAIT = 15_000


@pytest.fixture(scope="module")
def models(model: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [model, train_toy(tmp_path_factory.mktemp("page"), "other", "--system=arc-swift", epochs=1)]


@pytest.fixture(scope="module")
def address(models: list[Path]) -> Iterator[str]:
    with serving(*models, "--threads", "1", "--max-request", "64") as (address, _):
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        skip_or_fail("no chromium is installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The page, which may not say anything in the console that is not expected."""
    context = browser.new_context(reduced_motion="reduce", permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(WAIT)
    heard: list[str] = []
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("console", lambda message: heard.append(message.text) if message.type == "error" else None)
    page.goto(address)
    page.wait_for_selector("#model option", state="attached")
    yield page
    context.close()
    assert [text for text in heard if "Failed to load resource" not in text] == []


def parse(page: Any, text: str = TEXT, trees: int = 2) -> None:
    page.fill("#input", text)
    page.get_by_role("button", name="Parse").click()
    playwright.expect(page.locator("article.tree svg")).to_have_count(trees, timeout=WAIT)


def step_through(page: Any, sentence: int) -> None:
    page.get_by_role("button", name=f"Step through sentence {sentence}").click()
    page.wait_for_selector("#stepper:focus")


def clipboard(page: Any) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_text_becomes_trees(page: Any) -> None:
    parse(page)
    assert page.inner_text("#summary") == "2 sentences, 16 words"
    assert page.inner_text("#kind") == "text"
    svg = page.locator("article.tree svg").first
    assert svg.locator("text.form").all_text_contents() == TEXT.split("\n")[0].split()
    assert svg.locator(".arc.crossing").count() == 1
    assert "Dependency tree" in (svg.get_attribute("aria-label") or "")
    # The drawing has its style although the page allows none but its own files.
    assert svg.locator(".arc.crossing path").evaluate("path => getComputedStyle(path).strokeDasharray") != "none"
    page.uncheck("#tags")
    playwright.expect(page.locator("article.tree svg text.tag")).to_have_count(0)


def test_conllu_is_recognised_and_kept(page: Any) -> None:
    parse(page, "# sent_id = 7\n1\tthe\t_\t_\t_\t_\t_\t_\t_\ta=b\n2\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n", 1)
    assert page.inner_text("#kind") == "CoNLL-U"
    page.get_by_role("button", name="Copy sentence 1 as CoNLL-U").click()
    playwright.expect(page.locator("#toast")).to_have_text("CoNLL-U copied")
    assert clipboard(page).startswith("# sent_id = 7\n1\tthe\t_\tDET\t_\t_\t2\tdet\t_\ta=b\n")


def test_trees_are_copied_in_every_format(page: Any) -> None:
    parse(page)
    for kind, start in (("SVG", "<?xml"), ("TikZ", "%"), ("JSON", "{"), ("CoNLL-U", "# sent_id = 1\n")):
        page.get_by_role("button", name=f"Copy sentence 1 as {kind}").click()
        playwright.expect(page.locator("#toast")).to_have_text(f"{kind} copied")
        assert clipboard(page).startswith(start), kind
    page.get_by_role("button", name="Copy sentence 1 as JSON").click()
    playwright.expect(page.locator("#toast")).to_have_text("JSON copied")
    assert json.loads(clipboard(page))["tokens"][2]["head"] == 0


def test_files_are_opened_and_saved(page: Any, tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_text(TEXT)
    page.set_input_files("#file", source)
    playwright.expect(page.locator("article.tree svg")).to_have_count(2)
    for name, button in (("parsed.conllu", "Save CoNLL-U"), ("parsed.json", "Save JSON")):
        with page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        assert download.value.suggested_filename == name
        saved = Path(download.value.path()).read_text("utf-8")
        assert saved.count("\n\n") == 2 if name.endswith("conllu") else len(json.loads(saved)["sentences"]) == 2


def test_another_model_gives_other_trees(page: Any) -> None:
    parse(page)
    page.select_option("#model", "other")
    step_through(page, 2)
    titles = page.locator(".panel h3")
    playwright.expect(titles).to_have_text(["Arc-swift", "NL-Covington"])
    assert page.locator("#modes").is_hidden()
    page.keyboard.press("End")
    assert "of 14 transitions" in page.inner_text(".panel:nth-child(2) .count")


def test_what_comes_late_is_dropped(page: Any) -> None:
    parse(page)
    held: list[Any] = []
    page.route("**/api/steps", lambda route: held.append(route))
    page.get_by_role("button", name="Step through sentence 1").click()
    wait_for(page, held, 1)
    page.route("**/api/parse", lambda route: held.append(route))
    page.fill("#input", "the dog sleeps .")
    page.keyboard.press("Control+Enter")
    wait_for(page, held, 2)
    page.fill("#input", TEXT)
    page.select_option("#model", "other")
    wait_for(page, held, 3)
    playwright.expect(page.locator("#results[inert]")).to_have_count(1)
    for late in (2, 1, 0):
        with page.expect_response(held[late].request.url):
            held[late].continue_()
    playwright.expect(page.locator("#results[inert]")).to_have_count(0)
    playwright.expect(page.locator("article.tree svg")).to_have_count(2)
    page.get_by_role("button", name="Copy sentence 2 as JSON").click()
    playwright.expect(page.locator("#toast")).to_have_text("JSON copied")
    assert json.loads(clipboard(page))["model"] == "other"
    assert page.locator("#stepper").is_hidden()


def test_the_stepper_opens_where_it_was_asked_for(page: Any) -> None:
    parse(page, "the dog sleeps .\n\nthe cat sleeps .\n\nthe bird sleeps .", 3)
    for number in (1, 2, 3, 1):
        step_through(page, number)
        above = page.locator("#stepper").evaluate("stepper => stepper.previousElementSibling.innerText")
        assert ["dog", "cat", "bird"][number - 1] in above
        page.uncheck("#tags") if page.is_checked("#tags") else page.check("#tags")
        assert page.locator("#stepper").evaluate("stepper => stepper.parentElement.id") == "trees"
        page.locator("#stepper").focus()
        page.keyboard.press("Escape")
        label = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert label == f"Step through sentence {number}"


def test_keys_work_after_a_click_on_a_mode(page: Any) -> None:
    parse(page)
    step_through(page, 1)
    page.get_by_text("Race").click()
    page.wait_for_selector("#stepper:focus")
    page.keyboard.press("ArrowRight")
    assert page.is_checked("input[value=race]")
    assert counts(page) == ["1", "1"]
    page.locator("input[value=race]").focus()
    page.keyboard.press("Escape")
    assert page.locator("#stepper").is_hidden()


def test_blank_lines_cost_nothing(page: Any) -> None:
    parse(page, "\n" * 200 + "the dog sleeps .", 1)


def test_a_link_shows_a_tree_that_is_far_down(page: Any, address: str) -> None:
    text = "%0A%0A".join(["the+dog+sleeps+."] * 23)
    page.goto(f"{address}#model=nobody&text={text}&sentence=23&step=1.5&mode=race&tags=0")
    page.reload()
    page.wait_for_selector("#stepper:focus")
    playwright.expect(page.locator("article.tree")).to_have_count(23)
    assert page.locator("article.tree svg text.tag").count() == 0
    assert counts(page) == ["0", "0"]


def test_a_file_in_another_encoding_is_refused(page: Any, tmp_path: Path) -> None:
    source = tmp_path / "latin.txt"
    source.write_bytes("Der Müller fährt.".encode("latin-1"))
    page.set_input_files("#file", source)
    playwright.expect(page.locator("#message")).to_contain_text("latin.txt is not a UTF-8 text file")


def wait_for(page: Any, held: list[Any], requests: int) -> None:
    """Until the page has asked so often."""
    for _ in range(WAIT // 20):
        if len(held) == requests:
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"{len(held)} requests instead of {requests}")


def counts(page: Any) -> list[str]:
    return [text.split(" of ")[0] for text in page.locator(".panel .count").all_inner_texts()]


def test_stepping_with_keys_and_buttons(page: Any) -> None:
    parse(page)
    step_through(page, 1)
    playwright.expect(page.locator(".panel h3")).to_have_text(["NL-Covington", "Covington"])
    assert "NL-Covington 18 · Covington 27 transitions" in page.inner_text("#comparison")
    assert counts(page) == ["0", "0"]
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert counts(page) == ["5", "6"], "Right-Arc_2 is No-Arc and Right-Arc in Covington's system"
    assert page.locator(".panel.model .step-arc.fresh text").all_text_contents() == ["root"]
    assert page.locator(".panel.oracle .chip").all_inner_texts() == ["No-Arc", "Right-Arc root"]
    choices = page.locator(".choices li:not(.quiet)")
    assert "Right-Arc2 root" in choices.first.inner_text()
    assert re.search(r"\d+(\.\d)? %", choices.first.inner_text())
    page.keyboard.press("ArrowLeft")
    assert counts(page) == ["4", "4"]
    page.keyboard.press("End")
    assert counts(page) == ["18", "27"]
    assert page.locator(".panel.model g.step-arc.made polygon").count() == 9
    page.keyboard.press("Home")
    assert counts(page) == ["0", "0"]
    page.get_by_role("button", name="Next step").click()
    page.locator("#slider").fill("7")
    assert counts(page)[0] == "7"
    page.get_by_label("Race").check()
    assert counts(page) == ["7", "7"]
    page.locator(".panel.oracle tbody tr").nth(3).get_by_role("button").click()
    assert counts(page) == ["3", "3"]
    page.get_by_role("button", name="Close the stepper").click()
    assert page.locator("#stepper").is_hidden()


def test_playing_goes_on_by_itself_until_it_is_paused(page: Any) -> None:
    parse(page)
    step_through(page, 1)
    page.keyboard.press("Space")
    playwright.expect(page.locator(".panel .count").first).to_contain_text("2 of", timeout=WAIT)
    page.keyboard.press("Space")
    playwright.expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_link_shows_the_same_view(page: Any, browser: Any) -> None:
    parse(page)
    step_through(page, 2)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Copy link").click()
    playwright.expect(page.locator("#toast")).to_have_text("Link copied")
    other = browser.new_page(reduced_motion="reduce")
    other.goto(clipboard(page))
    playwright.expect(other.locator(".panel .count").first).to_contain_text("4 of", timeout=WAIT)
    assert other.input_value("#input") == TEXT
    assert other.locator("article:nth-of-type(2) + #stepper").count() == 1
    other.close()


def test_mistakes_are_shown_where_they_are(page: Any) -> None:
    page.fill("#input", "1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdog\n")
    page.get_by_role("button", name="Parse").click()
    playwright.expect(page.get_by_role("alert")).to_contain_text("Line 2: 2 columns")
    assert page.evaluate("getSelection().toString()") == "2\tdog"
    page.fill("#input", "word " * 20_000)
    page.get_by_role("button", name="Parse").click()
    playwright.expect(page.get_by_role("alert")).to_contain_text("The text is too long")


def test_a_server_that_is_gone_is_pointed_out(page: Any) -> None:
    parse(page)
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_role("button", name="Parse").click()
    playwright.expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    assert page.input_value("#input") == TEXT


def test_a_token_is_asked_for_and_taken_from_the_address(browser: Any, models: list[Path]) -> None:
    with serving(models[0], "--threads", "1", "--token", "sesame") as (address, _):
        page = browser.new_page()
        page.goto(address)
        playwright.expect(page.get_by_role("alert")).to_contain_text("needs a token")
        page.get_by_label("Token").fill("sesame")
        page.keyboard.press("Enter")
        playwright.expect(page.locator("#model option")).to_have_count(1)
        page.close()
        page = browser.new_page()
        page.goto(f"{address}?token=sesame")
        playwright.expect(page.locator("#model option")).to_have_count(1)
        assert "sesame" not in page.url
        parse(page)
        page.close()


def test_the_page_fits_a_phone_and_every_control_has_a_name(browser: Any, address: str) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 740}, reduced_motion="reduce")
    page.goto(address)
    parse(page)
    step_through(page, 1)
    playwright.expect(page.locator(".panel")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    controls = page.locator("button:visible, input:visible, select:visible, textarea:visible")
    for index in range(controls.count()):
        control = controls.nth(index)
        name = control.evaluate(
            "c => c.getAttribute('aria-label') || c.innerText || [...(c.labels ?? [])].map(l => l.innerText).join('')"
        )
        assert name.strip(), control.evaluate("c => c.outerHTML")
    page.close()
