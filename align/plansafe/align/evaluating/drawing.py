"""Plots as SVG: grouped bars, and lines with intervals. Nothing from elsewhere, all text escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import cycle
from typing import NamedTuple

COLOURS = ("#3b6fb6", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#66a61e", "#a6761d", "#666666", "#17becf", "#8c564b")
_WIDTH, _HEIGHT = 900, 470
_LEFT, _TOP, _BOTTOM = 84, 40, 110
_LEGEND, _ROW = 240, 18
_LONGEST = 28


class Value(NamedTuple):
    """A value with its interval, where there is one."""

    value: float | None
    low: float | None = None
    high: float | None = None


class Series(NamedTuple):
    """A name, and a value at each place of the plot."""

    name: str
    values: tuple[Value, ...]


def bars(title: str, places: Sequence[str], series: Sequence[Series], *, percent: bool) -> str:
    """Bars in groups: one group for each place, one bar for each series."""
    most = _most(series, percent)
    width = (_WIDTH - _LEFT - _LEGEND) / max(1, len(places))
    bar = 0.8 * width / max(1, len(series))
    lines = [*_frame(title, series, most, percent)]
    for at, place in enumerate(places):
        left = _LEFT + at * width
        lines.append(_label(left + width / 2, place, turned=len(places) > 4))
        for number, one in enumerate(series):
            value = one.values[at]
            middle = left + 0.1 * width + (number + 0.5) * bar
            if value.value is not None:
                top = _y(value.value, most)
                lines.append(
                    f'<rect x="{middle - bar / 2:.1f}" y="{top:.1f}" width="{max(1.0, bar - 1):.1f}" '
                    f'height="{_HEIGHT - _BOTTOM - top:.1f}" fill="{_colour(number)}"/>'
                )
                lines += _spread(middle, value, most)
    return _whole(lines)


def curves(title: str, axis: str, places: Sequence[float], series: Sequence[Series], *, percent: bool) -> str:
    """Lines over numbers, with a bar for each interval; a value that does not apply leaves a gap."""
    most = _most(series, percent)
    low, high = min(places), max(places)
    room = _WIDTH - _LEFT - _LEGEND - 40

    def x(place: float) -> float:
        return _LEFT + 20 + (room * (place - low) / (high - low) if high > low else room / 2)

    lines = [*_frame(title, series, most, percent)]
    lines += [_label(x(place), f"{place:g}", turned=False) for place in places]
    lines.append(_text(_LEFT + 20 + room / 2, _HEIGHT - _BOTTOM + 44, axis, "middle"))
    for number, one in enumerate(series):
        last: tuple[float, float] | None = None
        shift = 2.0 * (number - (len(series) - 1) / 2)  # so that intervals do not hide each other
        for place, value in zip(places, one.values, strict=True):
            if value.value is None:
                last = None
                continue
            here = x(place) + shift, _y(value.value, most)
            colour = _colour(number)
            if last is not None:
                lines.append(
                    f'<line x1="{last[0]:.1f}" y1="{last[1]:.1f}" x2="{here[0]:.1f}" y2="{here[1]:.1f}" '
                    f'stroke="{colour}" stroke-width="2"/>'
                )
            lines.append(f'<circle cx="{here[0]:.1f}" cy="{here[1]:.1f}" r="3.5" fill="{colour}"/>')
            lines += _spread(here[0], value, most, colour)
            last = here
    return _whole(lines)


def _whole(lines: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" '
    )
    style = 'font-family="system-ui, sans-serif" font-size="12">'
    return "\n".join([head + style, f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>', *lines, "</svg>", ""])


def _frame(title: str, series: Sequence[Series], most: float, percent: bool) -> Iterator[str]:
    yield f"<title>{_clean(title)}</title>"
    yield f'<text x="{_LEFT}" y="22" font-size="15">{_clean(title)}</text>'
    for step in range(6):
        value = most * step / 5
        y = _y(value, most)
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _LEGEND}" y2="{y:.1f}" stroke="#ddd"/>'
        yield _text(_LEFT - 6, y + 4, f"{100 * value:.0f} %" if percent else f"{value:g}", "end")
    for number, one in enumerate(series):
        y = _TOP + number * _ROW
        yield f'<rect x="{_WIDTH - _LEGEND + 14}" y="{y}" width="11" height="11" fill="{_colour(number)}"/>'
        yield _text(_WIDTH - _LEGEND + 30, y + 10, one.name, "start")


def _spread(x: float, value: Value, most: float, colour: str = "#222") -> Iterator[str]:
    if value.low is not None and value.high is not None:
        low, high = _y(value.low, most), _y(value.high, most)
        yield f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" stroke="{colour}" stroke-width="1.2"/>'


def _label(x: float, text: str, *, turned: bool) -> str:
    y = _HEIGHT - _BOTTOM + 16
    if turned:
        return f'<text x="{x:.1f}" y="{y}" text-anchor="end" transform="rotate(-25 {x:.1f} {y})">{_clean(text)}</text>'
    return _text(x, y, text, "middle")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_clean(text)}</text>'


def _clean(text: str) -> str:
    shown = "".join([char if char.isprintable() else "\ufffd" for char in text])
    return escape(shown if len(shown) <= 3 * _LONGEST else f"{shown[: 3 * _LONGEST]}..")


def _most(series: Sequence[Series], percent: bool) -> float:
    """The top of the axis: 100 %, or a round number that holds every count."""
    if percent:
        return 1.0
    largest = max([value.high or value.value or 0 for one in series for value in one.values], default=0)
    step, factors = 1, cycle((2, 2.5, 2))  # 1, 2, 5, 10, ..
    while 5 * step < largest:
        step = round(step * next(factors))
    return 5.0 * step


def _y(value: float, most: float) -> float:
    room = _HEIGHT - _TOP - _BOTTOM
    return _HEIGHT - _BOTTOM - room * min(1.0, max(0.0, value / most))


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
