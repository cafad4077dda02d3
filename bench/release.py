"""Check the built distributions: contents, installation into empty environments, and a smoke test of each extra.

usage: python -m bench.release FOLDER [--only [EXTRA ..]] [--python PYTHON]

FOLDER holds one wheel and one source distribution (`make build` writes them to `dist`). Without `--only`, both are
installed without extras, then the wheel with each extra of pyproject.toml: in a new environment each, where the
extra's packages are imported and its commands run. Prints the installed size and the time of each; exit code 1 if
something fails. `--only` without a name checks the contents alone. pip takes its settings from its usual variables
(`PIP_FIND_LINKS` for a build of torch without CUDA).
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
MAX_WHEEL = 5 * 1024 * 1024
LICENCES = ("licenses/LICENSE", "licenses/domains/plansafe/domains/objects/LICENSE.wordnet")
NEVER_SHIPPED = re.compile(r"(^|/)(__pycache__|\.venv[\w-]*|\.git|\.ci|node_modules)/|^(build|dist|bench/out)/")


class Smoke(NamedTuple):
    """The test of an extra: the modules to import, and the commands to run, in an empty folder.

    ``{examples}`` in a command is the folder of the repository. Each command must exit with 0.
    """

    modules: str
    commands: tuple[str, ...]


GRAPH = """
from pathlib import Path
from plansafe.domains import domain_path
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.causal_structure import find_causal_structure
from plansafe.verifier.diagnose.graph import make_networkx_graph
read = lambda path: Source(str(path), Path(path).read_text("utf-8"))
checker = Checker(read(domain_path("household")), read("{examples}/dinner/problem.pddl"))
steps = checker.read(read("{examples}/dinner/stew-and-salad.plan")).steps
assert make_networkx_graph(find_causal_structure(checker, steps)).number_of_edges() > 10
"""
ANSWER = """
steps = open("{examples}/dinner/stew-and-salad.plan").read().splitlines()
items = ["  - '" + step + "'" for step in steps if step.startswith("(")]
open("answer.txt", "w").write("\\n".join(["```yaml", "plan:", *items, "```", ""]))
"""
LSP = """
import subprocess
body = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}'
server = subprocess.Popen(["safecheck", "serve", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
server.stdin.flush()
assert server.stdout.readline().startswith(b"Content-Length")
server.kill()
"""
MCP = """
import asyncio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
async def conversation():
    async with Client(stdio_client(StdioServerParameters(command="safecheck", args=["serve", "mcp"]))) as client:
        assert "audit" in [tool.name for tool in (await client.list_tools()).tools]
asyncio.run(conversation())
"""
HTTP = """
import re, subprocess, urllib.request
server = subprocess.Popen(["safecheck", "serve", "http", "--port", "0"], stderr=subprocess.PIPE, text=True)
address = next(found[0] for line in server.stderr if (found := re.search("http://[0-9.:]+", line)))
assert urllib.request.urlopen(address + "/openapi.json", timeout=60).status == 200
server.terminate()
server.wait(60)
"""
RUN = "safecheck audit {examples}/breakfast/tea-and-apple.plan {examples}/dinner/stew-and-salad.plan --run run"
SMOKES = {
    "": Smoke("plansafe.app plansafe.llm plansafe.align", ("safecheck {examples}/breakfast/tea-and-apple.plan",)),
    "solve": Smoke("z3 pysat", ("safecheck {examples}/metal-cup/milk-in-the-glass.plan --certificate c.json",)),
    "plan": Smoke(
        "unified_planning kairos up_fast_downward", ("safecheck diagnose {examples}/breakfast/tea-and-apple.plan",)
    ),
    "graph": Smoke("networkx", (f"python -c {shlex.quote(GRAPH)}",)),
    "llm": Smoke("httpx", ("safecheck models list",)),
    "formats": Smoke(
        "yaml",
        (
            f"python -c {shlex.quote(ANSWER)}",
            "safecheck answer.txt --from text --problem {examples}/dinner/problem.pddl",
        ),
    ),
    "hf": Smoke("torch transformers accelerate gguf llguidance", ("safecheck models list",)),
    "llamacpp": Smoke("xllamacpp", ("safecheck models list",)),
    "bench": Smoke("rouge_score.rouge_scorer", ("safecheck bench safel --model mock/reference --limit 2",)),
    "inspect": Smoke(
        "inspect_ai plansafe.llm.bench.inspect_tasks",
        ("inspect eval plansafe/plan_safely --model mockllm/model --limit 1 --display plain",),
    ),
    "verifiers": Smoke(
        "verifiers",
        ('python -c "from plansafe.llm.bench.verifiers_env import load_environment as e; assert e(limit=2).dataset"',),
    ),
    "align": Smoke("torch peft trl", ("safecheck align pairs --help", "safecheck align train --help")),
    "plots": Smoke("matplotlib pandas", (RUN, "safecheck runs stats run --plot bars -o bars.svg")),
    "pairs": Smoke("sklearn.ensemble", ("safecheck align pairs --help",)),
    "lsp": Smoke("pygls", (f"python -c {shlex.quote(LSP)}",)),
    "mcp": Smoke("mcp", (f"python -c {shlex.quote(MCP)}",)),
    "serve": Smoke("starlette uvicorn", (f"python -c {shlex.quote(HTTP)}",)),
    "ray": Smoke("ray", (f"{RUN} --executor ray",)),
    "parquet": Smoke("pyarrow.parquet", (RUN, "safecheck runs export run -o run.parquet")),
}
"""By extra; the empty name is the installation without extras."""


def read_extras() -> set[str]:
    """The extras of pyproject.toml for users: all except ``dev``."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"]) - {"dev"}


