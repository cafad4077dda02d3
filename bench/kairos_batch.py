"""Validate all plans of a folder with kairos in one process; ``bench/run.py`` runs it in the environment of kairos.

usage: python kairos_batch.py FOLDER    (with domain.pddl, problem.pddl and plans/)

The kairos command takes one plan; its Python interface is the fastest way to validate many.
"""

import sys
from pathlib import Path

import kairos


def main() -> int:
    """Print one line per plan; exit code 1 if a plan is invalid."""
    folder = Path(sys.argv[1])
    domain = kairos.load_domain(str(folder / "domain.pddl"))
    problem = kairos.load_problem(str(folder / "problem.pddl"), domain)
    code = 0
    for path in sorted((folder / "plans").iterdir()):
        valid = kairos.validate(problem, kairos.parse_plan(path.read_text(encoding="utf-8"))).valid
        print(f'{{"plan": "{path.name}", "valid": {"true" if valid else "false"}}}')
        code = code if valid else 1
    return code


if __name__ == "__main__":
    sys.exit(main())
