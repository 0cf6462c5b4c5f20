"""Make the pictures of docs/page.md from a running server: `make_page_pictures.py http://127.0.0.1:8080/`.

Needs playwright, Pillow and chromium, and a server with the English model. All texts are invented.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent
OTHER_STORY = "The baker found a key in the flour. She asked everybody about it, but nobody had lost one. "


@contextmanager
def opened(
    browser: Browser, address: str, width: int = 1100, height: int = 840, theme: str = "light"
) -> Iterator[Page]:
    """Open the page in a window of some size."""
    viewport = {"width": width, "height": height}
    context = browser.new_context(viewport=viewport, color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("#model option", state="attached")
    yield page
    context.close()


def open_example(page: Page, number: int) -> None:
    """Click on an example and wait for its tree."""
    page.locator(".example").nth(number).click()
    page.wait_for_selector(".item.open .node")


def save(page: Page, path: Path, selector: str = "body") -> None:
    """Save what the window shows, or one element, as a small file."""
    page.wait_for_timeout(300)
    if selector == "body":
        page.screenshot(path=path)
    else:
        page.locator(selector).screenshot(path=path, style=".results-head { visibility: hidden }")
    Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def main(address: str) -> None:
    """Make all pictures."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with opened(browser, address) as page:
            open_example(page, 0)
            page.locator(".node[data-node='1']").hover()
            save(page, HERE / "page-word.png")
        with opened(browser, address, theme="dark") as page:
            open_example(page, 1)
            page.locator(".node[data-node='8']").click()
            page.evaluate("document.querySelector('.item.open').scrollIntoView()")
            save(page, HERE / "page-down.png")
        with opened(browser, address) as page:
            open_example(page, 2)
            page.fill("#input", page.input_value("#input") + " " + OTHER_STORY * 4)
            page.click("#parse")
            page.get_by_text("14 sentences").wait_for()
            page.evaluate("document.activeElement.blur()")
            for _ in range(4):
                page.keyboard.press("j")
            page.wait_for_selector(".item.open .node")
            page.click("#export-menu summary")
            # Chromium leaves a remnant of a focus ring unless it paints this part again.
            for visibility in ("hidden", "visible"):
                page.locator(".results-head").evaluate(
                    "(head, value) => { head.style.visibility = value; }", visibility
                )
                page.wait_for_timeout(100)
            save(page, HERE / "page-list.png")
        with opened(browser, address, height=900) as page:
            page.click("[data-view=compare]")
            open_example(page, 0)
            save(page, HERE / "page-compare.png")
        with opened(browser, address, 390, 760) as page:
            open_example(page, 0)
            page.locator(".node[data-node='5']").hover()
            page.evaluate("document.querySelector('.results-head').scrollIntoView()")
            save(page, HERE / "page-phone.png")
        with opened(browser, address, 1280, 980) as page:
            open_example(page, 0)
            page.locator(".step-through").click()
            page.wait_for_selector("#stepper:focus")
            for _ in range(11):
                page.keyboard.press("ArrowRight")
            save(page, HERE.parent / "stepper.png", "#stepper")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
