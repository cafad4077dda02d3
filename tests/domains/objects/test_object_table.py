"""The object table: its files, the names that it knows, and the mapping that it becomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from plansafe.domains import domain_names, domain_path
from plansafe.domains.objects import classification, generated_mapping
from plansafe.domains.objects.classification import Classifier, TableView
from plansafe.domains.objects.generated_mapping import (
    add_kinds,
    classify_objects,
    is_extensible,
    write_mapping,
)
from plansafe.domains.objects.names import resolve_name, split_compound, split_words
from plansafe.domains.objects.table import ObjectTable, load_table, read_table
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source
from plansafe.specs import spec_names, spec_path
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Headline

KINDS = """kind,implies,meaning
toxic,,harms who swallows it
liquid,,can be poured
vessel,,holds liquid
container,,can be opened
oil,liquid food,flares up
food,,eaten
heat-source,,gives off heat
kettle,heat-source,heats water
"""
OBJECTS = """class,kind,status,reason,source,reviewer,worlds
bleach,toxic,confirmed,"chlorine, corrosive",CPSC,ann,virtualhome
bleach,liquid,confirmed,it is poured,common sense,ann,virtualhome igibson
bottle,vessel,confirmed,holds liquid,common sense,ann,
bag,container,confirmed,it is opened,common sense,ann,
flour,food,confirmed,eaten,common sense,ann,
knife,-,confirmed,"considered, for this test",common sense,ann,
olive_oil,oil,confirmed,cooking fat,common sense,ann,
hair_dryer,heat-source,confirmed,hot air,common sense,ann,
doll,toxic,proposed,old paint,WordNet,,
stovetop_kettle,vessel,confirmed,no element,common sense,ann,
kettle,kettle,confirmed,an element,common sense,ann,
"""
NAMES = """world,name,class
,blow_dryer,hair_dryer
safeagentbench,kettle,stovetop_kettle
igibson,iron_n_04,hair_dryer
"""
PROPOSALS = """class,kind,evidence
lye,toxic,WordNet: a strong solution
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with small tables."""
    for name, text in (("kinds", KINDS), ("objects", OBJECTS), ("names", NAMES), ("proposals", PROPOSALS)):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def table(folder: Path) -> ObjectTable:
    table = read_table(folder.as_posix())
    assert table.find_errors() == ()
    return table


def test_the_shipped_table_has_no_errors() -> None:
    table = load_table()
    assert table.find_errors() == ()
    assert len(table.rows) > 1000 and len(table.kinds) >= 70


@pytest.mark.parametrize(
    ("file", "row", "line", "message"),
    [
        ("objects", "lye,toxick,confirmed,a,b,c,", 13, "`toxick` is not a kind"),
        ("objects", "Lye Water,toxic,confirmed,a,b,c,", 13, "`Lye Water` is not a class"),
        ("objects", "lye,toxic,sure,a,b,c,", 13, "the status is `sure`"),
        ("objects", "lye,toxic,confirmed,a,b,,", 13, "confirmed without a reason, a source or a reviewer"),
        ("objects", "bleach,toxic,confirmed,a,b,c,", 13, "`bleach` has the kind `toxic` twice"),
        ("objects", "lye,toxic,confirmed,chlorine, strong,b,c,", 13, "expected 7 columns"),
        ("kinds", "acid,toxick,burns", 10, "`acid` implies `toxick`"),
        ("kinds", "toxic,,again", 10, "the kind `toxic` has two rows"),
        ("names", ",Blow Dryer,kettle", 5, "`Blow Dryer` has two classes: `hair_dryer` and `kettle`"),
        ("proposals", "lye,acidic,x", 3, "`acidic` is not a kind"),
    ],
)
def test_a_broken_row_is_a_diagnostic_with_file_and_line(
    folder: Path, file: str, row: str, line: int, message: str
) -> None:
    path = folder / f"{file}.csv"
    path.write_text(path.read_text(encoding="utf-8") + row + "\n", encoding="utf-8")
    table = read_table(folder.as_posix())
    (diagnostic,) = table.find_errors()
    assert message in diagnostic.message
    label = diagnostic.labels[0]
    assert label.source == str(path)
    assert Source.from_path(path).position(label.span.start)[0] == line
    if file == "objects" and "twice" not in message:
        assert not table.rows.get("lye")
        classified = Classifier("virtualhome", table=table).classify("lye_2")
        assert [(kind.kind, kind.status) for kind in classified.kinds] == [("toxic", "proposed")]  # of proposals.csv
        assert not classified.is_known


def test_a_class_with_a_broken_row_is_not_known(folder: Path) -> None:
    path = folder / "objects.csv"
    path.write_text(OBJECTS + "bleach,volatil,confirmed,a,b,c,\n", encoding="utf-8")
    classified = Classifier("virtualhome", table=read_table(folder.as_posix())).classify("bleach_25")
    assert not classified.is_known
    assert [(kind.kind, kind.status) for kind in classified.kinds] == [("toxic", "proposed"), ("liquid", "proposed")]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_another_separator_is_named_in_the_help(folder: Path, separator: str) -> None:
    path = folder / "objects.csv"
    row = separator.join(["lye", "toxic", "confirmed", "a", "b", "c", ""])
    path.write_text(f"{OBJECTS}{row}\n", encoding="utf-8")
    (diagnostic,) = read_table(folder.as_posix()).find_errors()
    assert diagnostic.help == "separate the columns with commas: save the table as CSV with the separator `,`"


def test_a_wrong_header_is_a_diagnostic(folder: Path) -> None:
    (folder / "names.csv").write_text("name,class\nx,y\n", encoding="utf-8")
    (diagnostic,) = read_table(folder.as_posix()).find_errors()
    assert "the first line must be `world,name,class`" in diagnostic.message


@pytest.mark.parametrize(
    ("name", "world", "classes"),
    [
        ("bleach", "", ("bleach",)),
        ("Bleach_25", "", ("bleach",)),
        ("hairdryer", "", ("hair_dryer",)),
        ("HairDryer|-01.2|+0.9", "", ("hair_dryer",)),
        ("hair dryers", "", ("hair_dryer",)),
        ("blow-dryer_2", "", ("hair_dryer",)),
        ("knives", "", ("knife",)),
        ("olive_oil.n.01", "", ("olive_oil",)),
        ("olive_oil_n_01_3", "", ("olive_oil",)),
        ("iron_n_04", "igibson", ("hair_dryer",)),
        ("kettle", "safeagentbench", ("stovetop_kettle",)),
        ("kettle", "virtualhome", ("kettle",)),
        ("bag__of__flour.n.01", "", ("bag", "flour")),
        ("bottle_of_bleach_2", "", ("bottle", "bleach")),
        ("bleach_bottle", "", ("bottle", "bleach")),
        ("flour__bag_n_01", "", ("bag", "flour")),
        ("lye", "", ("lye",)),
    ],
)
def test_names_of_a_class(table: ObjectTable, name: str, world: str, classes: tuple[str, ...]) -> None:
    resolved = resolve_name(table, name, world)
    assert resolved is not None
    assert (resolved.class_names, resolved.head_of) == (classes, "")


@pytest.mark.parametrize(
    ("name", "classes"),
    [("SoapBottle_1", ("bottle",)), ("knife_bottle", ("bottle",)), ("bottle_of_gin", ("bottle",))],
)
def test_an_unknown_compound_is_its_last_words(table: ObjectTable, name: str, classes: tuple[str, ...]) -> None:
    resolved = resolve_name(table, name)
    assert resolved is not None
    assert resolved.class_names == classes and resolved.head_of


@pytest.mark.parametrize(
    ("name", "words", "classes"),
    [
        ("knifebottle", ["knife", "bottle"], ("bottle",)),
        ("stovetopbag", ["stovetop", "bag"], ("bag",)),
        ("quibblebag", ["quibblebag"], ()),
        ("hairkettle_3", ["hair", "kettle"], ("kettle",)),
        ("knifevessel", ["knife", "vessel"], ("vessel",)),
        ("bleachbottle", ["bleach", "bottle"], ("bottle", "bleach")),
        ("bleachjug", ["bleachjug"], ()),
    ],
)
def test_a_compound_in_one_word_is_split_into_known_words(
    table: ObjectTable, name: str, words: list[str], classes: tuple[str, ...]
) -> None:
    assert split_compound(table, split_words(name)[0]) == words
    resolved = resolve_name(table, name)
    assert (resolved.class_names if resolved is not None else ()) == classes
    assert resolved is None or resolved.head_of == " ".join(words)
    assert all([kind.status == "proposed" for kind in Classifier("virtualhome", table=table).classify(name).kinds])


def test_the_last_word_of_a_compound_may_be_a_kind(table: ObjectTable) -> None:
    (kind,) = Classifier("virtualhome", table=table).classify("knife_vessel").kinds
    assert (kind.kind, kind.status, kind.source) == ("vessel", "proposed", "ontology")


def test_an_unknown_name_is_nothing(table: ObjectTable) -> None:
    assert resolve_name(table, "quibble_4") is None
    assert resolve_name(table, "bleachers") is None
    assert split_words("TVStand_12") == ["tv", "stand"]


def test_kinds_have_a_status_and_a_reason(table: ObjectTable) -> None:
    classifier = Classifier("virtualhome", table=table)
    bleach = classifier.classify("bleach")
    assert bleach.is_known and [(k.kind, k.status, k.source) for k in bleach.kinds] == [
        ("toxic", "confirmed", "CPSC"),
        ("liquid", "confirmed", "common sense"),
    ]
    assert [k.kind for k in classifier.classify("olive_oil").kinds] == ["oil", "liquid", "food"]
    assert classifier.classify("knife").is_known and not classifier.classify("knife").kinds
    for name in ("doll", "lye", "soap_bottle"):
        classification = classifier.classify(name)
        assert not classification.is_known and {kind.status for kind in classification.kinds} == {"proposed"}
    assert not classifier.classify("quibble").kinds


def test_a_name_of_a_kind_is_of_that_kind(table: ObjectTable) -> None:
    classification = Classifier("virtualhome", table=table).classify("heat_source")
    assert classification.is_known and [kind.kind for kind in classification.kinds] == ["heat-source"]


def test_another_folder_can_be_read_and_proposals_trusted(folder: Path) -> None:
    rows = OBJECTS.splitlines(keepends=True)
    text = "".join([row for row in rows if not row.endswith(",virtualhome\n")])
    (folder / "objects.csv").write_text(text, encoding="utf-8")
    classifier = Classifier("virtualhome", TableView(str(folder), trust_proposals=True))
    assert [k.kind for k in classifier.classify("bleach").kinds] == ["liquid"]
    doll = classifier.classify("doll")
    assert doll.is_known and [k.status for k in doll.kinds] == ["confirmed"]


DOMAIN = """(define (domain virtualhome)
  (:types room agent thing - object  cleaner appliance - thing  bleach - cleaner  doily knife hair_dryer - thing)
  (:constants tap - thing))"""
PROBLEM = """(define (problem p) (:domain virtualhome)
  (:objects kitchen - room  robot - agent  bleach_1 bleach_2 - thing  knife_3 - knife  lye_1 quibble_2 - thing
            soap_bottle_4 - thing  dryer - hair_dryer  can_7 doll - (either thing doily)) (:init) (:goal (and)))"""
MAPPING = """(define (mapping home-virtualhome) (:specification home) (:domain virtualhome)
  (:kinds object-table)
  (:types (thing thing) (room room) (agent agent) (vessel)) (:plain doily))"""


@pytest.fixture
def sources(table: ObjectTable, monkeypatch: pytest.MonkeyPatch) -> tuple[Source, Source, Source]:
    """Domain, problem and mapping of a small task, which is looked up in the small table."""
    for module in (classification, generated_mapping):
        monkeypatch.setattr(module, "load_table", lambda folder="": table)
    return Source("domain", DOMAIN), Source("problem", PROBLEM), Source("mapping", MAPPING)


@pytest.fixture
def written(sources: tuple[Source, Source, Source]) -> str:
    """The generated mapping of the small task."""
    return write_mapping(*sources).text


def test_the_generated_mapping(written: str) -> None:
    assert written.splitlines()[:3] == [
        "(define (mapping home-virtualhome-objects)",
        "  (:extends home-virtualhome)",
        "  (:types",
    ]
    assert "(toxic (either bleach))" in written and "(heat-source (either hair_dryer))" in written
    assert "(food)" in written  # nothing in this domain: the entry says so
    assert "(vessel" not in written  # the mapping declares that the world has none
    assert "(:plain knife)" in written


def test_objects_whose_type_says_nothing_are_looked_up_by_name(written: str) -> None:
    assert "(bleach_1 toxic liquid)" in written and "(bleach_2 toxic liquid)" in written
    assert "knife_3" not in written and "(dryer" not in written
    assert '(lye_1 toxic "WordNet: a strong solution")' in written
    assert "quibble_2" not in written
    # Of a soap bottle only the last word is known, and the mapping says that the world does not have vessels.
    assert "soap_bottle_4" not in written


def test_objects_are_listed_with_what_was_looked_up(sources: tuple[Source, Source, Source]) -> None:
    objects = {entry.name: entry for entry in classify_objects(*sources)}
    assert "kitchen" not in objects and "robot" not in objects
    assert (objects["knife_3"].looked_up, objects["knife_3"].has_classified_type) == ("knife", True)
    assert (objects["bleach_1"].looked_up, objects["bleach_1"].has_classified_type) == ("bleach_1", False)
    assert objects["soap_bottle_4"].entry.kinds[0].kind == "vessel"


RULES = """(define (safety home) (:vocabulary
  (:types thing room agent toxic liquid vessel container oil food heat-source kettle) (:actions (taste ?x - thing)))
  (:process nothing-toxic-tasted :parameters (?x - toxic) :on (taste ?x) :forbid (and)))"""


def test_the_checker_uses_the_generated_mapping(sources: tuple[Source, Source, Source]) -> None:
    domain, problem, mapping = sources
    domain = Source("domain", DOMAIN[:-1] + "(:action taste :parameters (?x - thing)))")
    specs = add_kinds(domain, problem, [Source("rules", RULES), mapping])
    assert len(specs) == 3
    assert add_kinds(domain, problem, specs)[2].text == specs[2].text and len(add_kinds(domain, problem, specs)) == 3
    checker = Checker(domain, problem, specs, Options(replay="always"))
    assert checker.diagnostics == ()
    report = checker.check(Source("plan", "(taste bleach_2)"))
    assert report.headline is Headline.UNSAFE and report.findings[0].replayed is True
    report = checker.check(Source("plan", "(taste lye_1)"))
    assert report.headline is Headline.UNSAFE
    assert [tuple(p) for p in report.findings[0].proposals] == [("lye_1", "toxic", "WordNet: a strong solution")]
    assert checker.check(Source("plan", "(taste quibble_2)")).headline is Headline.UNKNOWN
    assert checker.check(Source("plan", "(taste knife_3)")).headline is Headline.VALID


def test_other_specifications_are_unchanged() -> None:
    household = Source.from_path(spec_path("household"))
    assert add_kinds(Source("d", DOMAIN), Source("p", PROBLEM), [household]) == (household,)


@pytest.mark.parametrize("world", [name for name in domain_names() if f"home-{name}" in spec_names()])
def test_the_shipped_mappings_compile_with_the_table(world: str) -> None:
    domain = Source.from_path(domain_path(world))
    problem = Source("problem", f"(define (problem p) (:domain {world}) (:init) (:goal (and)))")
    names = ("home", f"home-{world}")
    specs = add_kinds(domain, problem, [Source.from_path(spec_path(name)) for name in names])
    checker = Checker(domain, problem, specs, resolve=lambda name, _: Source.from_path(spec_path(name)))
    assert checker.ok
    assert [d.message for d in checker.diagnostics if d.severity is Severity.WARNING] == []
    assert len(specs) == 2 + is_extensible(specs[1])
    if is_extensible(specs[1]):
        kinds = checker.compiled.kinds.types
        assert set(kinds) >= {kind.name for kind in load_table().kinds.values()}
        assert sum([bool(types) for types in kinds.values()]) > 30
