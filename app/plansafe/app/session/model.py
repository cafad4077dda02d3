"""Settings, prepared plan and result: the data that every interface passes on."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from plansafe.app.options.shared import flag_of
from plansafe.app.project.inputs import Finder, Input
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Report
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, MITIGATE, VerdictCriteria

if TYPE_CHECKING:
    from plansafe.app.project.project import Project
    from plansafe.domains.objects import TableView
    from plansafe.verifier.api import Checker, Options
    from plansafe.verifier.repair.model import Repair
    from plansafe.verifier.rules.home_profile import HomeProfile, ProfileEntry
    from plansafe.verifier.rules.kinds import ClassKinds
_NUMBER = r"(?:\d{1,20}(?:\.\d{1,20})?|\.\d{1,20})\Z"


class Settings(NamedTuple):
    """The settings of a check. Every field has the default of the command line.

    - ``judge``: ``None`` means ``introduced`` for a home ``world``, otherwise ``all``.
    - ``folders`` contain the plans. Under ``gate``, links must not lead out of them (or out of the folder of the plan).
    - ``project`` is a project file (:mod:`plansafe.app.project.project_file`). It names the domain, problem,
      specifications, scene and goal that no other setting names. The session does not search for one.
    - ``ltl`` are formulas that apply in addition to the specifications (:mod:`plansafe.grammar.ltl`).
    - ``home`` is the file of a home profile, ``profile`` its content after reading.
    - Findings of ``ignore`` rules do not affect the verdict; if ``select`` names rules, only their findings affect it
      (:mod:`plansafe.app.session.rule_choices`). With ``allow_in_plans``, comments of a plan can ignore rules.
    - ``classes`` are kinds of object classes from options.
    - ``baseline`` is a file of known findings (:mod:`plansafe.app.session.baseline`).
    - ``retell``: repeat the notes on a scene for each of its plans, not only for the first.
    - ``wanted`` is set if a new plan is requested, so that no plan is read. Its value is the goal in PDDL; empty means
      the goal of the problem.
    - ``accept_remarks``: text next to a ``loose`` plan that is not understood does not cap the verdict.
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
    profile: HomeProfile | None = None
    ignore: tuple[ProfileEntry, ...] = ()
    select: tuple[ProfileEntry, ...] = ()
    classes: tuple[ClassKinds, ...] = ()
    allow_in_plans: bool = False
    baseline: str | None = None
    retell: bool = False
    wanted: str | None = None
    accept_remarks: bool = False

    @property
    def criteria(self) -> VerdictCriteria:
        """The findings that affect the verdict."""
        return VerdictCriteria(self.judge or ("all" if self.world is None else "introduced"), self.min_severity)


class BaselineEntry(NamedTuple):
    """A finding in a baseline: ``fingerprint`` as in SARIF, ``plan`` as a path from the current folder."""

    fingerprint: str
    plan: str
    rule: str
    code: str
    message: str


class Marks(NamedTuple):
    """The comparison of the findings of a plan with a baseline.

    ``known`` are the positions of known findings, ``new`` is the number of new findings that affect the verdict,
    ``gone`` are entries without a finding (``None`` if the audit is incomplete).
    """

    file: str
    known: frozenset[int]
    new: int
    gone: tuple[BaselineEntry, ...] | None
    exit_code: int


