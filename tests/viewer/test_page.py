"""The page of the viewer in Chromium: grid, filter, record page, overview, preview, keyboard and accessibility."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm

pytestmark = [pytest.mark.deep, pytest.mark.filterwarnings("ignore::ResourceWarning")]

HINT = "Chromium or Playwright is missing; run `make test-deep`, or `apt-get install chromium`"
SERIOUS = {"serious", "critical"}
OpenPage = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start Chromium for all tests of this module."""
    path = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        pytest.fail(HINT)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path)
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[OpenPage]:
    """Return a function that opens an address; at the end, the pages must have no errors of scripts or policies."""
    contexts, errors = [], []

    def note(message: Any) -> None:
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            errors.append(message.text)

    def open_address(url: str, width: int = 1200, height: int = 800, scheme: str = "light") -> Any:
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme))
        page = contexts[-1].new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", note)
        page.goto(url)
        return page

    yield open_address
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="module")
def url(photos: Path) -> Iterator[str]:
    """Address of a viewer of 60 photos with masks and boxes."""
    with rm.view(photos, browser=False) as viewer:
        yield viewer.url


@pytest.fixture(scope="module")
def pipeline_url(photos: Path) -> Iterator[str]:
    """Address of a viewer of a pipeline that crops and flips the photos at random."""
    edges = [f"image/object/bbox/{edge}" for edge in ("xmin", "ymin", "xmax", "ymax")]
    pipeline = rm.open(photos).decode(
        image=rm.Image(crop=rm.RandomResizedCrop(48), flip=True),
        mask=rm.Mask(),
        boxes=rm.Boxes(relative=True, feature=edges),
        seed=1,
    )
    with rm.view(pipeline, browser=False) as viewer:
        yield viewer.url


