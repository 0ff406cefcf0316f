from __future__ import annotations

import pytest

from hardcost.report.svg import checked

SVG = '<svg xmlns="http://www.w3.org/2000/svg">{}</svg>'


def test_ids_and_what_refers_to_them_are_prefixed() -> None:
    inside = '<clipPath id="clip0"/><g clip-path="url(#clip0)"/>'
    assert checked(SVG.format(inside), "a") == SVG.format(
        '<clipPath id="a-clip0" /><g clip-path="url(#a-clip0)" />'
    )


def test_words_stay_escaped() -> None:
    inside = "<text>&lt;script&gt;alert(1)&lt;/script&gt;</text>"
    assert checked(SVG.format(inside), "a") == SVG.format(inside)


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
        checked(SVG.format(inside), "a")
