"""``python -m plansafe.align.reproducing SIZE -o FOLDER``: one call, or many of them, until all is done."""

from __future__ import annotations

import argparse
import sys

from plansafe.align.config import BadConfig
from plansafe.align.reproducing.running import PAGE, REPORT, NotReproduced, reproduce
from plansafe.align.reproducing.sizes import names, read_size
from plansafe.align.training.folder import BadTraining

NOT_DONE = 3


def main(arguments: list[str] | None = None) -> int:
    """Exit codes: 0 all is done, 2 it cannot be done, 3 the time was over before the end: the same call goes on."""
    parser = argparse.ArgumentParser(prog="plansafe.align.reproducing", description="Data, SFT, preferences, tables.")
    parser.add_argument("size", metavar="SIZE", help=f"{', '.join(names())}, or a TOML file of yours")
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="where all is kept")
    parser.add_argument("--model", metavar="NAME", help="another base: hf/FOLDER, gguf/FILE or random")
    parser.add_argument("--jobs", type=int, default=2, choices=range(1, 65), metavar="N", help="processes: 2")
    parser.add_argument("--minutes", type=float, metavar="N", help="stop behind so many, to go on later")
    given = parser.parse_args(arguments)
    try:
        size = read_size(given.size, given.model)
        seconds = None if given.minutes is None else 60 * given.minutes
        done = reproduce(size, given.output, given.jobs, seconds, _say)
    except BadConfig as refused:
        return _refused(refused.diagnostics[0].message)
    except BadTraining as refused:
        return _refused(refused.diagnostic.message)
    except (NotReproduced, OSError) as error:
        return _refused(str(error))
    _say(f"{given.output}: {REPORT}, {PAGE}" if done else "not done yet: the same call goes on")
    return 0 if done else NOT_DONE


def _say(line: str) -> None:
    print(ascii(line)[1:-1], flush=True)


def _refused(message: str) -> int:
    sys.stderr.write(f"error: {ascii(message)[1:-1]}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
