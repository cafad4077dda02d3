"""Run every script of ``bench/`` and ``tests/`` at its smallest size, because some are rarely used."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from quick import quick_every

ROOT = Path(__file__).resolve().parent.parent
_MAIN = re.compile(r"^if __name__ == .__main__.:", re.MULTILINE)


class Run(NamedTuple):
    """The smallest call of a script: its arguments, a command to run before it, and its requirements.

    ``{out}`` in an argument is replaced by an empty folder. ``data`` names the folders of public data sets that the
    script needs, ``module`` a package and ``program`` a command. ``codes`` are the accepted exit codes: some scripts
    use 1 for a verdict, or for a missed speed target.
    """

    arguments: str = ""
    before: str = ""
    data: tuple[str, ...] = ()
    module: str = ""
    program: str = ""
    codes: tuple[int, ...] = (0,)


SHELF = (
    "from pathlib import Path; from bench.worlds import shelves as s; s.pairwise_task(2,fits=0).write(Path('{out}/t'))"
)
CORPUS = "--singles 3 --doubles 1"
PROMPTS = 'import json; json.dump([{"identifier":"1_1","llm_prompt":"Plan."}], open("{out}/p.json","w"))'
PAIRS = (
    "from plansafe.align.records import write_pairs; from plansafe.align.tasks import task_of; "
    "from plansafe.align.pairs.maker import MakerOptions, pairs_of; "
    "write_pairs('{out}/p.jsonl', pairs_of(task_of('drawn:stew/0/0'), [], MakerOptions(mutants=4)).pairs)"
)
PAGE = "open('{out}/index.html','w').write('<p>A page.</p>')"
SCRIPTS = {
    "bench/agents/latency.py": Run("--count 20 --world household", module="starlette", codes=(0, 1)),
    "bench/agents/mcp_tokens.py": Run("--plans 1", module="mcp"),
    "bench/align/rewards.py": Run("--count 20", codes=(0, 1)),
    "bench/align/pairs.py": Run(
        "{out}/p.jsonl --needless 1 --draw 2 --to {out}/read.txt", before=f"-c {PAIRS}", codes=(0, 1)
    ),
    "bench/align/policy.py": Run("{out}/answers.jsonl --numbers 1 --samples 1"),
    "bench/align/regrets.py": Run("--families 1 --numbers 1 --faults 1 --seconds 1"),
    "bench/eai/ask.py": Run("{out}/p.json --model mock/empty --output {out}/a.jsonl", before=f"-c {PROMPTS}"),
    "bench/eai/compare.py": Run(
        f"--python {sys.executable} --count 1 --each 1 --shapes 0", codes=(0, 2)
    ),  # 2: no eai-eval
    "bench/eai/goals.py": Run(f"--python {sys.executable} --count 1 --each 1", codes=(0, 2)),  # 2: no eai-eval
    "bench/eai/their_goals.py": Run("{out}/a.jsonl", before="-c open('{out}/a.jsonl','w')", module="virtualhome_eval"),
    "bench/eai/their_transitions.py": Run(
        "{out}/a.jsonl", before="-c open('{out}/a.jsonl','w')", module="virtualhome_eval"
    ),
    "bench/eai/transitions.py": Run(f"--python {sys.executable} --count 1 --each 1", codes=(0, 2)),  # 2: no eai-eval
    "bench/eai/their_sequencing.py": Run(
        "{out}/a.jsonl", before="-c open('{out}/a.jsonl','w')", module="virtualhome_eval"
    ),
    "bench/cluster.py": Run("{out}/c --count 3 --only one,two", data=("eai-virtualhome",)),
    "bench/editor.py": Run("household --steps 30 --keys 4", module="pygls", codes=(0, 1)),
    "bench/faults/corpus.py": Run(f"{CORPUS} --only survey --output {{out}}/corpus.json"),
    "bench/faults/evaluate.py": Run(f"{CORPUS} --only household --time-limit 1 --output {{out}}/faults.json"),
    "bench/faults/long_plans.py": Run(
        "--plans 2 --steps 20 --time-limit 2 --kernel 1 --output {out}/repair.json", codes=(0, 1)
    ),
    "bench/faults/sample.py": Run(f"{CORPUS} --only depot --count 1 --time-limit 1"),
    "bench/field/__main__.py": Run("behavior-people", data=("eai-behavior", "bddl-behavior1k")),
    "bench/field/acpbench/__main__.py": Run("--limit 1 --answers {out}/answers.jsonl --list", data=("acpbench",)),
    "bench/field/acpbench/published.py": Run(
        "{out}/answers.jsonl {out}", before="-c open('{out}/answers.jsonl','w')", module="kstar_planner"
    ),
    "bench/field/planbench.py": Run("--limit 20 --output {out}/result.md", data=("planbench",)),
    "bench/field/up_validators.py": Run("--mutants 5 --random 5 --constraints 5 --output {out}/result.md"),
    "bench/formalise/evaluate.py": Run("traps bench/formalise/answers/traps.jsonl --samples 3 --limit 1 --list"),
    "bench/formalise/record.py": Run("traps --model mock/empty --output {out}/answers.jsonl --samples 1 --limit 2"),
    "bench/gaps.py": Run("--group household --count 1 --steps 100 --time 2 --variant without-words"),
    "bench/guide.py": Run("drawn store mask --families 1 --slack 1.5 --small"),
    "bench/hazards/seeds.py": Run("--limit 1", data=("earbench", "eai-virtualhome", "safeagentbench")),
    "bench/hazards/earbench.py": Run("--limit 2 --markdown", data=("earbench",)),
    "bench/hazards/behavior_properties.py": Run(data=("bddl-behavior1k",)),
    "bench/hazards/everyday.py": Run("--limit 2 --list"),
    "bench/hazards/isbench.py": Run("--only fire-1 --list"),
    "bench/hazards/isbench_activities.py": Run("--only boil_water", data=("bddl-behavior1k",)),
    "bench/hazards/leave_one_world_out.py": Run(
        "--limit 1", data=("bddl-behavior1k", "eai-virtualhome", "safeagentbench", "wordnet-nouns")
    ),
    "bench/hazards/propose_kinds.py": Run("", data=("wordnet-nouns", "bddl-behavior1k")),
    "bench/hazards/repairs.py": Run("--limit 1 --seconds 5 --pages {out}/pages.txt", data=("eai-virtualhome",)),
    "bench/hazards/safeagentbench.py": Run("--limit 2 --markdown", data=("safeagentbench",)),
    "bench/hazards/unclassified.py": Run("--limit 1", data=("eai-virtualhome", "safeagentbench")),
    "bench/hazards/study.py": Run("--limit 2 --output {out}/hazards.json", data=("eai-virtualhome",)),
    "bench/continuous.py": Run("--count 1 --mutants 1 --happenings 20 --runs 1", program="kairos"),
    "bench/import_graph.py": Run("--svg {out}/import-graph.svg"),
    "bench/kairos_batch.py": Run("{out}/batch2", before="bench/tasks.py {out} batch2", module="kairos", codes=(0, 1)),
    "bench/kills.py": Run("{out}/k --count 8 --kills 2 --jobs 1", data=("eai-virtualhome",), codes=(0, 3)),
    "bench/many_scripts.py": Run("{out}/m --count 4", data=("eai-virtualhome",)),
    "bench/page.py": Run("--count 5", codes=(0, 1, 2)),
    "bench/options.py": Run("--small --repeat 1 --letters 1"),
    "bench/kernel.py": Run("--only derived1200 --runs 1 --tasks {out}", codes=(0, 1)),
    "bench/release.py": Run("{out} --only", before="-m build --no-isolation --outdir {out}", module="build"),
    "bench/run.py": Run("--only hh20 --runs 1 --no-growth --output {out}/latest.json", program="kairos", codes=(0, 1)),
    "bench/scenario_set.py": Run("--set tests/scenario/parts/accepted.scenarios"),
    "bench/site/check.py": Run("{out}", before=f"-c {PAGE}"),
    "bench/site/make.py": Run("{out}/docs"),
    "bench/tasks.py": Run("{out} hh20 c_hh20"),
    "bench/worlds/cause.py": Run("--count 2", module="z3"),
    "bench/worlds/naive.py": Run("{out}/t", before=f"-c {SHELF}", module="z3", codes=(1,)),
    "bench/worlds/run.py": Run("--quick --runs 1 --only places --output {out}/w.json", module="z3", codes=(0, 1)),
    "tests/agents/fuzz_service.py": Run("--count 20", module="starlette"),
    "tests/agents/load.py": Run("--count 8 --megabytes 1", module="starlette"),
    "tests/content/mutate_rules.py": Run("--rule one-dose-only --every 4"),
    "tests/content/rules_table.py": Run(),
    "tests/content/run_home_lint.py": Run("household --seconds 0.5", module="z3"),
    "tests/continuous/run_hybrid.py": Run("--count 3 --samples 20"),
    "tests/diagnose/tiny_tasks.py": Run("--tasks 5"),
    "tests/differential/run.py": Run("--mutants 1 --behavior 0", program="kairos"),
    "tests/app_runs/gated_command.py": Run("--version"),
    "tests/domains/behavior/run_activities.py": Run("--count 4", data=("bddl-behavior1k",)),
    "tests/domains/behavior/run_human.py": Run("--count 2", data=("eai-behavior",)),
    "tests/domains/behavior/run_quantifiers.py": Run("--count 5"),
    "tests/domains/behavior/run_solvable.py": Run(
        "--count 1 --limit 1", data=("bddl-behavior1k",), program="kairos", module="kairos"
    ),
    "tests/domains/safety_chip/run_agreement.py": Run(
        "--show mobile_manip/0/0_1/0/results_vh", data=("safety-chip-ltl",)
    ),
    "tests/domains/virtualhome/run_executor.py": Run("--count 2", data=("eai-virtualhome",), module="virtualhome_eval"),
    "tests/domains/virtualhome/run_oracle.py": Run("--count 2 --no-pddl", data=("eai-virtualhome",)),
    "tests/fuzz/answers.py": Run("--count 20"),
    "tests/fuzz/run.py": Run("--count 20 --reduce 0 --out {out}"),
    "tests/grammar/run.py": Run("0 2"),
    "tests/lint/run_lint.py": Run("--count 3"),
    "tests/metamorphic/run.py": Run("--count 120 --repairs 0.5"),
    "tests/models/run_answers.py": Run("--count 200"),
    "tests/models/run_loopback.py": Run("--steps 1 --tokens 20", module="xllamacpp", codes=(0, 2)),  # 2: no weights
    "tests/engine_mutants/run.py": Run("report -o {out}"),
    "tests/property/walks.py": Run("--tasks 2 --letters 2"),
    "tests/loose/run.py": Run("--only build"),
    "tests/loose/run_unseen.py": Run("--only formats"),
    "tests/property/run.py": Run("--count 60"),
    "tests/repair/run.py": Run("--count 2 --jobs 1"),
    "tests/scenario/run_corrupt.py": Run("--count 2"),
    "tests/scenario/run_mutants.py": Run("--count 2"),
    "tests/scenario/run_shipped.py": Run("--only penicillin-for-leo"),
    "tests/scenario/shipped_table.py": Run(),
    "tests/symbolic/run_cause.py": Run("--count 5", module="z3"),
    "tests/symbolic/run_durations.py": Run("--count 3", module="z3"),
    "tests/symbolic/run_invariants.py": Run("--count 5"),
    "tests/symbolic/run_orders.py": Run("--count 5"),
    "tests/symbolic/run_orders_large.py": Run("--sizes 40 --naive 8 --limit 5", module="z3"),
    "tests/symbolic/run_worlds.py": Run("--count 3", module="z3"),
    "tests/symbolic/witness_corruption.py": Run("--count 5"),
}


def find_scripts() -> set[str]:
    """Return the paths of all scripts: Python files with a main block, outside hidden folders."""
    files = [*ROOT.glob("bench/**/*.py"), *ROOT.glob("tests/**/*.py")]
    paths = [path.relative_to(ROOT) for path in files]
    visible = [path for path in paths if not any(part.startswith(".") for part in path.parts)]
    return {path.as_posix() for path in visible if _MAIN.search((ROOT / path).read_text(encoding="utf-8"))}


def test_every_script_is_listed() -> None:
    """A new script needs a line in ``SCRIPTS``: the arguments with which it takes a few seconds."""
    assert find_scripts() - {"tests/test_scripts.py"} == set(SCRIPTS)


def run_script(line: str, folder: Path, data: Path) -> subprocess.CompletedProcess[str]:
    """Run ``SCRIPT ARGUMENT ..`` as its documentation says, with ``data`` as the folder of data sets."""
    line = line.replace("{out}", str(folder))
    script, *arguments = line.split(maxsplit=1) if line.startswith("-c ") else line.split()
    module = script.removesuffix(".py").replace("/", ".")
    run_as_module = script.startswith("bench/") and (ROOT / script).parent != ROOT / "bench"
    if script.endswith(".py"):
        run_as_module = run_as_module or f"python -m {module} " in (ROOT / script).read_text("utf-8")
    name = ["-m", module] if run_as_module else [script]
    programs = Path(sys.executable).parent
    kairos = programs / "kairos" if (programs / "kairos").exists() else shutil.which("kairos")
    environment = {**os.environ, "PLANSAFE_DATA": str(data), "KAIROS": str(kairos or "")}
    command = [sys.executable, *name, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.parametrize("script", quick_every(20, SCRIPTS))
def test_a_script_runs(script: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    run = SCRIPTS[script]
    data = tmp_path / "no data"
    if run.data:
        data = request.getfixturevalue("data")
        for name in run.data:
            if not (data / name).is_dir():
                pytest.skip(f"no {name} in {data} (set PLANSAFE_DATA)")
    if run.module:
        pytest.importorskip(run.module)
    if run.program and not ((Path(sys.executable).parent / run.program).exists() or shutil.which(run.program)):
        pytest.skip(f"{run.program} is not installed")
    out = tmp_path / "out"
    out.mkdir()
    calls = [(run.before, (0,))] if run.before else []
    for line, codes in [*calls, (f"{script} {run.arguments}", run.codes)]:
        completed = run_script(line, out, data)
        output = f"{line}\n{completed.stdout[-2000:]}\n{completed.stderr[-2000:]}"
        assert completed.returncode in codes, output
        assert "Traceback" not in completed.stderr, output
    assert completed.stdout or list(out.iterdir()), output
