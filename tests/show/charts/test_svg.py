from __future__ import annotations

import pytest

from hardcost.show.charts.svg import check_svg, rename_ids

SVG = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'


def test_ids_and_what_refers_to_them_are_prefixed() -> None:
    inside = '<clipPath id="clip0"/><g clip-path="url(#clip0)"/>'
    shown, _ = check_svg(SVG.format(inside), "a", "", "")
    assert '<clipPath id="a-clip0" /><g clip-path="url(#a-clip0)" />' in shown
    again = rename_ids(shown, "b")
    assert '<clipPath id="b-a-clip0" /><g clip-path="url(#b-a-clip0)" />' in again
    assert 'aria-labelledby="b-a-title"' in again
    assert '<title id="b-a-title"' in again


def test_words_stay_escaped() -> None:
    inside = "<text>&lt;script&gt;alert(1)&lt;/script&gt;</text>"
    shown, _ = check_svg(SVG.format(inside), "a", "<b>", "</svg>")
    assert inside in shown
    assert '<title id="a-title">&lt;b&gt;</title><desc id="a-desc">&lt;/svg&gt;</desc>' in shown


def test_a_drawing_has_its_width_in_whole_pixels() -> None:
    assert check_svg('<svg xmlns="http://www.w3.org/2000/svg" width="70.2"/>', "a", "", "")[1] == 71


@pytest.mark.parametrize(
    "inside",
    [
        "<script>alert(1)</script>",
        "<foreignObject/>",
        '<image href="x"/>',
        '<g onload="x"/>',
        '<g href="x"/>',
        '<g style="x"/>',
        '<g fill="url(http://a.invalid/)"/>',
        '<g fill="javascript:x"/>',
        '<g xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="x"/>',
    ],
)
def test_what_acts_or_loads_is_refused(inside: str) -> None:
    with pytest.raises(ValueError, match="a chart"):
        check_svg(SVG.format(inside), "a", "", "")
