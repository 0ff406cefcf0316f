"""The what-if part of a bill's page, as its user has it: in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page, expect

from auditrules.model.rule import Rule
from hardcost.controls.control import Control
from hardcost.mechanisms.audit import AuditRule
from hardcost.mechanisms.auditd import Auditd, AuditPlugin
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.finding.bill import Advice
from hardcost.model.finding.finding import Finding
from hardcost.profiles import catalogue
from hardcost.show.page.page import to_html
from hardcost.show.page.what_if import data_for_page
from tests.show.page.planted import COSTS, SETTINGS, planted, shared

Shown = Callable[..., Page]

EVERY = frozenset(range(len(SETTINGS)))
WINDOWS = {1400: 900, 390: 844}
GRAVE = {"serious", "critical"}


@pytest.fixture
def shown(browser: Browser, tmp_path: Path) -> Iterator[Shown]:
    """Show a finding's page in a browser that must load nothing but the page and meet no error."""
    faults: list[str] = []
    contexts = []

    def show(finding: Finding | None = None, fragment: str = "", **how: Any) -> Page:  # noqa: ANN401  (Playwright's)
        file = tmp_path / "report.html"
        url = file.as_uri()
        file.write_text(to_html(planted() if finding is None else finding), encoding="utf-8")
        context = browser.new_context(**how)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text))
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        page.on("request", lambda one: faults.extend([one.url] * (one.url.split("#")[0] != url)))
        page.goto(url + fragment)
        return page

    yield show
    for context in contexts:
        context.close()
    assert not [one for one in faults if not one.startswith("blob:")]


def named(page: Page, name: str) -> Any:  # noqa: ANN401  (Playwright's locator)
    """Return the box of a control by what a screen reader says of it."""
    return page.get_by_role("checkbox", name=name, exact=True)


def tick(page: Page, on: Iterable[int]) -> None:
    """Click the boxes that are not yet as wanted."""
    page.evaluate(
        """wanted => document.querySelectorAll("#choices tr").forEach(row => {
            const box = row.querySelector("input");
            const name = row.querySelector("code").textContent;
            if (box.checked !== wanted.includes(name)) box.click();
        })""",
        [SETTINGS[nth].name for nth in on],
    )


def costs(page: Page) -> dict[str, str]:
    """Return what the table of metrics says of the choice."""
    rows: list[list[str]] = page.locator("#metrics tr").evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.innerText.trim()))"
    )
    return {name: added for name, _, _, added, _ in rows}


def signed(value: float) -> str:
    return f"+{value:,.0f}" if value > 0 else f"{value:,.0f}"


def test_all_is_the_total_and_nothing_costs_nothing(shown: Shown) -> None:
    page = shown()
    assert costs(page) == {"null": "+587", "open": "+598"}
    verdict = page.locator("#verdict")
    assert verdict.inner_text().startswith(
        "6 of 6 controls add 598.0 instructions (+59.8%) to the average system call"
    )
    assert page.locator("#basis").inner_text().startswith("Measured")
    page.get_by_role("button", name="Untick all").click()
    assert costs(page) == {"null": "0", "open": "0"}
    assert verdict.inner_text().startswith("0 of 6 controls add 0 instructions (0%)")
    assert "saves 100% of the cost" in verdict.inner_text()
    assert page.get_by_role("button", name="Download as a profile").is_disabled()


def test_one_control_off_or_one_alone_is_what_was_measured(shown: Shown) -> None:
    page = shown()
    for nth in EVERY:
        for on in (EVERY - {nth}, frozenset({nth})):
            tick(page, on)
            assert costs(page) == {metric: signed(cost(on)) for metric, cost in COSTS.items()}
            assert page.locator("#basis").inner_text().startswith("Measured")