def find_wheel_problems(wheel: Path) -> Iterator[str]:
    """The problems in the contents of a wheel, one message each."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for name in names:
        top = name.split("/")[0]
        if (top != "plansafe" and not top.endswith(".dist-info")) or NEVER_SHIPPED.search(name):
            yield f"{wheel.name} contains {name}"
    for licence in LICENCES:
        if not any([name.endswith(f".dist-info/{licence}") for name in names]):
            yield f"{wheel.name} lacks {licence}"
    packages = {name.split("/")[1] for name in names if re.match(r"plansafe/\w+/__init__\.py$", name)}
    yield from [
        f"{wheel.name} lacks plansafe/{name}/py.typed" for name in packages if f"plansafe/{name}/py.typed" not in names
    ]
    if wheel.stat().st_size > MAX_WHEEL:
        yield f"{wheel.name} has {wheel.stat().st_size} bytes, more than {MAX_WHEEL}"


def find_source_problems(source: Path) -> Iterator[str]:
    """The problems in the contents of a source distribution, one message each."""
    with tarfile.open(source) as archive:
        names = [member.name.partition("/")[2] for member in archive.getmembers()]
    yield from [f"{source.name} contains {name}" for name in names if NEVER_SHIPPED.search(name)]
    yield from [
        f"{source.name} lacks {name}" for name in ("LICENSE", "README.md", "pyproject.toml") if name not in names
    ]


def try_out(archive: Path, extra: str, python: str) -> str:
    """Install an archive with an extra into a new environment and run its smoke test; returns the failure or ''."""
    smoke = SMOKES[extra]
    with tempfile.TemporaryDirectory(prefix=f"release-{extra}-") as folder:
        environment, workplace = Path(folder, "env"), Path(folder, "work")
        workplace.mkdir()
        subprocess.run([python, "-m", "venv", str(environment)], check=True)
        programs = environment / "bin"
        variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        variables["PATH"] = f"{programs}{os.pathsep}{variables['PATH']}"
        target = f"{archive}[{extra}]" if extra else str(archive)
        imports = "; ".join([f"import {module}" for module in smoke.modules.split()])
        commands = [
            [str(programs / "python"), "-m", "pip", "install", "--quiet", "--no-compile", target],
            [str(programs / "python"), "-c", imports],
            *[shlex.split(command.replace("{examples}", str(ROOT / "examples"))) for command in smoke.commands],
        ]
        for command in commands:
            done = subprocess.run(
                command,
                cwd=workplace,
                env=variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                output = "\n".join((done.stdout + done.stderr).splitlines()[-12:])
                return f"{shlex.join(command)[:200]}\nexit code {done.returncode}\n{output}"
        size = sum([path.stat().st_size for path in environment.rglob("*") if path.is_file() and not path.is_symlink()])
        print(f"{archive.suffix.lstrip('.')} {extra or '(no extra)'}: {size / 2**20:.0f} MiB", end="", flush=True)
    return ""


def main() -> int:
    """Check the archives, then try them out; print each failure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", choices=sorted(SMOKES), metavar="EXTRA")
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    (wheel,), (source,) = (sorted(arguments.folder.resolve().glob(pattern)) for pattern in ("*.whl", "*.tar.gz"))
    failures = [*find_wheel_problems(wheel), *find_source_problems(source)]
    for failure in failures:
        print(failure)
    print(
        f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MiB; {source.name}: {source.stat().st_size / 2**20:.1f} MiB"
    )
    trials = [(wheel, extra) for extra in (SMOKES if arguments.only is None else arguments.only)]
    trials += [(source, "")] if arguments.only is None else []
    for archive, extra in trials:
        start = time.monotonic()
        failure = try_out(archive, extra, arguments.python)
        print(
            f"{extra or archive.name}: FAILED\n{failure}" if failure else f", {time.monotonic() - start:.0f} s",
            flush=True,
        )
        failures += [failure] if failure else []
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
