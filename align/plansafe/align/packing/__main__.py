"""``python -m plansafe.align.packing RUN.. -o FOLDER``: what comes back of runs, where no command line is installed."""

from __future__ import annotations

import argparse
import sys

from plansafe.align.packing.halving import pack_results
from plansafe.align.packing.pack import RESULT_MIB, NotPacked


def main(arguments: list[str] | None = None) -> int:
    """Pack results as ``safecheck align pack --results`` does; an exit code."""
    parser = argparse.ArgumentParser(prog="plansafe.align.packing", description="Pack metrics and adapters of runs.")
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a folder that was trained into")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="a new folder")
    parser.add_argument("--part-size", type=int, default=RESULT_MIB, choices=range(1, 60), metavar="MIB")
    given = parser.parse_args(arguments)
    try:
        manifest, left = pack_results(given.runs, given.output, given.part_size << 20)
    except NotPacked as refused:
        sys.stderr.write(f"error: {ascii(refused.diagnostic.message)[1:-1]}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"error: {ascii(str(error))[1:-1]}\n")
        return 2
    for line in (*manifest.describe(given.output).splitlines(), f"left behind: {len(left):,} files"):
        print(ascii(line)[1:-1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