def test_any_other_choice_is_a_prediction_that_holds(shown: Shown) -> None:
    page = shown()
    for on in ({0, 1}, {2, 3}, {0, 2, 4}, {1, 3, 4, 5}):
        tick(page, on)
        said = costs(page)
        assert said["null"] == signed(COSTS["null"](frozenset(on)))
        ends = [float(it.replace(",", "")) for it in re.findall(r"[-+]?[\d,]+", said["open"])]
        assert ends[0] <= COSTS["open"](frozenset(on)) <= ends[-1]
        assert page.locator("#basis").inner_text().startswith("Predicted, not measured")


def test_the_address_restores_the_choice_and_the_mix(shown: Shown) -> None:
    page = shown()
    named(page, SETTINGS[2].name).uncheck()
    named(page, SETTINGS[5].name).uncheck()
    page.get_by_role("spinbutton", name="Weight of open").fill("2.5")
    page.get_by_role("spinbutton", name="Weight of open").press("Enter")
    fragment = "#" + page.url.partition("#")[2]
    assert page.locator("#share").get_attribute("href") == fragment
    again = shown(fragment=fragment)
    for part in ("#verdict", "#mix-answer", "#choices", "#metrics"):
        assert again.locator(part).inner_text() == page.locator(part).inner_text()
    assert not named(again, SETTINGS[2].name).is_checked()
    assert named(again, SETTINGS[3].name).is_checked()
    assert again.get_by_label("What it adds to").input_value() == "own"
    again.evaluate("location.hash = ''")
    again.go_back()
    assert not named(again, SETTINGS[2].name).is_checked()


@pytest.mark.parametrize(
    "fragment", ["bill=00000000&off=1", "bill=ID&off=0-3", "bill=ID&off=9999999", "bill=ID&mix=x"]
)
def test_an_address_of_no_choice_says_so_and_chooses_nothing(shown: Shown, fragment: str) -> None:
    page = shown()
    own = page.locator("#share").get_attribute("href") or ""
    identity = re.findall(r"bill=(\w+)", own)[0]
    again = shown(fragment=f"#{fragment.replace('ID', identity)}")
    assert "does not say what to choose" in again.get_by_role("alert").inner_text()
    assert costs(again) == costs(page)


def test_the_mix_weighs_the_metrics(shown: Shown) -> None:
    page = shown()
    page.get_by_label("What it adds to").select_option("open")
    assert page.locator("#mix-answer").inner_text() == (
        "All 6 controls add 598 instructions per operation (+59.8%) to open."
    )
    assert SETTINGS[3].name in page.locator("#choices tr").first.inner_text()
    page.get_by_role("spinbutton", name="Weight of null").fill("10")
    page.get_by_role("spinbutton", name="Weight of null").press("Tab")
    assert page.locator("#mix-answer").inner_text() == (
        "All 6 controls add 588.0 instructions (+58.8%) to the average call of your mix."
    )


def test_the_only_metric_is_chosen(shown: Shown) -> None:
    page = shown(planted({"null": shared}))
    assert page.locator("#mix-choice option:checked").inner_text() == "null"
    assert page.locator("#mix-answer").inner_text().endswith("to null.")


def test_the_first_screen_says_what_to_do(shown: Shown) -> None:
    page = shown(viewport={"width": 1400, "height": 900})
    says = page.locator("#to-do")
    assert says.inner_text().startswith("Leaving out #1 and #2 saves ")
    assert says.inner_text().endswith("(predicted).")
    box = page.locator("#dearest").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900
    says.get_by_role("link").click()
    expect(page.locator("#verdict")).to_have_text(re.compile(r"^4 of 6 controls"))


def test_a_saving_that_may_be_noise_has_no_number(shown: Shown) -> None:
    finding = planted()
    totals = tuple(replace(one, least=5000.0) for one in finding.totals)
    says = shown(replace(finding, totals=totals)).locator("#to-do")
    assert says.inner_text() == (
        "Leaving out #1 and #2 saves an amount that is smaller than the noise; measure it."
    )


def test_what_was_found_for_a_budget_is_not_contradicted(shown: Shown) -> None:
    finding = planted()
    advice = Advice(
        budget=0.05, leave_out=(SETTINGS[0].name,), kept=5, totals=finding.totals, within=True
    )
    page = shown(replace(finding, advice=advice))
    expect(page.locator("#mix-answer")).to_be_visible()
    expect(page.locator("#to-do")).to_be_hidden()


