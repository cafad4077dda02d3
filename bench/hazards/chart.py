"""A horizontal bar chart with two bars in each row, as SVG: text that a diff can show."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_ROW, _BAR, _LEFT, _WIDTH, _TOP = 34, 12, 190, 460, 62
_COLOURS = ("#b3261e", "#9aa5b1")


def bars(rows: Sequence[tuple[str, int, int]], title: str, names: tuple[str, str]) -> str:
    """Draw rows of (label, first, second); lengths are on one scale. Returns the SVG text."""
    longest = max([1, *[max(first, second) for _, first, second in rows]])
    height = _TOP + _ROW * len(rows) + 10
    total = _LEFT + _WIDTH + 60
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {height}" role="img">',
        '<g font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{total}" height="{height}" fill="white"/>',
        f'<text x="10" y="20" font-size="14">{escape(title)}</text>',
    ]
    for place, (name, colour) in enumerate(zip(names, _COLOURS, strict=True)):
        x = _LEFT + place * 190
        out.append(f'<rect x="{x}" y="32" width="12" height="12" fill="{colour}"/>')
        out.append(f'<text x="{x + 18}" y="42">{escape(name)}</text>')
    for number, (label, *values) in enumerate(rows):
        y = _TOP + number * _ROW
        out.append(f'<text x="{_LEFT - 8}" y="{y + 16}" text-anchor="end">{escape(label)}</text>')
        for place, (value, colour) in enumerate(zip(values, _COLOURS, strict=True)):
            top = y + place * (_BAR + 1)
            width = round(value / longest * _WIDTH, 1)
            out.append(f'<rect x="{_LEFT}" y="{top}" width="{width}" height="{_BAR}" fill="{colour}"/>')
            out.append(f'<text x="{_LEFT + width + 5}" y="{top + 10}">{value}</text>')
    return "\n".join([*out, "</g></svg>"]) + "\n"
