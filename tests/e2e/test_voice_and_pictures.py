"""People speak a message, and draw on the pictures of it, on a real server."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.axe import find_faults, install_axe
from tests.e2e.browser import of_page, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import new_session

pytestmark = [*of_page, pytest.mark.deep]
# A recognition that hears what the test has it hear.
RECOGNITION = """
    window.heard = [];
    window.webkitSpeechRecognition = class {
        start() { window.listening = this; window.heard.push(`start ${this.lang}`); }
        stop() { window.heard.push("stop"); this.onend(); }
        abort() { window.heard.push("abort"); this.onend(); }
        hear(transcript, isFinal) {
            const result = Object.assign([{ transcript }], { isFinal });
            this.onresult({ resultIndex: 0, results: [result] });
        }
    };
"""
# A picture of one colour, as a screenshot is pasted; how many of its pixels have another.
PASTE = """async (field) => {
    const canvas = new OffscreenCanvas(400, 300);
    canvas.getContext("2d").fillStyle = "#ffffff";
    canvas.getContext("2d").fillRect(0, 0, 400, 300);
    const held = new DataTransfer();
    const blob = await canvas.convertToBlob({ type: "image/png" });
    held.items.add(new File([blob], "image.png", { type: "image/png" }));
    field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: held, bubbles: true }));
}"""
DRAWN = """async (field) => {
    const { width, height, ...picture } = await createImageBitmap(field.files[0]).then((one) => {
        const canvas = new OffscreenCanvas(one.width, one.height);
        const pen = canvas.getContext("2d");
        pen.drawImage(one, 0, 0);
        return pen.getImageData(0, 0, one.width, one.height);
    }).then(({ width, height, data }) => ({ width, height, data }));
    let red = 0;
    const { data } = picture;
    for (let at = 0; at < data.length; at += 4) red += data[at] > 200 && data[at + 1] < 80;
    return [width, height, red];
}"""


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    with watched(signed_in, console=True) as page:
        page.add_init_script(RECOGNITION)
        yield page


@pytest.fixture
def session(server: Installation, client: httpx.Client, page: Page) -> str:
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    return session


def hear(page: Page, text: str, *, is_final: bool) -> None:
    page.evaluate("([text, isFinal]) => listening.hear(text, isFinal)", [text, is_final])


@pytest.mark.usefixtures("session")
def test_what_is_said_goes_to_the_caret_until_escape(page: Page) -> None:
    field, note = page.locator("#prompt"), page.locator("[data-dictate-note]")
    field.fill("Please now.")
    field.evaluate("(field) => field.setSelectionRange(7, 7)")
    button = page.get_by_role("button", name="Dictate")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(note).to_contain_text("Your browser may send the audio to its vendor.")
    hear(page, "fix the", is_final=False)
    expect(note).to_contain_text("fix the")
    expect(field).to_have_value("Please now.")
    hear(page, "fix the till", is_final=True)
    expect(field).to_have_value("Please fix the till now.")
    page.keyboard.press("Escape")
    expect(button).to_have_attribute("aria-pressed", "false")
    expect(note).to_be_hidden()
    assert page.evaluate("heard") == ["start en", "stop"]

    # By its name, and never into a message that was sent.
    field.fill("/dictate")
    page.get_by_role("option", name="/dictate").click()
    expect(button).to_have_attribute("aria-pressed", "true")
    field.fill("Say hello.")
    field.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("heard").count("abort") == 1
    page.evaluate("listening.onerror({ error: 'not-allowed' })")
    expect(page.locator("#toasts")).to_contain_text("Allow the microphone")


@pytest.mark.deep
def test_a_browser_without_recognition_shows_no_button(page: Page, server: Installation) -> None:
    page.add_init_script("delete window.webkitSpeechRecognition")
    page.goto(f"{server.url}/t/{server.team}/")
    expect(page.locator("#prompt")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-js", "on")
    expect(page.locator("[data-dictate]")).to_be_hidden()


@pytest.mark.usefixtures("session")
def test_a_screenshot_is_drawn_on_before_it_is_sent(page: Page) -> None:
    page.locator("#prompt").evaluate(PASTE)
    page.get_by_role("button", name="Draw on image.png").click()
    dialog = page.get_by_role("dialog", name="Draw on image.png")
    canvas = dialog.get_by_role("application")
    place = canvas.bounding_box()
    assert place is not None
    # The pointer draws a frame, and undo takes it back.
    dialog.get_by_text("Rectangle").click()
    page.mouse.move(place["x"] + 20, place["y"] + 20)
    page.mouse.down()
    page.mouse.move(place["x"] + 120, place["y"] + 120)
    page.mouse.up()
    undo = dialog.get_by_role("button", name="Undo")
    undo.click()
    expect(undo).to_be_disabled()
    # All of it with keys.
    dialog.get_by_role("radio", name="Arrow").focus()
    page.keyboard.press("Space")
    canvas.focus()
    page.keyboard.press("Space")
    for _ in range(5):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Space")
    expect(dialog.get_by_role("status")).to_have_text("Shape drawn")
    dialog.get_by_text("Text", exact=True).click()
    dialog.get_by_label("Text to place").fill("here")
    canvas.click(position={"x": 40, "y": 60})
    assert [*find_faults(page, "drawing", install_axe(), is_frame=True)] == []
    dialog.get_by_role("button", name="Done").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Draw on image.png")).to_be_visible()
    width, height, red = page.locator("[data-files]").evaluate(DRAWN)
    assert (width, height) == (400, 300)
    assert red > 300

    # Who has drawn nothing, or is sure, gets away at once.
    page.get_by_role("button", name="Draw on image.png").click()
    expect(dialog).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert page.locator("[data-files]").evaluate(DRAWN)[2] == red
    page.locator("#prompt").fill("Look at this.")
    page.locator("#prompt").press("Enter")
    sent = page.locator(".prompt").last.get_by_role("img", name="image.png")
    expect(sent).to_be_visible()
