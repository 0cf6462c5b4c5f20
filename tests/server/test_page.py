"""The page in a real browser: Debian's chromium, driven by playwright."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright import sync_api as playwright

from tests.helpers.ci import skip_or_fail
from tests.helpers.served_models import serving, train_toy

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

FIRST = "the dog sees the cat today which sleeps ."
TEXT = f"{FIRST}\n\nthe small bird hears the child ."
LONG = " ".join(["the dog sees the cat which"] * 12) + " sleeps ."
SHORT = ["the dog sleeps .", "the cat sleeps .", "the bird sleeps ."]
WAIT = 15_000
DESKTOP, PHONE = (1280, 800), (390, 844)
SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1280", "390"])
THEMES = pytest.mark.parametrize("theme", ["light", "dark"])
LOOKS = pytest.mark.parametrize(("size", "theme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["1280", "390"])

OpenPage = Callable[..., Any]


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
def open_page(browser: Any, address: str) -> Iterator[OpenPage]:
    """A function that opens the page, which may not write any error to the console."""
    contexts: list[Any] = []
    errors: list[str] = []

    def open_page(size: tuple[int, int] = DESKTOP, theme: str = "light") -> Any:
        context = browser.new_context(
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
            viewport={"width": size[0], "height": size[1]},
            color_scheme=theme,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(address)
        page.wait_for_selector("#model option", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [text for text in errors if "Failed to load resource" not in text] == []


@pytest.fixture
def page(open_page: OpenPage) -> Any:
    return open_page()


def parse(page: Any, text: str = TEXT) -> None:
    page.fill("#input", text)
    page.get_by_role("button", name="Parse", exact=True).last.click()
    wait_for_tree(page, text.split("\n")[0])


def open_text(page: Any, folder: Path, text: str, name: str = "text.txt") -> None:
    """Open a file with a text; typing a long one takes the browser minutes."""
    (folder / name).write_text(text)
    page.set_input_files("#file", folder / name)
    wait_for_tree(page, text.split("\n")[0])


def wait_for_tree(page: Any, text: str) -> None:
    """Wait until the tree of a sentence is drawn."""
    playwright.expect(page.locator(".item.open .text")).to_have_text(text, timeout=WAIT)
    page.wait_for_selector(".item.open .node[data-node='1']")


def step_through(page: Any) -> None:
    page.locator(".step-through").click()
    page.wait_for_selector("#stepper:focus")


def export(page: Any, name: str, action: str = "Copy") -> None:
    if not page.locator("#export-menu[open]").count():
        page.locator("#export-menu summary").click()
    page.get_by_role("button", name=f"{action} {name}").click()


def clipboard(page: Any) -> str:
    return str(page.evaluate("navigator.clipboard.readText()"))


def copied(page: Any, name: str) -> str:
    export(page, name)
    playwright.expect(page.locator("#toast")).to_have_text(f"{name} copied")
    return clipboard(page)


def node(page: Any, number: int) -> Any:
    return page.locator(f".item.open .node[data-node='{number}']")


def in_class(page: Any, name: str) -> list[int]:
    """Return the words that have a class, in order."""
    nodes = page.locator(f".item.open .node.{name}")
    return [int(number) for number in nodes.evaluate_all("nodes => nodes.map(node => node.dataset.node)")]


def widths(page: Any) -> tuple[int, int]:
    """Return the width of the tree, and of the part that is in view."""
    width, client = page.locator(".item.open .scroller").evaluate("s => [s.scrollWidth, s.clientWidth]")
    return int(width), int(client)


def fits(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def conllu(text: str, heads: list[int], relations: str) -> str:
    words = zip(text.split(), heads, relations.split(), strict=True)
    rows = [f"{n}\t{word}\t_\t_\t_\t_\t{head}\t{rel}\t_\t_\n" for n, (word, head, rel) in enumerate(words, 1)]
    return "".join(rows) + "\n"


# ---------------------------------------------------------------------------------------------------------------------
# Start.


@SIZES
@THEMES
def test_the_page_starts_with_examples_and_focus_in_the_box(
    open_page: OpenPage, size: tuple[int, int], theme: str
) -> None:
    page = open_page(size, theme)
    assert page.evaluate("document.activeElement.id") == "input"
    assert page.locator(".example").count() == 3
    assert fits(page)
    fonts = page.evaluate("getComputedStyle(document.body).fontFamily")
    assert all(name in fonts for name in ("-apple-system", "Segoe UI", "Roboto"))
    about = page.locator("#about-model")
    assert about.inner_text() == "toy · NL-Covington"
    assert about.evaluate("p => p.scrollWidth <= p.clientWidth")
    check_contrast(page)
    page.locator(".example").first.click()
    wait_for_tree(page, page.input_value("#input"))
    assert page.locator("#examples").is_hidden()
    check_contrast(page)


def test_text_becomes_trees(page: Any) -> None:
    parse(page)
    assert page.inner_text("#summary") == "2 sentences, 16 words"
    assert page.inner_text(".kind") == "text"
    svg = page.locator(".item.open svg.drawing")
    assert svg.locator("text.form").all_text_contents() == FIRST.split()
    assert svg.locator(".arc.crossing").count() == 1
    assert svg.get_attribute("aria-label") == f"Tree: {FIRST}"
    # The drawing has its style although the page allows none but its own files.
    assert svg.locator(".arc.crossing path").evaluate("path => getComputedStyle(path).strokeDasharray") != "none"
    page.click("#view-menu summary")
    page.uncheck("#tags")
    playwright.expect(page.locator(".item.open svg text.tag")).to_have_count(0)


def test_conllu_is_recognised_and_kept(page: Any) -> None:
    page.fill("#input", "# sent_id = 7\n1\tthe\t_\t_\t_\t_\t_\t_\t_\ta=b\n2\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n")
    page.click("#parse")
    wait_for_tree(page, "the dog")
    assert page.inner_text(".kind") == "CoNLL-U"
    assert copied(page, "CoNLL-U").startswith("# sent_id = 7\n1\tthe\t_\tDET\t_\t_\t2\tdet\t_\ta=b\n")


def test_words_are_inserted_as_text(page: Any) -> None:
    parse(page, "<img src=x onerror=alert(1)> sees <b>the</b> dog")
    node(page, 1).hover()
    page.get_by_role("button", name="Down").click()
    node(page, 2).hover()
    assert page.locator("main img, #word-card img, main b:text('the')").count() == 0


# ---------------------------------------------------------------------------------------------------------------------
# Long sentences.


def test_the_edges_of_a_wide_tree_fade_and_it_can_be_zoomed(page: Any) -> None:
    parse(page, LONG)
    page.get_by_role("button", name="Across").click()
    frame = page.locator(".item.open .frame")
    playwright.expect(frame).to_have_class(re.compile("more-right"))
    assert frame.evaluate("f => getComputedStyle(f, '::after').opacity") == "1"
    assert frame.evaluate("f => getComputedStyle(f, '::before').opacity") == "0"
    page.locator(".item.open .scroller").evaluate("s => { s.scrollLeft = s.scrollWidth; }")
    playwright.expect(frame).to_have_class(re.compile("more-left"))
    assert "more-right" not in (frame.get_attribute("class") or "")
    assert page.inner_text(".zooms .scale") == "80 %"
    page.get_by_role("button", name="Zoom in").click()
    assert page.inner_text(".zooms .scale") == "100 %"
    page.get_by_role("button", name="Fit to width").click()
    width, visible = widths(page)
    assert width <= visible
    assert "more" not in (frame.get_attribute("class") or "").replace("coloured", "")
    node(page, 1).focus()
    page.keyboard.press("+")
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert widths(page)[0] > visible
    page.keyboard.press("0")
    assert widths(page)[0] <= visible
    assert fits(page)


@pytest.mark.parametrize(
    ("size", "theme", "text", "is_down"),
    [(DESKTOP, "light", FIRST, False), (DESKTOP, "dark", LONG, True), (PHONE, "light", FIRST, True)],
)
def test_phones_and_long_sentences_get_a_word_per_line(
    open_page: OpenPage, size: tuple[int, int], theme: str, text: str, is_down: bool
) -> None:
    page = open_page(size, theme)
    parse(page, text)
    assert page.locator(".item.open .down").count() == is_down
    assert page.locator(".zooms").is_hidden() == is_down
    assert fits(page)
    check_contrast(page)


@SIZES
def test_the_layout_is_remembered(open_page: OpenPage, size: tuple[int, int]) -> None:
    page = open_page(size)
    parse(page)
    other = "Down" if size == DESKTOP else "Across"
    page.get_by_role("button", name=other).click()
    assert page.locator(".item.open .down").count() == (other == "Down")
    page.reload()
    wait_for_tree(page, FIRST)
    assert page.locator(".item.open .down").count() == (other == "Down")
    assert page.get_by_role("button", name=other).get_attribute("aria-pressed") == "true"


def test_the_lines_of_the_vertical_tree_lead_from_the_head_to_the_word(page: Any) -> None:
    parse(page)
    page.get_by_role("button", name="Down").click()
    assert page.locator(".down .form").all_inner_texts() == FIRST.split()
    assert page.locator(".down .relation").all_inner_texts()[:3] == ["det", "nsubj", "root"]
    paths = page.locator(".lines path").evaluate_all("paths => paths.map(path => path.getAttribute('d'))")
    row = page.locator(".down .node").first.bounding_box()["height"]
    numbers = [[float(number) for number in re.findall(r"-?[\d.]+", path)] for path in paths]
    heads = [2, 3, 0, 5, 3, 3, 8, 5, 3]
    for word, (head, points) in enumerate(zip(heads, numbers, strict=True), 1):
        assert points[1] == ((head or word) - 0.5) * row
        assert points[-2 if head else 1] == (word - 0.5) * row
    assert page.locator(".lines .crossing").count() == 1


# ---------------------------------------------------------------------------------------------------------------------
# Words.


@SIZES
def test_pointing_at_a_word_lights_its_neighbours_and_shows_its_details(
    open_page: OpenPage, size: tuple[int, int]
) -> None:
    page = open_page(size)
    parse(page)
    node(page, 5).hover()
    assert (in_class(page, "self"), in_class(page, "head")) == ([5], [3])
    assert in_class(page, "dependent") == [4, 8]
    assert in_class(page, "below") == [4, 5, 7, 8]
    faded = node(page, 1).evaluate("n => Number(getComputedStyle(n).opacity)")
    assert faded < 0.5 and node(page, 7).evaluate("n => getComputedStyle(n).opacity") == "1"
    card = page.locator("#word-card")
    assert re.search(r"cat NOUN\s+probability \d+(\.\d)? %\s+relation obj of sees", card.inner_text())
    box = card.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= size[0] and box["y"] + box["height"] <= size[1]
    page.mouse.move(2, 2)
    assert card.is_hidden() and in_class(page, "self") == []


def test_lemma_and_features_of_a_word_are_shown(page: Any) -> None:
    rows = ["1 the the DET DT Definite=Def|PronType=Art 2 det _ _", "2 dogs dog NOUN NNS Number=Plur 0 root _ _", ""]
    words = "\n".join(rows).replace(" ", "\t")
    page.click("[data-view=compare]")
    page.fill("#input", words)
    page.fill("#gold", words)
    page.click("#parse")
    wait_for_tree(page, "the dogs")
    node(page, 1).hover()
    assert page.inner_text("#word-card").split("\n") == [
        "the DET · DT",
        "relation det of dogs",
        "lemma the",
        "features Definite=Def PronType=Art",
    ]
    label = node(page, 2).get_attribute("aria-label")
    assert label == "dogs; NOUN; root; lemma dog; Number=Plur"


@pytest.mark.parametrize("layout", ["Across", "Down"])
def test_the_keyboard_walks_through_a_tree(page: Any, layout: str) -> None:
    parse(page)
    page.get_by_role("button", name=layout).click()
    node(page, 1).focus()
    on, up, down = (
        ("ArrowRight", "ArrowUp", "ArrowDown") if layout == "Across" else ("ArrowDown", "ArrowLeft", "ArrowRight")
    )
    visited = []
    for key in (on, up, down, "End", "Home", up, up):
        page.keyboard.press(key)
        visited += in_class(page, "self")
    assert visited == [2, 3, 2, 9, 1, 2, 3]
    assert page.locator(".item.open .node[tabindex='0']").count() == 1, "Tab leads to one word only"
    assert node(page, 3).get_attribute("aria-selected") == "true"
    page.keyboard.press("Escape")
    assert in_class(page, "self") == [] and page.locator("#word-card").is_hidden()


def test_arcs_are_shaded_by_probability_and_words_coloured_by_part_of_speech(page: Any) -> None:
    parse(page)
    pill = "n => getComputedStyle(n.querySelector('.pill')).fill"
    colours = [node(page, number).evaluate(pill) for number in (1, 2, 3, 5)]
    assert len(set(colours)) == 3 and colours[1] == colours[3]
    page.click("#view-menu summary")
    page.check("#shading")
    page.uncheck("#colours")
    assert node(page, 2).evaluate(pill) == "rgba(0, 0, 0, 0)"
    tokens = json.loads(copied(page, "JSON"))["tokens"]
    for number, token in enumerate(tokens, 1):
        arc = page.locator(f".arc[data-dependent='{number}'] path")
        opacity = float(arc.evaluate("path => getComputedStyle(path).opacity"))
        assert opacity == pytest.approx(0.12 + 0.88 * token["probability"], abs=0.01)
    page.reload()
    wait_for_tree(page, FIRST)
    assert page.locator(".frame.shaded:not(.coloured)").count() == 1


# ---------------------------------------------------------------------------------------------------------------------
# Many sentences.


@SIZES
def test_one_sentence_is_open_and_keys_open_others(open_page: OpenPage, size: tuple[int, int]) -> None:
    page = open_page(size)
    sentences = [SHORT[number % 3] for number in range(40)]
    parse(page, "\n\n".join(sentences))
    page.evaluate("document.activeElement.blur()")
    assert page.locator(".item.open").count() == page.locator(".item article").count() == 1
    for key, number in (
        ("j", 2),
        ("j", 3),
        ("k", 2),
        ("j", 3),
        ("ArrowDown", 4),
        ("ArrowUp", 3),
        ("k", 2),
        ("k", 1),
        ("k", 1),
    ):
        page.keyboard.press(key)
        wait_for_tree(page, sentences[number - 1])
        assert page.inner_text(".item.open .number") == str(number)
        assert page.evaluate("document.activeElement.matches('.item.open .row-button')")
    for _ in range(30):
        page.keyboard.press("j")
    wait_for_tree(page, sentences[30])
    top = page.locator(".item.open").evaluate("item => item.getBoundingClientRect().top")
    assert 0 < top < size[1] / 2, "the open sentence stays in view"
    page.locator(".row-button .text").get_by_text("the dog sleeps .").nth(-2).click()
    assert page.locator(".item.open").count() == 1
    page.focus("#input")
    page.keyboard.press("j")
    assert "j" in page.input_value("#input"), "keys are text in the box"


def test_numbers_of_sentences_do_not_wrap(open_page: OpenPage) -> None:
    page = open_page(PHONE)
    parse(page, "\n\n".join(SHORT * 40))
    page.evaluate("document.activeElement.blur()")
    for _ in range(11):
        page.keyboard.press("j")
    heights = page.locator(".item .number").evaluate_all("all => all.map(n => n.getClientRects()[0].height)")
    lefts = page.locator(".item .text").evaluate_all("all => all.map(n => n.getBoundingClientRect().left)")
    assert len(set(heights)) == 1 and len(heights) > 12
    assert len(set(lefts)) == 1, "the sentences are aligned whatever the number of digits"


def test_two_thousand_sentences_stay_smooth(page: Any, tmp_path: Path) -> None:
    sentences = [SHORT[number % 3] for number in range(2000)]
    page.evaluate(
        """() => new MutationObserver((_, observer) => {
            observer.disconnect();
            requestAnimationFrame(() => setTimeout(() => { window.painted = performance.now(); }));
        }).observe(document.getElementById("list"), { childList: true })"""
    )
    open_text(page, tmp_path, "\n\n".join(sentences))
    assert page.inner_text("#summary") == "2,000 sentences, 8,000 words"
    waited = page.evaluate(
        "painted - performance.getEntriesByType('resource').find(e => e.name.endsWith('api/parse')).responseEnd"
    )
    frames = page.evaluate(
        """async () => {
            const frame = () => new Promise(requestAnimationFrame);
            const times = [];
            for (let step = 0; step < 60; step += 1) {
                const start = performance.now();
                scrollBy(0, 1300);
                await frame();
                await frame(); // the rows are made before this one
                times.push((performance.now() - start) / 2);
                const row = document.elementFromPoint(innerWidth / 2, innerHeight / 2).closest(".item");
                if (row === null) throw new Error(`nothing is shown after ${scrollY} pixels`);
            }
            return times.sort((a, b) => a - b);
        }"""
    )
    assert page.locator(".item").count() < 60, "only the rows in view are on the page"
    print(
        f"first paint {waited:.0f} ms after the response; frames: median {frames[30]:.1f}, slowest {frames[-1]:.1f} ms"
    )
    assert waited < 1500
    assert frames[30] < 40, "60 frames per second, with room for a busy machine"
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    playwright.expect(page.locator(".item[data-index='1999']")).to_be_visible()
    page.locator(".item[data-index='1999'] .row-button").click()
    wait_for_tree(page, sentences[1999])


def test_trees_are_copied_in_every_format(page: Any) -> None:
    parse(page)
    for kind, start in (("SVG", "<?xml"), ("TikZ", "%"), ("JSON", "{"), ("CoNLL-U", "# sent_id = 1\n")):
        assert copied(page, kind).startswith(start), kind
    export(page, "PNG")
    playwright.expect(page.locator("#toast")).to_have_text("PNG copied")
    assert json.loads(copied(page, "JSON"))["tokens"][2]["head"] == 0
    page.keyboard.press("Escape")
    assert page.locator("#export-menu[open]").count() == 0
    assert page.evaluate("document.activeElement.innerText") == "Export"


def test_files_are_saved_under_the_name_of_the_input(page: Any, tmp_path: Path) -> None:
    open_text(page, tmp_path, TEXT, "my story.txt")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    contents = {}
    for name, suffix in (("CoNLL-U", "conllu"), ("SVG", "svg"), ("PNG", "png"), ("TikZ", "tex"), ("JSON", "json")):
        with page.expect_download() as download:
            export(page, name, "Save")
        assert download.value.suggested_filename == f"my story-2.{suffix}"
        contents[name] = Path(download.value.path()).read_bytes()
    assert b"bird" in contents["SVG"] and b"bird" in contents["TikZ"]
    assert contents["PNG"].startswith(b"\x89PNG")
    size = [int(number) for number in re.findall(rb' (?:width|height)="(\d+)"', contents["SVG"])[:2]]
    png_size = [int.from_bytes(contents["PNG"][start : start + 4]) for start in (16, 20)]
    assert png_size == [2 * number for number in size]
    page.get_by_label("All 2").check()
    assert page.get_by_role("button", name="Save SVG").is_disabled()
    for name, suffix in (("CoNLL-U", "conllu"), ("TikZ", "tex"), ("JSON", "json")):
        with page.expect_download() as download:
            export(page, name, "Save")
        assert download.value.suggested_filename == f"my story.{suffix}"
        contents[name] = Path(download.value.path()).read_bytes()
    assert contents["CoNLL-U"].count(b"\n\n") == contents["TikZ"].count(b"\\begin{dependency}") == 2
    assert len(json.loads(contents["JSON"])["sentences"]) == 2
    parse(page, "the small bird hears the child .")
    with page.expect_download() as download:
        export(page, "CoNLL-U", "Save")
    assert download.value.suggested_filename == "the-small-bird-hears-the.conllu"


def test_stepping_is_not_the_loudest_button(page: Any) -> None:
    parse(page)
    background = "button => getComputedStyle(button).backgroundColor"
    assert page.locator(".step-through").evaluate(background) != page.locator("#parse").evaluate(background)
    assert page.locator("#results button.primary").count() == 0


# ---------------------------------------------------------------------------------------------------------------------
# Comparing.

GOLD = conllu("the dog sleeps .", [2, 3, 0, 3], "det nsubj root punct")
WRONG = conllu("the dog sleeps .", [3, 3, 0, 3], "det obj root punct")


def compare(page: Any, text: str, gold: str) -> None:
    page.locator("[data-view=compare]").click()
    page.fill("#input", text)
    page.fill("#gold", gold)
    page.click("#parse")


@LOOKS
def test_two_files_are_compared(open_page: OpenPage, size: tuple[int, int], theme: str, tmp_path: Path) -> None:
    page = open_page(size, theme)
    page.locator("[data-view=compare]").click()
    for name, field, content in (("system", "#file", GOLD + WRONG), ("gold", "#gold-file", GOLD + GOLD)):
        (tmp_path / f"{name}.conllu").write_text(content)
        page.set_input_files(field, tmp_path / f"{name}.conllu")
    wait_for_tree(page, "the dog sleeps .")
    assert page.inner_text("#summary") == "2 sentences, 8 words; heads right: 87.5 %, with the relation: 75.0 %"
    assert page.locator(".item .note").all_text_contents() == ["✓ same", "2 of 4 differ"]
    page.check("#only-differences")
    wait_for_tree(page, "the dog sleeps .")
    assert page.inner_text(".item.open .number") == "2"
    page.get_by_role("button", name="Across").click()
    assert page.locator("svg .arc.gold").count() == 2
    assert page.locator("svg .arc.wrong-head").count() == page.locator("svg .arc.wrong-relation").count() == 1
    assert page.locator("svg .caption").text_content() == (
        "above: 3 of 4 heads right, 2 with the right relation; below: the gold arcs that differ"
    )
    node(page, 1).hover()
    assert "gold det of dog (2)" in page.inner_text("#word-card")
    page.mouse.move(2, 2)
    page.get_by_role("button", name="Down").click()
    assert page.locator(".down .gold").all_inner_texts() == ["gold: det of dog (2)", "gold: nsubj of sleeps (3)"]
    assert fits(page)
    check_contrast(page)
    with page.expect_download() as download:
        export(page, "TikZ", "Save")
    assert download.value.suggested_filename == "system-2.tex"
    assert "edge below" in Path(download.value.path()).read_text()


def test_files_can_be_dropped(page: Any) -> None:
    page.locator("[data-view=compare]").click()
    for box, content in (("#input", WRONG), ("#gold", GOLD)):
        data = page.evaluate_handle(
            """text => {
                const data = new DataTransfer();
                data.items.add(new File([text], "a.conllu"));
                return data;
            }""",
            content,
        )
        page.dispatch_event(box, "drop", {"dataTransfer": data})
        playwright.expect(page.locator(box)).to_have_value(content)
    wait_for_tree(page, "the dog sleeps .")


def test_gold_trees_are_compared_with_text_or_alone(page: Any) -> None:
    compare(page, "the dog sleeps .", WRONG)
    wait_for_tree(page, "the dog sleeps .")
    assert page.inner_text(".item.open .note") == "2 of 4 differ"
    node(page, 2).hover()
    assert "probability" in page.inner_text("#word-card"), "the model's trees have probabilities"
    page.fill("#input", "")
    page.click("#parse")
    playwright.expect(page.locator("#summary")).to_contain_text("1 sentence, 4 words; heads right: 75.0 %")
    compare(page, "the dog sleeps today .", GOLD)
    playwright.expect(page.get_by_role("alert")).to_contain_text("Clear the text to parse the words of the gold trees.")
    compare(page, GOLD, "no treebank")
    playwright.expect(page.get_by_role("alert")).to_contain_text("The gold trees are not in CoNLL-U.")
    compare(page, GOLD, GOLD.replace("\t0\t", "\t1\t"))
    playwright.expect(page.get_by_role("alert")).to_contain_text("Gold: ")
    assert page.evaluate("document.activeElement.id") == "gold"


def test_an_example_shows_what_comparing_is(page: Any) -> None:
    page.locator("[data-view=compare]").click()
    page.locator(".example").click()
    wait_for_tree(page, "She saw the ship with a telescope.")
    assert page.locator("svg .arc.gold").count() == 1


# ---------------------------------------------------------------------------------------------------------------------
# History, links and theme.


def test_back_returns_to_the_previous_parse(page: Any, tmp_path: Path) -> None:
    parse(page, SHORT[0])
    page.evaluate("document.activeElement.blur()")
    parse(page, "\n\n".join(SHORT[1:]))
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    wait_for_tree(page, SHORT[2])
    page.wait_for_timeout(300)
    long_text = "\n\n".join([SHORT[2]] * 1500)
    open_text(page, tmp_path, long_text)
    playwright.expect(page.locator("#summary")).to_have_text("1,500 sentences, 6,000 words")
    compare(page, WRONG, GOLD)
    playwright.expect(page.locator("#summary")).to_contain_text("heads right")
    page.go_back()
    playwright.expect(page.locator("#results")).to_be_hidden()
    page.go_back()
    playwright.expect(page.locator("#summary")).to_have_text("1,500 sentences, 6,000 words")
    assert page.input_value("#input") == long_text
    page.go_back()
    wait_for_tree(page, SHORT[2])
    assert page.input_value("#input") == "\n\n".join(SHORT[1:])
    page.go_back()
    wait_for_tree(page, SHORT[0])
    page.go_back()
    playwright.expect(page.locator("#results")).to_be_hidden()
    assert page.input_value("#input") == ""
    page.go_forward()
    wait_for_tree(page, SHORT[0])


def test_the_theme_can_be_switched_and_is_remembered(page: Any) -> None:
    parse(page)
    switch = page.get_by_role("button", name="Dark theme")
    colours = """() => [getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.querySelector("svg.drawing .form")).fill]"""
    light = page.evaluate(colours)
    assert switch.get_attribute("aria-pressed") == "false"
    switch.click()
    dark = page.evaluate(colours)
    assert switch.get_attribute("aria-pressed") == "true"
    assert light[0] != dark[0] and light[1] != dark[1]
    check_contrast(page)
    page.reload()
    wait_for_tree(page, FIRST)
    assert page.evaluate(colours) == dark
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate(colours) == light


def test_another_view_drops_a_late_answer(page: Any) -> None:
    held: list[Any] = []
    page.route("**/api/parse", lambda route: held.append(route))
    page.fill("#input", FIRST)
    page.click("#parse")
    wait_for(page, held, 1)
    page.click("[data-view=compare]")
    with page.expect_response("**/api/parse"):
        held[0].continue_()
    assert page.locator("#results").is_hidden()
    assert page.locator("body.busy").count() == 0


def test_a_link_shows_the_same_view(page: Any, browser: Any) -> None:
    parse(page)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("j")
    wait_for_tree(page, TEXT.split("\n")[2])
    step_through(page)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Copy link").click()
    playwright.expect(page.locator("#toast")).to_have_text("Link copied")
    other = browser.new_page(reduced_motion="reduce")
    other.goto(clipboard(page))
    playwright.expect(other.locator(".panel .count").first).to_contain_text("4 of", timeout=WAIT)
    assert other.input_value("#input") == TEXT
    assert other.inner_text(".item.open .number") == "2"
    other.close()


def test_a_link_shows_a_tree_that_is_far_down(page: Any, address: str) -> None:
    text = "%0A%0A".join(["the+dog+sleeps+."] * 230)
    page.goto(f"{address}#model=nobody&text={text}&sentence=223&step=1.5&mode=race&tags=0")
    page.reload()
    page.wait_for_selector("#stepper:focus")
    assert page.inner_text(".item.open .number") == "223"
    assert page.locator(".item.open svg text.tag").count() == 0
    assert counts(page) == ["0", "0"]


# ---------------------------------------------------------------------------------------------------------------------
# The stepper.


def counts(page: Any) -> list[str]:
    return [text.split(" of ")[0] for text in page.locator(".panel .count").all_inner_texts()]


def test_stepping_with_keys_and_buttons(page: Any) -> None:
    parse(page)
    step_through(page)
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


@THEMES
def test_the_panels_of_the_stepper_are_aligned(open_page: OpenPage, theme: str) -> None:
    page = open_page(theme=theme)
    parse(page)
    step_through(page)
    for _ in range(6):
        page.keyboard.press("ArrowRight")
        for part in ("h3", ".count", ".scroller svg", ".taken", "summary", ".listing"):
            tops = page.locator(f".panel {part}").evaluate_all("all => all.map(e => e.getBoundingClientRect().top)")
            assert len(tops) == 2 and abs(tops[0] - tops[1]) < 1.5, part
    check_contrast(page)


PANEL_BOXES = """panels => panels.map((panel) => {
  const edges = (element) => {
    const { left, right } = element.getBoundingClientRect();
    return [left, right];
  };
  const boxes = (selector) => [...panel.querySelectorAll(selector)].map((part) => [part.textContent, ...edges(part)]);
  return [edges(panel.querySelector(".scroller")), boxes("text.list"), boxes(".word")];
})"""


@SIZES
def test_root_is_not_cut_and_the_names_of_the_lists_stay_in_view(open_page: OpenPage, size: tuple[int, int]) -> None:
    page = open_page(size)
    for text in (FIRST, LONG):
        parse(page, text)
        step_through(page)
        for _ in range(12):
            for _ in range(1 if text == FIRST else 9):
                page.keyboard.press("ArrowRight")
            for view, names, words in page.locator(".panel").evaluate_all(PANEL_BOXES):
                assert names, "at least one list has a name"
                for name, left, right in names:
                    assert re.fullmatch(r"(‹ )?(λ₁|λ₂|Buffer)( ›)?", name)
                    assert view[0] - 1 <= left and right <= view[1] + 1, f"{name} is in view"
                assert [word for word, left, right in words if left + 1 < view[0] < right - 1] == [], "words are cut"
        page.keyboard.press("Escape")


def test_the_stepper_opens_under_its_sentence(page: Any) -> None:
    parse(page, "\n\n".join(SHORT))
    for number in (1, 2, 3, 1):
        page.locator(f".item[data-index='{number - 1}'] .row-button").click()
        wait_for_tree(page, SHORT[number - 1])
        step_through(page)
        assert page.locator(".item.open #stepper").count() == 1
        page.click("#view-menu summary")
        page.uncheck("#tags") if page.is_checked("#tags") else page.check("#tags")
        page.keyboard.press("Escape")
        assert page.locator(".item.open #stepper").is_visible()
        page.locator("#stepper").focus()
        page.keyboard.press("Escape")
        label = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert label == f"Step through sentence {number}"


def test_keys_work_after_a_click_on_a_mode(page: Any) -> None:
    parse(page)
    step_through(page)
    page.get_by_text("Race").click()
    page.wait_for_selector("#stepper:focus")
    page.keyboard.press("ArrowRight")
    assert page.is_checked("input[value=race]")
    assert counts(page) == ["1", "1"]
    page.locator("input[value=race]").focus()
    page.keyboard.press("Escape")
    assert page.locator("#stepper").is_hidden()


def test_playing_goes_on_by_itself_until_it_is_paused(page: Any) -> None:
    parse(page)
    step_through(page)
    page.keyboard.press("Space")
    playwright.expect(page.locator(".panel .count").first).to_contain_text("2 of", timeout=WAIT)
    page.keyboard.press("Space")
    playwright.expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_another_model_gives_other_trees(page: Any) -> None:
    parse(page)
    page.select_option("#model", "other")
    playwright.expect(page.locator("#about-model")).to_contain_text("Arc-swift")
    playwright.expect(page.locator("#results[inert]")).to_have_count(0)
    page.locator(".item[data-index='1'] .row-button").click()
    wait_for_tree(page, TEXT.split("\n")[2])
    step_through(page)
    playwright.expect(page.locator(".panel h3")).to_have_text(["Arc-swift", "NL-Covington"])
    assert page.locator("#modes").is_hidden()
    page.keyboard.press("End")
    assert "of 14 transitions" in page.inner_text(".panel:nth-child(2) .count")


# ---------------------------------------------------------------------------------------------------------------------
# Errors and late answers.


def test_what_comes_late_is_dropped(page: Any) -> None:
    parse(page)
    held: list[Any] = []
    page.route("**/api/steps", lambda route: held.append(route))
    page.locator(".step-through").click()
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
    wait_for_tree(page, FIRST)
    assert page.locator(".item").count() == 2
    assert json.loads(copied(page, "JSON"))["model"] == "other"
    assert page.locator("#stepper").is_hidden()


def wait_for(page: Any, held: list[Any], requests: int) -> None:
    """Wait until the page has sent this many requests."""
    for _ in range(WAIT // 20):
        if len(held) == requests:
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"{len(held)} requests instead of {requests}")


def test_blank_lines_cost_nothing(page: Any) -> None:
    page.fill("#input", "\n" * 200 + "the dog sleeps .")
    page.click("#parse")
    wait_for_tree(page, "the dog sleeps .")


def test_a_file_in_another_encoding_is_refused(page: Any, tmp_path: Path) -> None:
    source = tmp_path / "latin.txt"
    source.write_bytes("Der Müller fährt.".encode("latin-1"))
    page.set_input_files("#file", source)
    playwright.expect(page.locator("#message")).to_contain_text("latin.txt is not a UTF-8 text file")


def test_mistakes_are_shown_where_they_are(page: Any) -> None:
    page.fill("#input", "1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdog\n")
    page.click("#parse")
    playwright.expect(page.get_by_role("alert")).to_contain_text("Line 2: 2 columns")
    assert page.evaluate("getSelection().toString()") == "2\tdog"
    check_contrast(page)
    page.fill("#input", "word " * 20_000)
    page.click("#parse")
    playwright.expect(page.get_by_role("alert")).to_contain_text("The text is too long")


def test_a_server_that_is_gone_is_pointed_out(page: Any) -> None:
    parse(page)
    page.route("**/api/**", lambda route: route.abort())
    page.fill("#input", f"{TEXT} again")
    page.click("#parse")
    playwright.expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    assert page.input_value("#input") == f"{TEXT} again"


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


# ---------------------------------------------------------------------------------------------------------------------
# Accessibility.

CONTRAST = """() => {
  const rgb = (text) => (text.match(/^rgba?\\(([^)]*)\\)/) ?? ["", "0, 0, 0, 0"])[1].split(", ").map(Number);
  const isClear = (text) => text === "none" || (rgb(text)[3] ?? 1) === 0;
  const luminance = (text) => rgb(text).slice(0, 3)
    .map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const background = (element) => {
    for (let node = element; node; node = node.parentElement) {
      const pill = node.matches(".node") && node.querySelector(":scope > .pill");
      const colour = pill ? getComputedStyle(pill).fill : getComputedStyle(node).backgroundColor;
      if (!isClear(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const skipped = ":disabled, #toast, .off, option, .gone, .step-arc";
    if (!hasText || !element.checkVisibility() || element.closest(skipped)) continue;
    const style = getComputedStyle(element);
    const [one, other] = [luminance(element.closest("svg") ? style.fill : style.color), luminance(background(element))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) poor.push(`${element.outerHTML.slice(0, 80)}: ${ratio.toFixed(2)}`);
  }
  return poor;
}"""


RING = """() => {
  const focused = document.activeElement;
  const { outlineWidth, outlineStyle } = getComputedStyle(focused);
  const pill = focused.querySelector(":scope > .pill");
  const hasRing = (parseFloat(outlineWidth) >= 2 && outlineStyle !== "none")
    || (pill && getComputedStyle(pill).strokeWidth === "3px");
  return hasRing || focused.matches("body, #stepper") ? "" : focused.outerHTML.slice(0, 80);
}"""


def check_contrast(page: Any) -> None:
    """All visible text has the contrast of WCAG's level AA."""
    assert page.evaluate(CONTRAST) == []


@LOOKS
def test_the_page_fits_and_every_control_has_a_name_and_a_focus_ring(
    open_page: OpenPage, size: tuple[int, int], theme: str
) -> None:
    page = open_page(size, theme)
    parse(page)
    step_through(page)
    playwright.expect(page.locator(".panel")).to_have_count(2)
    assert fits(page)
    controls = page.locator("button:visible, input:visible, select:visible, textarea:visible, summary:visible")
    names = controls.evaluate_all(
        """all => all.map(c => c.getAttribute('aria-label') || c.innerText
            || [...(c.labels ?? [])].map(l => l.innerText).join('') || c.outerHTML)"""
    )
    assert [name for name in names if not name.strip() or name.startswith("<")] == []
    page.focus("#input")
    for _ in range(25):
        page.keyboard.press("Tab")
        assert page.evaluate(RING) == "", "the element has no focus ring"
    assert page.locator("#toast").evaluate("t => getComputedStyle(t).transitionDuration") == "0s", "reduced motion"
