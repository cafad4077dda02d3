"""The facts that a finding rests on, step by step: a table where it fits the terminal, a list where it does not."""

from __future__ import annotations

from plansafe.app.system.terminal_text import Style, centre, cut, folded, pad, visible, width
from plansafe.verifier.reporting.report import Row, Table, ValueChange

_MAX_CELL = 40


def changing(table: Table) -> Table | None:
    """Keep the columns whose value changes; ``None`` if there is none. The notes list constant values."""
    columns = range(len(table.columns))
    changing_columns = [at for at in columns if len({value for row in table.rows for value in row.cells[at]}) > 1]
    if not changing_columns:
        return None
    rows = tuple(row._replace(cells=tuple(row.cells[at] for at in changing_columns)) for row in table.rows)
    return Table(tuple(table.columns[at] for at in changing_columns), rows)


def table_lines(table: Table, style: Style, room: int) -> list[str]:
    """The lines of a table in ``room`` columns."""
    heads = [cut(visible(column), _MAX_CELL) for column in table.columns]
    cells = [[_cell(change) for change in row.cells] for row in table.rows]
    widths = [max([width(head), *(width(row[at]) for row in cells)]) for at, head in enumerate(heads)]
    actions = max(width(text) for text in ("action", *(_action(row) for row in table.rows)))
    number = _number(table)
    status = max(width(text) for text in ("rule", *(visible(row.status) for row in table.rows)))
    if number + 2 + actions + sum(size + 2 for size in widths) + 2 + status > room:
        return _listed(table, style, room)
    columns = [pad(head, size) for head, size in zip(heads, widths, strict=True)]
    title = "  ".join([f"{'step':>{number}}", pad("action", actions), *columns, "rule"])
    out = [style.bold(title)]
    for at, (row, row_cells) in enumerate(zip(table.rows, cells, strict=True)):
        if _left_out(table, at):
            out.append(f"{'..':>{number}}")
        values = [centre(cell, size) for cell, size in zip(row_cells, widths, strict=True)]
        out.append("  ".join([_step(table, at, number), pad(_action(row), actions), *values, _status(row, style)]))
    return out


def _listed(table: Table, style: Style, room: int) -> list[str]:
    """The steps as a list, each with its changes; the first with all values."""
    out = []
    number = _number(table)
    indent = " " * (number + 4)
    for at, row in enumerate(table.rows):
        status = visible(row.status)
        if _left_out(table, at):
            out.append(f"{'..':>{number}}")
        lines = folded(visible(row.action), room - number - 2)
        starts = [_step(table, at, number), *[" " * number] * len(lines)]
        out += [f"{start}  {line}" for start, line in zip(starts, lines, strict=False)]
        changes = [
            f"{visible(column)}: {visible(change.after) if change.before == change.after else _change(change)}"
            for column, change in zip(table.columns, row.cells, strict=True)
            if at == 0 or change.before != change.after
        ]
        if status and width(out[-1]) + 2 + width(status) <= room:
            out[-1] += f"  {_status(row, style)}"
        elif status:
            changes.append(f"rule: {status}")
        for text in changes:
            lines = folded(text, room - len(indent))
            out += [(indent if not above else indent + "  ") + line for above, line in enumerate(lines)]
    return out


def _number(table: Table) -> int:
    return max(4, *(len(str(row.step)) + 2 for row in table.rows))


def _step(table: Table, at: int, number: int) -> str:
    row = table.rows[at]
    step = row.step if row.step or not at else ""  # a timed literal has no number
    return f"{'>' if row.important else ' '}{step:>{number - 1}}"


def _left_out(table: Table, at: int) -> bool:
    """Whether rows before this one are left out: of many changes, the first."""
    return at > 0 and [cell.after for cell in table.rows[at - 1].cells] != [
        cell.before for cell in table.rows[at].cells
    ]


def _action(row: Row) -> str:
    return cut(visible(row.action), _MAX_CELL)


def _status(row: Row, style: Style) -> str:
    status = visible(row.status)
    return style.error(status) if status.isupper() else status


def _cell(change: ValueChange) -> str:
    if change.before == change.after:
        return cut(visible(change.after), _MAX_CELL)
    return cut(_change(change), _MAX_CELL)


def _change(change: ValueChange) -> str:
    return f"{visible(change.before)} -> {visible(change.after)}"
