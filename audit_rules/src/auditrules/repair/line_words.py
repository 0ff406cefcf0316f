"""A line's options with their spans, so that some can be changed and all else stays."""

from __future__ import annotations

from getopt import GetoptError

from auditrules.model.rule import option_positions, split_options, split_words, word_columns

WordSpan = tuple[int, int]


class LineWords:
    """The options of a line with their values, and the span of each in the line's text.

    `options` is empty where the line is not one of options alone.
    """

    def __init__(self, raw: str) -> None:
        self.raw = raw
        words = split_words(raw)
        columns = word_columns(raw)
        try:
            options, rest = split_options(list(words))
        except GetoptError:
            options, rest = [], [raw]
        self.options: list[tuple[str, str]] = [] if rest else options
        self.spans: list[WordSpan] = []
        for first, last in option_positions(list(words), self.options):
            if last >= len(words):
                self.options, self.spans = [], []
                break
            start, end = columns[first] - 1, columns[last] - 1 + len(words[last])
            self.spans.append((start, end))

    def text_of(self, at: int) -> str:
        """Return an option with its value, as written."""
        start, end = self.spans[at]
        return self.raw[start:end]

    def with_texts(self, texts: dict[int, str]) -> str:
        """Return the line with other text for some options."""
        found = self.raw
        for at in sorted(texts, reverse=True):
            start, end = self.spans[at]
            found = f"{found[:start]}{texts[at]}{found[end:]}"
        return found