def test_the_download_is_a_profile_of_just_the_choice(shown: Shown, tmp_path: Path) -> None:
    rules = (AuditRule(Rule("-w /etc/passwd -p wa")), AuditRule(Rule("-a exit,always -S all")))
    controls: tuple[Control, ...] = (*rules, *SETTINGS[:2])
    page = shown(planted(COSTS, controls))
    named(page, rules[0].name).uncheck()
    with page.expect_download() as waited:
        page.get_by_role("button", name="Download as a profile").click()
    assert waited.value.suggested_filename == "planted-choice.toml"
    file = tmp_path / "choice.toml"
    waited.value.save_as(file)
    read = catalogue.load(str(file))
    assert [one.name for one in read.controls] == ["auditd", *(one.name for one in controls[1:])]


def test_what_a_control_requires_comes_and_goes_with_it(shown: Shown) -> None:
    controls: tuple[Control, ...] = (Auditd(), AuditPlugin("syslog"), *SETTINGS[:2])
    needs: dict[str, tuple[str, ...]] = {controls[1].name: (controls[0].name,)}
    finding = planted({"null": lambda on: 5.0 * len(on)}, controls)
    page = shown(replace(finding, needs=needs))
    named(page, controls[0].name).uncheck()
    assert not named(page, controls[1].name).is_checked()
    named(page, controls[1].name).check()
    assert named(page, controls[0].name).is_checked()


def test_sorting_and_filters_keep_the_choice(shown: Shown) -> None:
    finding = planted()
    grave = {SETTINGS[5].name: "high", SETTINGS[4].name: "medium", SETTINGS[3].name: "low"}
    items = (replace(it, severity=grave.get(it.control, "")) for it in finding.items)
    page = shown(replace(finding, items=tuple(items)))

    def rows() -> list[str]:
        names = (
            row.locator("code").inner_text() for row in page.locator("#choices tr:visible").all()
        )
        return [name.removeprefix("kernel.setting_").removesuffix("=1") for name in names]

    page.get_by_role("button", name="control", exact=True).click()
    assert rows() == list("012345")
    page.get_by_role("button", name="control", exact=True).click()
    assert rows() == list("543210")
    sorted_by = page.locator("th[aria-sort=descending]")
    assert sorted_by.inner_text().startswith("control")
    page.locator("#file").select_option("10-first.conf")
    assert rows() == list("531")
    page.get_by_role("button", name="Untick these").click()
    page.locator("#file").select_option("any")
    assert [named(page, one.name).is_checked() for one in SETTINGS] == [True, False] * 3
    page.get_by_label("Severity").select_option("high")
    assert rows() == ["5"]
    page.get_by_label("Severity").select_option("any")
    page.get_by_role("button", name="severity").click()
    assert rows()[:3] == ["5", "4", "3"]
    page.get_by_label("Search").fill("cce-4")
    assert rows() == ["4"]
    assert page.locator("#shown").inner_text() == "1 of 6 controls shown."


def test_the_keyboard_alone_suffices(shown: Shown) -> None:
    page = shown()

    def focused() -> str:
        """Return what has the focus, which has to be visible."""
        styles = (
            "const s = getComputedStyle(document.activeElement); [s.outlineStyle, s.outlineWidth]"
        )
        assert page.evaluate(f"(() => {{ {styles.replace('; [', '; return [')} }})()")[0] != "none"
        return str(page.evaluate("document.activeElement.id"))

    def go_to(wanted: str) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            if focused() == wanted:
                return
        pytest.fail(f"{wanted} can't be reached")

    go_to("mix-choice")
    page.keyboard.press("ArrowDown")
    assert page.locator("#mix-answer").inner_text().endswith("to null.")
    go_to("search")
    page.keyboard.type("setting_3")
    go_to("keep-1")
    page.keyboard.press("Space")
    assert page.locator("#verdict").inner_text().startswith("5 of 6 controls")
    go_to("download")
    with page.expect_download():
        page.keyboard.press("Enter")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WINDOWS)
