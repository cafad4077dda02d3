"""The commands ``align pack`` and ``align unpack``: transfer files to and from a machine without a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import unwritable
from plansafe.app.system.process import complain, guarded, print_text
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

Output = Annotated[str, typer.Option("--output", "-o", metavar="FOLDER", help="A new folder.")]


def pack(
    output: Output,
    data: Annotated[
        list[str] | None, typer.Option("--data", metavar="PATH", help="A file of data, or a folder. Repeat it.")
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option("--weights", metavar="PATH", help="A model or adapter: safetensors or GGUF. Repeat it."),
    ] = None,
    package: Annotated[
        list[str] | None,
        typer.Option("--package", metavar="NAME", help="An installed package in pure Python, too. Repeat it."),
    ] = None,
    no_code: Annotated[bool, typer.Option("--no-code", help="Without the code of safecheck.")] = False,
    results: Annotated[
        list[str] | None,
        typer.Option(
            "--results", metavar="RUN", help="Only what comes back of a run: metrics, and adapters in bf16. Repeat it."
        ),
    ] = None,
    part_size: Annotated[
        int | None,
        typer.Option(min=1, max=59, metavar="MIB", help="Of a part, at most: 56, or 15 with --results."),
    ] = None,
) -> None:
    """Write code, data and weights as small parts with sums, for a machine without a network (docs/packing.md).

    Exit codes: 0 written, 2 usage, or something that cannot be packed.
    """

    def work() -> int:
        from plansafe.align.packing import contents  # noqa: PLC0415 - not for --help
        from plansafe.align.packing.halving import pack_results  # noqa: PLC0415
        from plansafe.align.packing.pack import PART_MIB, RESULT_MIB  # noqa: PLC0415
        from plansafe.align.packing.pack import pack as write  # noqa: PLC0415

        if results and (data or weights or package or no_code):
            raise BadOption("--results packs what a run left, and nothing else", "pack the rest by a call of its own")
        skipped_files: list[str] = []
        if results:
            manifest, skipped_files = pack_results(results, output, (part_size or RESULT_MIB) << 20)
        else:
            members = [] if no_code else contents.code()
            choices = ((package, contents.package), (data, contents.data), (weights, contents.weights))
            members += [member for paths, chosen in choices for path in paths or [] for member in chosen(path)]
            if not members:
                raise BadOption("there is nothing to pack", "name --data or --weights, or leave out --no-code")
            manifest = write(members, output, (part_size or PART_MIB) << 20)
        print_text(manifest.describe(output) + (f"not packed: {len(skipped_files):,} files\n" if skipped_files else ""))
        return 0

    raise typer.Exit(guarded(lambda: _run_reporting_errors(work, output)))


def unpack(
    folder: Annotated[str, typer.Argument(metavar="PACK", help="The folder with the parts.")],
    output: Output,
    sum: Annotated[
        str | None, typer.Option("--sum", metavar="SHA256", help="The sum of the pack, as `pack` printed it.")
    ] = None,
) -> None:
    """Verify a pack and write its files into a new folder, all of them or nothing.

    Exit codes: 0 written, 2 usage, or a pack that is refused.
    """

    def work() -> int:
        from plansafe.align.packing.unpack import unpack as join  # noqa: PLC0415 - not for --help

        print_text(join(folder, output, sum).describe(output))
        return 0

    raise typer.Exit(guarded(lambda: _run_reporting_errors(work, output)))


def _run_reporting_errors(work: Callable[[], int], output: str) -> int:
    """Execute ``work``, and report errors of the user with their exit code."""
    from plansafe.align.packing.pack import NotPacked  # noqa: PLC0415 - not for --help
    from plansafe.align.packing.unpack import Refused  # noqa: PLC0415

    try:
        return work()
    except (BadOption, NotPacked) as bad:
        return complain(bad.diagnostic)
    except Refused as refused:
        return complain(Diagnostic(SC.BAD_PACK, refused.message, help=refused.help))
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        return complain(unwritable(output, error))
