"""What every door passes on: the settings, a plan with the task that it is checked with, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from plansafe.app.project.inputs import Finder, Input
from plansafe.grammar.diagnostics import Diagnostic, Span
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Report
from plansafe.verifier.rules.question import EVERY_VIOLATION, Question

if TYPE_CHECKING:
    from plansafe.app.project.project_file import Project
    from plansafe.verifier.api import Checker, Options
    from plansafe.verifier.repair.model import Repair
    from plansafe.verifier.rules.home import Entry, Profile
    from plansafe.verifier.rules.kinds import ClassKinds


class Settings(NamedTuple):
    """What the user asked for. Every field has the default of the command line.

    ``judge`` is ``None`` for what is usual: ``introduced`` in a ``world``, else ``all``.
    ``folders`` hold the plans: under ``gate``, no link may lead out of them (out of a plan's own, if none is named).
    ``project`` is a project file that was read (:mod:`plansafe.app.project.project_file`); none is looked for here. It
    says where domain, problem, specifications, scene and goal are that are not given. ``ltl`` are formulas that hold
    beside the specifications (:mod:`plansafe.grammar.ltl`). ``home`` is the file of a home's profile, ``profile`` what
    it says, once it was read. ``ignore`` are rules whose findings decide nothing, ``select`` those that alone decide,
    if there are any (:mod:`plansafe.app.session.rule_choices`); ``classes`` are the kinds that flags give classes of
    objects; with ``allow_in_plans`` a plan may say the same. ``baseline`` is a file of known findings
    (:mod:`plansafe.app.session.baseline`). ``retell``: what was noted about a scene is said with each of its plans, not
    with the first alone. ``wanted`` is given where a plan is yet to be written: then none is read, and the goal is this
    condition in PDDL, or where it is empty the problem's own, if it has one. ``accept_remarks``: text next to a plan
    (``loose``) that is not understood does not cap the verdict.
    """

    domain: str | None = None
    problem: str | None = None
    specs: tuple[str, ...] = ()
    default_spec: bool = True
    gate: bool = False
    allow_no_rules: bool = False
    require_rules: bool = False
    lenient_types: bool = False
    judge: str | None = None
    min_severity: str = EVERY_VIOLATION.min_severity
    blame: tuple[str, ...] = ()
    tolerance: str = "0.001"
    time_limit: float = 300.0
    max_findings: int = 100
    max_instances: int = 5_000_000
    full_state: bool = False
    every: bool = False
    replay: str = "auto"
    hashes: bool = False
    loose: bool = False
    engine: str = "auto"
    infer_invariants: bool = True
    certificate: bool = False
    double_check: bool = False
    world: str | None = None
    scene: str | None = None
    goal: str | None = None
    task: str | None = None
    folders: tuple[str, ...] = ()
    project: Project | None = None
    ltl: tuple[str, ...] = ()
    home: str | None = None
    profile: Profile | None = None
    ignore: tuple[Entry, ...] = ()
    select: tuple[Entry, ...] = ()
    classes: tuple[ClassKinds, ...] = ()
    allow_in_plans: bool = False
    baseline: str | None = None
    retell: bool = False
    wanted: str | None = None
    accept_remarks: bool = False

    @property
    def question(self) -> Question:
        """What decides: in a world, where nothing is said, what the plan brought about."""
        return Question(self.judge or ("all" if self.world is None else "introduced"), self.min_severity)


class Known(NamedTuple):
    """A finding as a baseline has it: ``fingerprint`` as in SARIF, ``plan`` as a path from the current folder."""

    fingerprint: str
    plan: str
    rule: str
    code: str
    message: str


class Marks(NamedTuple):
    """What a baseline says of the findings of a plan.

    The positions of those that it knows, how many count and are new, those that are gone (``None``: the plan was not
    judged to the end, and nothing is said of that), and the exit code.
    """

    file: str
    known: frozenset[int]
    new: int
    gone: tuple[Known, ...] | None
    exit_code: int


class Result(NamedTuple):
    """What came of one plan.

    ``inputs`` are the files that were used, the plan first; ``sources`` the texts that labels refer to, by name.
    ``failure`` is the traceback of a bug; then the report says that there was one (SC900). ``marks`` are there where a
    baseline was given.
    """

    plan: str
    report: Report
    inputs: tuple[Input, ...]
    sources: Mapping[str, Source]
    failure: str | None = None
    marks: Marks | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of this plan alone: that of its report, unless a baseline knows all that fails it."""
        return self.report.exit_code if self.marks is None else self.marks.exit_code


class Writes(Protocol):
    """Writes plans in the form of their world, and finds their names again."""

    def __call__(self, prepared: Prepared, repair: Repair) -> str:
        """A repaired plan."""

    def step(self, words: tuple[str, ...]) -> str:
        """One step, from its words in PDDL."""

    def word_places(self, source: Source, place: Span, words: tuple[str, ...]) -> tuple[Span | None, ...]:
        """Where the words of a step in PDDL stand in the plan as it is written."""

    def object_place(self, source: Source, name: str) -> Span | None:
        """Where the file of the scene says that an object is there."""


class Prepared(NamedTuple):
    """A plan, and the compiled task that it is checked with.

    Of a loose text or a plan of another world, ``plan`` is what was understood, ``notes`` say which liberties were
    taken, and ``places`` say for each of its steps where it stands in the text. ``write`` gives a repair of it in the
    form of that world. ``remarks`` are warnings that cap its verdict at UNKNOWN.
    """

    plan: Source
    checker: Checker
    inputs: tuple[Input, ...]
    sources: Mapping[str, Source]
    notes: tuple[Diagnostic, ...] = ()
    places: tuple[Span, ...] = ()
    write: Writes | None = None
    remarks: tuple[Diagnostic, ...] = ()


def compiled(
    discovery: Finder, domain: Source, problem: Source, specs: list[Source], settings: Settings
) -> tuple[Checker, tuple[Input, ...]]:
    """Compile a task; with it come the specifications that the given ones extend."""
    from plansafe.verifier.api import Checker  # noqa: PLC0415 - not needed to answer --help or a missing file

    chosen = {spec.name for spec in specs}
    extended: dict[str, Input] = {}

    def resolve(name: str, extending: Source) -> Source | None:
        spec = discovery.extended(name, extending)
        if spec is None:
            return None
        if spec.source.name not in chosen:
            extended[spec.path] = spec
        return spec.source

    checker = Checker(domain, problem, specs, _options(settings), resolve=resolve)
    return checker, tuple(extended.values())


def _options(settings: Settings) -> Options:
    from fractions import Fraction  # noqa: PLC0415 - the engine loads it anyway

    from plansafe.verifier.api import Options  # noqa: PLC0415 - loads the engine

    return Options(
        lenient_types=settings.lenient_types,
        tolerance=Fraction(settings.tolerance),
        judge=settings.question.judge,
        min_severity=settings.min_severity,
        blame=settings.blame,
        time_limit_s=settings.time_limit or None,
        max_findings=settings.max_findings,
        max_instances=settings.max_instances,
        full_state=settings.full_state,
        replay=settings.replay,
        require_rules=settings.require_rules,
        engine=settings.engine,
        infer_invariants=settings.infer_invariants,
        certificate=settings.certificate,
        double_check=settings.double_check,
        home=settings.profile,
    )
