"""``python -m plansafe.align.reproducing SIZE -o FOLDER``: one call, or several calls, until everything is done."""

from __future__ import annotations

import argparse
import sys

from plansafe.align.reproducing.estimates import SPEEDS, estimates, table
from plansafe.align.reproducing.running import PAGE, REPORT, NotReproduced, reproduce
from plansafe.align.reproducing.sizes import names, read_size
from plansafe.align.tables import BadConfig
from plansafe.align.training.folder import BadTraining

NOT_DONE = 3


def main(arguments: list[str] | None = None) -> int:
    """Exit codes: 0 everything is done, 2 it cannot be done, 3 the time was over: the same call continues."""
    parser = argparse.ArgumentParser(
        prog="plansafe.align.reproducing", description="Tasks, SFT, rounds of pairs and training, evaluation, report."
    )
    parser.add_argument("size", metavar="SIZE", help=f"{', '.join(names())}, or a TOML file")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="write everything to this folder")
    parser.add_argument("--model", metavar="NAME", help="use another base: hf/FOLDER, gguf/FILE or random")
    parser.add_argument("--jobs", type=int, default=2, choices=range(1, 65), metavar="N", help="run N processes (2)")
    parser.add_argument("--minutes", type=float, metavar="N", help="stop after N minutes; the same call continues")
    parser.add_argument("--dry-run", action="store_true", help="print the units with estimated time and memory")
    parser.add_argument("--device", choices=sorted(SPEEDS), default="cpu", help="estimate for this device (cpu)")
    options = parser.parse_args(arguments)
    try:
        size = read_size(options.size, options.model)
        if options.dry_run:
            _say(table(estimates(size, options.device, options.output), options.jobs, options.device))
            return 0
        seconds = None if options.minutes is None else 60 * options.minutes
        done = reproduce(size, options.output, options.jobs, seconds, _say)
    except BadConfig as error:
        return _refused(error.diagnostics[0].message)
    except BadTraining as error:
        return _refused(error.diagnostic.message)
    except (NotReproduced, OSError) as error:
        return _refused(str(error))
    _say(f"{options.output}: {REPORT}, {PAGE}" if done else "not done yet: the same call continues")
    return 0 if done else NOT_DONE


def _say(text: str) -> None:
    for line in text.split("\n"):
        print(ascii(line)[1:-1], flush=True)


def _refused(message: str) -> int:
    sys.stderr.write(f"error: {ascii(message)[1:-1]}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