def test_nothing_grave_for_people_who_see_or_hear_it_otherwise(
    shown: Shown, width: int, scheme: Literal["light", "dark"]
) -> None:
    window = {"width": width, "height": WINDOWS[width]}
    page = shown(viewport=window, color_scheme=scheme, bypass_csp=True)
    named(page, SETTINGS[1].name).uncheck()
    page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true })")
    found = Axe().run(page).response["violations"]
    assert not [one["help"] for one in found if one["impact"] in GRAVE]
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_the_script_the_tables_stand(shown: Shown) -> None:
    page = shown(java_script_enabled=False)
    assert page.locator("#bill table").first.is_visible()
    assert page.get_by_text("makes open").first.is_visible()
    for hidden in page.locator("[data-script]").all():
        assert not hidden.is_visible()
    assert not page.get_by_role("checkbox").count()


def test_hostile_names_are_text(shown: Shown) -> None:
    odd = (
        "</script><script>alert(1)</script>",
        '"><img src=x onerror=alert(2)>{{ 7*7 }}',
        "javascript:alert(3) ' ` ${alert(4)} \u202e \n &lt;",
    )
    controls = tuple(replace(SETTINGS[nth], value=text) for nth, text in enumerate(odd))
    costs = {f"m {text}": COSTS["null"] for text in odd}
    page = shown(planted(costs, controls, name=odd[1]))
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    codes = page.locator("#choices code").all_inner_texts()
    assert any("<script>alert(1)</script>" in code for code in codes)
    assert any("{{ 7*7 }}" in code for code in codes)
    assert any(r"\u202e \n &lt;" in code for code in codes)
    page.get_by_role("checkbox").first.uncheck()
    assert page.locator("#verdict").inner_text().startswith("2 of 3 controls")


@pytest.fixture(scope="module")
def functions(browser: Browser) -> Iterator[Page]:
    """A blank page that knows the functions of choice.js."""
    text = (resources.files("hardcost.show.page") / "choice.js").read_text("utf-8")
    page = browser.new_page()
    page.evaluate(text.replace("export ", "") + "\nObject.assign(globalThis, { totals, unpacked })")
    yield page
    page.close()


_SIZES = st.integers(0, 50).map(float)


@settings(
    deadline=None,
    max_examples=settings().max_examples * 3 // 10,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    own=st.lists(_SIZES, min_size=4, max_size=6),
    groups=st.lists(st.tuples(st.sets(st.integers(0, 5), min_size=2), _SIZES), max_size=4),
)
def test_where_costs_are_shared_by_groups_the_truth_lies_in_every_band(
    functions: Page, own: list[float], groups: list[tuple[set[int], float]]
) -> None:
    """A group's cost arises with its first control, so costs only fall in company."""
    every = frozenset(range(len(own)))

    def cost(on: frozenset[int]) -> float:
        common = sum(size for members, size in groups if members & on)
        return common + sum(own[nth] for nth in on)

    finding = planted({"null": cost}, tuple(Sysctl(f"kernel.n{n}", "1") for n in every))
    text = data_for_page(finding) or ""
    choices = [[nth for nth in every if bits >> nth & 1] for bits in range(2 ** len(own))]
    names = [[f"kernel.n{nth}=1" for nth in on] for on in choices]
    bands = functions.evaluate(
        """([held, choices]) => {
            const bill = unpacked(held);
            return choices.map(names =>
                totals(bill, bill.controls.map(({ name }) => names.includes(name)))[0]);
        }""",
        [json.loads(text), names],
    )
    for on, band in zip(choices, bands, strict=True):
        assert band["low"] - 1e-9 <= cost(frozenset(on)) <= band["high"] + 1e-9
        if len(on) in {0, 1, len(every) - 1, len(every)}:
            assert band["basis"] == "measured"
            assert band["low"] == band["high"] == cost(frozenset(on))
