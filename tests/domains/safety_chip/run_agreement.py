"""Compare verdicts with the labels of Safety Chip's programs, and write bench/results/safety-chip-agreement.md.

usage: python tests/domains/safety_chip/run_agreement.py [--data FOLDER] [--write | --check] [--show ID] [--maps]
    [--sentences]

``--data`` is the folder of the data sets (default: PLANSAFE_DATA). ``--check`` exits with 1 if the page
is not current. ``--show`` prints the scene, the program and the trace of one program, to replay it by hand:
``safecheck --world safety-chip program.txt --scene scene.txt``. ``--maps`` tries every map of each home;
``--sentences`` counts the sentences that are understood, and names the others.
"""

from __future__ import annotations

import sys

from chip_agreement import main

if __name__ == "__main__":
    sys.exit(main())