class Result(NamedTuple):
    """The result of a plan.

    ``inputs`` are the used files, starting with the plan; ``sources`` are the texts that labels refer to, by name.
    ``failure`` is the traceback of a bug, which the report contains as SC900. ``marks`` are set if there is a baseline.
    """

    plan: str
    report: Report
    inputs: tuple[Input, ...]
    sources: Mapping[str, Source]
    failure: str | None = None
    marks: Marks | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of this plan: from its report, or from the comparison with a baseline."""
        return self.report.exit_code if self.marks is None else self.marks.exit_code


class Writes(Protocol):
    """Writes plans in the format of their home world, and locates names in them."""

    def __call__(self, prepared: Prepared, repair: Repair) -> str:
        """Write a repaired plan."""

    def step(self, words: tuple[str, ...]) -> str:
        """Write a step that is given in PDDL words."""

    def word_places(self, source: Source, place: Span, words: tuple[str, ...]) -> tuple[Span | None, ...]:
        """Locate the PDDL words of a step in the original plan."""

    def object_place(self, source: Source, name: str) -> Span | None:
        """Locate the entry of an object in the scene file."""


class Prepared(NamedTuple):
    """A plan and its compiled task.

    For a loose text or a plan of a home world, ``plan`` is the parsed plan, ``notes`` report the interpretations, and
    ``places`` are the spans of the steps in the original text. ``write`` writes a repair in the original format.
    ``remarks`` are warnings that cap the verdict at UNKNOWN. ``title`` and ``description`` are the author's words about
    a plan of a home world.
    """

    plan: Source
    checker: Checker
    inputs: tuple[Input, ...]
    sources: Mapping[str, Source]
    notes: tuple[Diagnostic, ...] = ()
    places: tuple[Span, ...] = ()
    write: Writes | None = None
    remarks: tuple[Diagnostic, ...] = ()
    title: str = ""
    description: str = ""


def compiled(
    discovery: Finder,
    domain: Source,
    problem: Source,
    specs: list[Source],
    settings: Settings,
    table_view: TableView | None = None,
) -> tuple[Checker, tuple[Input, ...]]:
    """Compile a task; also returns the extended specifications.

    ``table_view``: for measurements of the object table itself.
    """
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

    with_kinds: Sequence[Source] = specs
    options = _options(settings)
    if specs:
        from plansafe.domains.objects import add_kinds, load_table  # noqa: PLC0415 - only specifications have kinds

        with_kinds = add_kinds(domain, problem, specs, *([] if table_view is None else [table_view]))
        if options.home is not None and options.home.classes and len(with_kinds) > len(specs):
            table = load_table()  # implies kinds also for the classes that a user classifies
            classes = tuple([entry._replace(kinds=table.close(entry.kinds)) for entry in options.home.classes])
            options = options._replace(home=options.home._replace(classes=classes))
    checker = Checker(domain, problem, with_kinds, options, resolve=resolve)
    if settings.criteria.judge == MITIGATE:
        from plansafe.verifier.repair.mitigation import (  # noqa: PLC0415 - loads the search
            SPECIFICATION_NAME,
            with_mitigation,
        )

        checker = with_mitigation(checker)
        if SPECIFICATION_NAME in checker.sources:
            generated = checker.sources[SPECIFICATION_NAME]
            extended[SPECIFICATION_NAME] = Input("specification", SPECIFICATION_NAME, "for --judge mitigate", generated)
    return checker, tuple(extended.values())


def _options(settings: Settings) -> Options:
    from fractions import Fraction  # noqa: PLC0415 - the engine loads it anyway

    from plansafe.verifier.api import Options  # noqa: PLC0415 - loads the engine

    return Options(
        lenient_types=settings.lenient_types,
        tolerance=Fraction(settings.tolerance),
        judge=settings.criteria.judge,
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


def usage_problem(settings: Settings, spelling: Callable[[str], str] = flag_of) -> Diagnostic | None:
    """Find an invalid value or combination of settings; ``None`` if there is none.

    ``spelling`` gives the name of an option in the interface of the user.
    """

    def wrong(message: str, advice: str | None = None) -> Diagnostic:
        return Diagnostic(SC.BAD_OPTION, message, help=advice)

    if re.match(_NUMBER, settings.tolerance) is None:
        return wrong(f"{spelling('tolerance')} takes a number such as 0.001, not {settings.tolerance!a}")
    world, loose = spelling("world"), f"{spelling('reading')} text"
    if settings.world is None and (settings.scene or settings.goal or settings.task):
        files = f"{spelling('scene')}, {spelling('goal')} and {spelling('task')}"
        return wrong(f"{files} need {world}", f"name the world that the file belongs to, such as {world} virtualhome")
    if settings.accept_remarks and not settings.loose:
        return wrong(f"{spelling('accept_remarks')} needs {loose}", "plan files have no remarks; leave it out")
    if settings.world is not None and settings.loose:
        return wrong(f"{world} and {loose} choose different plan formats", "leave one out")
    if settings.certificate and (settings.ignore or settings.select or settings.classes):
        choices = [spelling(name) for name in ("ignore_rules", "select_rules", "kinds", "assume_harmless")]
        message = f"{spelling('certificate')} cannot be combined with {', '.join(choices[:-1])} or {choices[-1]}"
        home = f"{spelling('home')} FILE"
        return wrong(message, f"write the choice in a home profile, which --verify-certificate also accepts: {home}")
    if not math.isfinite(settings.time_limit) or settings.time_limit < 0:
        return wrong(f"{spelling('time_limit')} takes a number of seconds")
    return None
