"""The commands ``align pack`` and ``align unpack``: what a machine without a network needs, and what comes back."""

from __future__ import annotations

from collections.abc import Callable

from plansafe.app.options.option import Options, argument, command, integer, switch, text
from plansafe.app.options.shared import Assignments
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import unwritable
from plansafe.app.system.process import complain, guarded, print_text
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic


class PackOptions(Assignments):
    """The options of ``align pack``."""

    output: str = text("--output", "-o", metavar="FOLDER", required=True, help="Write the pack to this new folder.")
    data: tuple[str, ...] = text(
        "--data", metavar="PATH", many=True, help="Pack this file or folder of data. May be repeated."
    )
    weights: tuple[str, ...] = text(
        "--weights",
        metavar="PATH",
        many=True,
        help="Pack this model or adapter: safetensors or GGUF. May be repeated.",
    )
    package: tuple[str, ...] = text(
        "--package",
        metavar="NAME",
        many=True,
        help="Pack this installed package in pure Python. May be repeated.",
    )
    no_code: bool = switch("--no-code", help="Leave out the code of safecheck.", key="pack.no_code", only_set=True)
    results: tuple[str, ...] = text(
        "--results",
        metavar="RUN",
        many=True,
        help="Pack only the results of a run: metrics, and adapters in bf16. May be repeated.",
    )
    part_size: int | None = integer(
        "--part-size",
        metavar="MIB",
        low=1,
        high=59,
        help="Limit the size of a part (56 MiB, or 15 with --results).",
        key="pack.part_size",
        only_set=True,
    )


class UnpackOptions(Options):
    """The options of ``align unpack``."""

    folder: str = argument("PACK", "The folder with the parts.", required=True)
    output: str = text("--output", "-o", metavar="FOLDER", required=True, help="Write the files to this new folder.")
    sum: str | None = text("--sum", metavar="SHA256", help="Compare with this sum, which `align pack` printed.")


@command(PackOptions)
def pack(options: PackOptions) -> int:
    """Write code, data and weights as small parts with sums, for a machine without a network (docs/alignment.md).

    Exit codes: 0 written, 2 usage, or something that cannot be packed.
    """

    def work() -> int:
        from plansafe.align.packing import contents  # noqa: PLC0415 - not for --help
        from plansafe.align.packing.halving import pack_results  # noqa: PLC0415
        from plansafe.align.packing.pack import PART_MIB, RESULT_MIB  # noqa: PLC0415
        from plansafe.align.packing.pack import pack as write  # noqa: PLC0415

        if options.results and (options.data or options.weights or options.package or options.no_code):
            raise BadOption("--results packs what a run left, and nothing else", "pack the rest by a call of its own")
        left: list[str] = []
        if options.results:
            manifest, left = pack_results(options.results, options.output, (options.part_size or RESULT_MIB) << 20)
        else:
            members = [] if options.no_code else contents.code()
            choices = (
                (options.package, contents.package),
                (options.data, contents.data),
                (options.weights, contents.weights),
            )
            members += [member for paths, chosen in choices for path in paths or [] for member in chosen(path)]
            if not members:
                raise BadOption("there is nothing to pack", "name --data or --weights, or leave out --no-code")
            manifest = write(members, options.output, (options.part_size or PART_MIB) << 20)
        print_text(manifest.describe(options.output) + (f"left behind: {len(left):,} files\n" if left else ""))
        return 0

    return guarded(lambda: _usable(work, options.output))


@command(UnpackOptions)
def unpack(options: UnpackOptions) -> int:
    """Verify a pack and write its files into a new folder, all of them or nothing.

    Exit codes: 0 written, 2 usage, or a pack that is refused.
    """

    def work() -> int:
        from plansafe.align.packing.unpack import unpack as join  # noqa: PLC0415 - not for --help

        print_text(join(options.folder, options.output, options.sum).describe(options.output))
        return 0

    return guarded(lambda: _usable(work, options.output))


def _usable(work: Callable[[], int], output: str) -> int:
    """Do the work; mistakes of the user are said, with their code."""
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