@pytest.fixture(scope="module")
def damaged_url(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a viewer of 30 photos; a byte of record 3 is changed."""
    path = tmp_path_factory.mktemp("damaged") / "train.tfrecord"
    data = bytearray((photos / "train-0.tfrecord").read_bytes())
    with rm.ShardReader(photos / "train-0.tfrecord") as reader:
        data[int(reader.index.offsets[3]) + 200] ^= 1
    path.write_bytes(data)
    with rm.view(path, browser=False) as viewer:
        yield viewer.url


@pytest.fixture(scope="module")
def million_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a viewer of 1,000,000 equal records without images."""
    folder = tmp_path_factory.mktemp("million")
    with rm.ShardWriter(folder / "one.tfrecord") as writer:
        writer.write({"text": "equal", "x": 1.5})
    (folder / "all.tfrecord").write_bytes((folder / "one.tfrecord").read_bytes() * 1_000_000)
    with rm.view(folder / "all.tfrecord", browser=False) as viewer:
        yield viewer.url


def cell(page: Any, row: int) -> Any:
    return page.locator(f"#cell-{row}")


def wait_for_images(page: Any, selector: str) -> None:
    """Wait until all images below a selector are decoded."""
    page.wait_for_selector(selector)
    page.wait_for_function(
        "selector => [...document.querySelectorAll(selector)].every(image => image.complete && image.naturalWidth > 0)",
        arg=selector,
    )


def apply_filter(page: Any, where: str) -> None:
    page.fill("#where", where)
    page.press("#where", "Enter")


def find_serious_findings(page: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    page.wait_for_function("() => document.querySelector('[aria-busy=true]') === null")
    found = Axe().run(page).response["violations"]
    return [
        f"{finding['id']}: {node['html'][:200]} {node['failureSummary']}"
        for finding in found
        if finding["impact"] in SERIOUS
        for node in finding["nodes"]
    ]


def is_scrolled_sideways(page: Any) -> bool:
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


def test_grid_shows_thumbnails_labels_and_keys(url: str, open_page: OpenPage) -> None:
    page = open_page(url)
    wait_for_images(page, "#cell-1 img")
    assert page.locator("#count").inner_text() == "60 records"
    assert cell(page, 0).locator(".label").inner_text() == "cat (0)"
    assert cell(page, 0).locator(".key").inner_text() == "photos/0000.jpg"


def test_labels_with_html_are_shown_as_text(url: str, open_page: OpenPage) -> None:
    page = open_page(url)
    assert cell(page, 1).locator(".label").inner_text() == "<b>dog</b> (1)"
    cell(page, 1).locator("a").click()
    page.wait_for_selector("text=<script>alert(1)</script>")
    assert page.locator("#record-page strong").inner_text() == "<b>dog</b> (1)"
    assert page.locator("main b, main script").count() == 0


def test_damaged_record_shows_its_error_in_grid_and_record_page(damaged_url: str, open_page: OpenPage) -> None:
    page = open_page(damaged_url)
    assert "checksum" in cell(page, 3).locator(".error").inner_text()
    cell(page, 3).locator("a").click()
    assert "checksum" in page.locator("#record-page .error").inner_text()


def test_record_with_several_images_is_shown_as_a_film_strip(tmp_path: Path, photos: Path, open_page: OpenPage) -> None:
    images = [example["image"] for example in rm.open(photos)[:6]]
    with rm.ShardWriter(tmp_path / "clips.tfrecord") as writer:
        writer.write({"frames": images})
    with rm.view(tmp_path / "clips.tfrecord", browser=False) as viewer:
        page = open_page(viewer.url)
        wait_for_images(page, "#cell-0 img")
        boxes = [image.bounding_box() for image in cell(page, 0).locator("img").all()]
    assert len(boxes) == 6
    assert len({box["x"] for box in boxes[:4]}) == 4 and len({box["y"] for box in boxes[:4]}) == 1


def test_grid_scrolls_through_a_million_records(million_url: str, open_page: OpenPage) -> None:
    page = open_page(million_url, width=360)
    grid = page.get_by_role("grid")
    cell(page, 0).locator(".value").first.wait_for()
    page.keyboard.press("End")
    cell(page, 999_999).locator(".value").first.wait_for()
    assert cell(page, 999_999).locator(".key").inner_text() == "record 999999"
    assert page.locator(".cell").count() < 60
    grid.evaluate("grid => { grid.scrollTop = grid.scrollHeight / 2; }")
    page.wait_for_function("() => Math.abs(Number(document.querySelector('.cell').id.slice(5)) - 500000) < 100")
    middle = int(page.locator(".cell").first.get_attribute("id")[5:])
    height = page.locator(".line").first.bounding_box()["height"]
    grid.hover()
    page.mouse.wheel(0, 300)  # Moves by a few lines, although the scroll bar stands for millions of pixels.
    page.wait_for_function(f"() => Number(document.querySelector('.cell').id.slice(5)) > {middle}")
    page.wait_for_timeout(300)
    moved = int(page.locator(".cell").first.get_attribute("id")[5:]) - middle
    assert 1 <= moved <= 300 / height + 1
    grid.evaluate("grid => { grid.scrollTop = 0; }")
    cell(page, 0).locator(".value").first.wait_for()


def test_requests_for_passed_pages_are_aborted(million_url: str, open_page: OpenPage) -> None:
    page = open_page(million_url)
    cell(page, 0).locator(".value").first.wait_for()
    page.route(re.compile("api/records.*start=500"), lambda route: None)  # Is not answered.
    with page.expect_event("requestfailed", lambda request: "start=500" in request.url):
        with page.expect_request(re.compile("start=500")):
            page.get_by_role("grid").evaluate("grid => { grid.scrollTop = grid.scrollHeight / 2; }")
        page.keyboard.press("Home")
    cell(page, 0).locator(".value").first.wait_for()


def test_filter_shows_matching_records(url: str, open_page: OpenPage) -> None:
    page = open_page(url)
    apply_filter(page, "label == 1 and width > 150")
    page.wait_for_selector("text=2 of 60 records")
    assert cell(page, 0).locator(".key").inner_text() == "photos/0055.jpg"
    assert page.get_by_role("gridcell").count() == 2
    cell(page, 0).locator("a").click()
    page.click("text=Next →")
    page.wait_for_selector("text=photos/0058.jpg")
    assert page.locator("#next").is_disabled()
    page.go_back()
    page.wait_for_selector("text=2 of 60 records")
    assert page.input_value("#where") == "label == 1 and width > 150"


def test_filter_cannot_be_typed_before_the_page_is_ready(url: str, open_page: OpenPage) -> None:
    page = open_page(url)
    requests: list[Any] = []
    page.route("**/api/dataset", lambda route: requests.append(route))  # noqa: PLW0108 (not a built-in)
    page.reload()
    assert page.locator("#where").is_disabled()
    requests[0].continue_()
    apply_filter(page, "label == 1 and width > 150")
    page.wait_for_selector("text=2 of 60 records")


def test_wrong_filter_is_explained_with_a_caret(url: str, open_page: OpenPage) -> None:
    page = open_page(url)
    apply_filter(page, "label == 1 and widht > 3")
    error = page.locator("#filter-error")
    error.locator("pre").wait_for()
    assert "widht" in error.inner_text() and "width" in error.inner_text()
    assert error.locator(".caret-line").text_content() == "label == 1 and ^"
    assert find_serious_findings(page) == []
    apply_filter(page, "")
    cell(page, 0).locator("img").wait_for()
    assert error.inner_text() == ""


def test_filter_without_matches_says_so(url: str, open_page: OpenPage) -> None:
    page = open_page(url)
    apply_filter(page, "label == 9")
    page.wait_for_selector("text=No record matches the filter.")
    page.wait_for_selector("text=0 of 60 records")


def test_running_filter_can_be_cancelled(million_url: str, open_page: OpenPage) -> None:
    page = open_page(million_url)
    apply_filter(page, "x > 2")
    page.click("text=Cancel")
    page.wait_for_selector("text=Cancelled.")
    assert page.get_by_role("progressbar").count() == 0


def test_sort_orders_the_records(url: str, open_page: OpenPage) -> None:
    page = open_page(url)
    page.select_option("#sort", "width")
    page.check("#descending")
    page.wait_for_selector("#cell-0 .key:text-is('photos/0059.jpg')")
    assert "sort=width&descending=1" in page.url
    page.reload()
    page.wait_for_selector("#cell-0 .key:text-is('photos/0059.jpg')")
    assert page.input_value("#sort") == "width" and page.is_checked("#descending")


def test_record_page_shows_features_location_and_original_image(url: str, photos: Path, open_page: OpenPage) -> None:
    page = open_page(f"{url}#/record/31")
    wait_for_images(page, ".figures img")
    main = page.locator("#record-page")
    assert "JPEG, 96 × 64" in main.inner_text()
    assert str(photos / "train-1.tfrecord") in main.inner_text()
    image = page.locator(".figures figure a").first.get_attribute("href")
    with rm.ShardReader(photos / "train-1.tfrecord") as reader:
        offset = int(reader.index.offsets[1])
    assert page.locator("dt:has-text('Offset') + dd").inner_text() == f"{offset:,}"
    assert page.request.get(url + image).body() == rm.open(photos)[31]["image"]
    with page.expect_download() as download:
        page.click("[aria-label='Download caption']")
    assert Path(download.value.path()).read_text() == "<script>alert(31)</script>"


def test_overlays_are_drawn_over_the_image_and_can_be_hidden(url: str, open_page: OpenPage) -> None:
    page = open_page(f"{url}#/record/5")
    wait_for_images(page, ".figures img")
    stage, box = page.locator(".stage").first, page.locator(".box").nth(1)
    frame, drawn = stage.bounding_box(), box.bounding_box()
    assert drawn["x"] - frame["x"] == pytest.approx(0.5 * frame["width"], abs=2)
    assert drawn["width"] == pytest.approx(0.4 * frame["width"], abs=3)
    assert stage.locator(".box-label").all_inner_texts() == ["nose", "ear"]
    mask = stage.locator(".mask")
    assert mask.bounding_box() == frame
    page.get_by_label("mask", exact=True).uncheck()
    page.get_by_label("image/object/bbox", exact=True).uncheck()
    assert not mask.is_visible() and not box.is_visible()


def test_overview_shows_schema_counts_and_histograms(url: str, open_page: OpenPage) -> None:
    page = open_page(f"{url}#/overview")
    page.wait_for_selector("text=Exact: all 60 records were read.")
    row = page.get_by_role("region", name="Features").get_by_role("row", name=re.compile("^width int64"))
    assert row.get_by_role("cell").all_inner_texts()[:8] == [
        "width",
        "int64",
        "scalar",
        "60",
        "0",
        "96",
        "155",
        "125.5",
    ]
    counts = page.locator(".bars", has_text="Records per label").get_by_role("row").all_inner_texts()
    assert [text.split("\t")[0] for text in counts[1:]] == ["cat (0)", "<b>dog</b> (1)", "bird & co (2)"]
    assert page.get_by_role("img", name=re.compile("^Width: histogram of 60 values")).first.is_visible()
    assert page.get_by_role("region", name="Shards").get_by_role("row").count() == 3
    page.wait_for_selector("text=60 records")
    page.wait_for_selector("text=no damage")


def test_overview_links_damaged_records(damaged_url: str, open_page: OpenPage) -> None:
    page = open_page(f"{damaged_url}#/overview")
    page.wait_for_selector("text=1 fault")
    page.click("text=Verify all records")
    page.get_by_role("link", name="Record 3").click()
    page.wait_for_selector("#record-page h2:has-text('Record 3')")
    page.go_back()
    page.wait_for_selector("text=could not be read")


def test_preview_shows_samples_of_several_epochs(pipeline_url: str, open_page: OpenPage) -> None:
    page = open_page(f"{pipeline_url}#/record/2")
    preview = page.get_by_role("region", name="Pipeline preview")
    preview.locator("text=Epoch 2").wait_for()
    wait_for_images(page, ".samples img")
    assert preview.locator("h3").all_inner_texts() == ["Original", "Epoch 0", "Epoch 1", "Epoch 2"]
    sample = preview.locator(".sample").nth(1)
    assert sample.locator(".stage img").first.evaluate("image => image.naturalWidth") == 48
    assert sample.locator(".mask").count() == 1
    assert preview.locator(".sample .box").count() > 0
    assert find_serious_findings(page) == []
    preview.get_by_label("Epochs").fill("5")
    preview.get_by_label("Epochs").press("Enter")
    preview.locator("text=Epoch 4").wait_for()


def test_keyboard_selects_and_opens_records(url: str, open_page: OpenPage) -> None:
    page = open_page(url)
    cell(page, 0).locator("img").wait_for()
    columns = int(page.get_by_role("grid").get_attribute("aria-colcount"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.locator("[aria-selected=true]").get_attribute("id") == f"cell-{columns + 1}"
    assert page.get_by_role("grid").get_attribute("aria-activedescendant") == f"cell-{columns + 1}"
    page.keyboard.press("Enter")
    page.wait_for_selector(f"h2:has-text('Record {columns + 1}')")
    page.wait_for_selector("#next:enabled")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(f"h2:has-text('Record {columns + 2}')")
    page.keyboard.press("Escape")
    page.wait_for_selector(f"#cell-{columns + 2}[aria-selected=true]")
    for key, row in (("Home", 0), ("End", 59)):
        page.keyboard.press(key)
        page.wait_for_selector(f"#cell-{row}[aria-selected=true]")
    page.keyboard.press("PageUp")
    assert int(page.locator("[aria-selected=true]").get_attribute("id")[5:]) < 59 - columns
    page.keyboard.press("/")
    page.wait_for_selector("#where:focus")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.type("42")
    page.keyboard.press("Enter")
    page.wait_for_selector("h2:has-text('Record 42')")


def test_back_and_forward_restore_pages_and_selection(url: str, open_page: OpenPage) -> None:
    page = open_page(url)
    cell(page, 7).locator("a").click()
    page.wait_for_selector("h2:has-text('Record 7')")
    page.click("#tab-overview")
    page.wait_for_selector("text=Exact")
    page.go_back()
    page.wait_for_selector("h2:has-text('Record 7')")
    page.go_back()
    page.wait_for_selector("#cell-7[aria-selected=true]")
    page.go_forward()
    page.wait_for_selector("h2:has-text('Record 7')")


@pytest.mark.parametrize("width, scheme", [(360, "dark"), (1200, "light")], ids=["narrow-dark", "wide-light"])
@pytest.mark.parametrize(
    "place, selector",
    [("grid", "#cell-0 img"), ("record/1", ".figures img"), ("overview", ".histogram")],
    ids=["grid", "record", "overview"],
)
def test_pages_fit_and_are_accessible(
    url: str, open_page: OpenPage, place: str, selector: str, width: int, scheme: str
) -> None:
    page = open_page(f"{url}#/{place}", width=width, scheme=scheme)
    page.wait_for_selector(selector)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", background)[:3])) / 3
    assert brightness < 60 if scheme == "dark" else brightness > 200
    assert not is_scrolled_sideways(page)
    assert find_serious_findings(page) == []
