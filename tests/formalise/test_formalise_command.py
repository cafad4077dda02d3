"""``safecheck rules formalise`` in this process, with recorded answers: reports, files, exit codes, hostile answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from plansafe.grammar.source import Source
from plansafe.llm.formalise.home import small_home
from plansafe.verifier.api import Checker

Run = Callable[..., tuple[int, str, str]]
SCHEMA = Path(__file__).resolve().parents[2] / "app/plansafe/app/schema/formalise-1.json"
SENTENCE = "never leave the stove on unattended"
WATCHED = (
    "(:process a :parameters (?s - stove ?r - room) :forbid (and (running ?s) (in-room ?s ?r) "
    "(not (exists (?b - (either robot adult)) (present ?b ?r)))))"
)
ALWAYS = (
    "(:trajectory x :parameters (?s - stove ?r - room) :formula (always (imply (and (running ?s) (in-room ?s ?r)) "
    "(or (exists (?a - robot) (present ?a ?r)) (exists (?a - adult) (present ?a ?r))))))"
)
END = "(:termination y :parameters (?s - stove) :forbid (running ?s))"
FAST = ("--set", "formalise.walks=10", "--set", "limits.time=5")


def record_answers(*answers: str, sentence: str = SENTENCE) -> tuple[str, ...]:
    """Record these answers to a sentence, one for each sample; return the options that use them."""
    lines = [json.dumps({"task": sentence, "text": answer}) + "\n" for answer in answers]
    Path("answers.jsonl").write_text("".join(lines))
    return ("-m", "replay/answers.jsonl", "--samples", str(len(answers)), *FAST)


def written() -> set[str]:
    return {path.name for path in Path().iterdir()} - {"answers.jsonl", "cache"}


def rows(out: str, name: str) -> list[str]:
    return [line[15:] for line in out.splitlines() if line.startswith(name)]


def test_the_rule_with_the_most_votes_is_shown_with_plans_and_written(run: Run) -> None:
    code, out, err = run(
        *record_answers(END, WATCHED, ALWAYS, "(:process z :forbid (burning stove))"), "-o", "r.safe", SENTENCE
    )
    assert (code, err) == (0, "")
    assert rows(out, "votes") == ["2 of 4, PROVED equal on all traces of the problem"]
    assert rows(out, "breaks it") == ["1  (switch-on robot stove kitchen)"]
    assert rows(out, "not taken") == ["1 of 4: (:termination r :parameters (?s - stove) :forbid (running ?s))"]
    assert rows(out, "no rule") == ["1 of 4: SC102: unknown predicate `burning`"]
    assert "check it: nothing uses this rule until you add it with --spec" in out
    text = Path("r.safe").read_text()
    assert "2 of 4 samples" in text
    assert "replay/answers.jsonl" in text
    assert SENTENCE in text
    checker = Checker(*small_home("household"), [Source("r.safe", text)])
    assert checker.ok
    assert not checker.diagnostics
    plan = "(switch-on robot stove kitchen)\n(go robot kitchen hall)\n"
    assert [f.rule for f in checker.check(Source("x.plan", plan)).findings] == ["never-leave-the-stove-on-unattended"]
    assert not checker.check(Source("x.plan", "(switch-on robot stove kitchen)\n")).findings


def test_a_tie_is_refused_and_both_are_shown(run: Run) -> None:
    code, out, _ = run(*record_answers(END, WATCHED, END, WATCHED), "-o", "r.safe", SENTENCE)
    assert code == 3
    assert "SC647" in out
    assert len(rows(out, "breaks it")) == 2
    assert "check it" not in out
    assert written() == set()


def test_a_single_vote_of_several_is_not_enough(run: Run) -> None:
    code, out, _ = run(*record_answers(END, "nothing", "(:process", "nothing at all"), SENTENCE)
    assert code == 3
    assert "SC647" in out


def test_answers_without_a_rule(run: Run) -> None:
    code, out, _ = run(
        *record_answers("nothing", "(:process", "(:process r :forbid (burning stove))"), "-o", "r.safe", SENTENCE
    )
    assert code == 3
    assert "error[SC645]: no answer is a rule of this domain" in out
    assert "1 of 3: unknown predicate `burning`" in out
    assert written() == set()


def test_the_model_declines(run: Run) -> None:
    code, out, _ = run(*record_answers("CANNOT: no \x1b[31mred", "CANNOT: no way", END), "-o", "r.safe", SENTENCE)
    assert code == 1
    assert "SC646" in out
    assert "\x1b" not in out
    assert written() == set()


def test_a_single_refusal_of_several_is_not_enough(run: Run) -> None:
    code, out, _ = run(*record_answers("CANNOT: no", "nothing", "nothing", "(:process"), SENTENCE)
    assert code == 3
    assert "SC645" in out
    assert rows(out, "declined") == ["1 of 4: no"]
    assert run(*record_answers("CANNOT: no"), SENTENCE)[0] == 1, "of one answer it decides"


def test_the_model_is_not_asked_about_inexpressible_sentences(run: Run) -> None:
    code, out, _ = run("-m", "mock/empty", "Never switch off the alarm.")
    assert code == 1
    assert "`alarm` is not a name" in out
    code, out, _ = run("-m", "mock/empty", "--unchecked", "Never switch off the alarm.")
    assert code == 3, "it was asked"


def test_a_rule_that_nothing_breaks_does_not_count_as_a_vote(run: Run) -> None:
    never = "(:process r :parameters (?s - stove) :forbid (and (running ?s) (not (running ?s))))"
    code, out, _ = run(*record_answers(never, never, END, END, never), "--samples", "5", SENTENCE)
    assert code == 0
    assert rows(out, "votes")[0].startswith("2 of 5")
    assert "SC750" in "".join(rows(out, "no rule"))


def test_several_sentences_are_all_written_or_none(run: Run) -> None:
    second_sentence = "Wash food before you cut it."
    washed = "(:process w :on (cut ?a ?k ?x ?f ?r) :require (clean ?x))"
    options = record_answers(END, END)
    recorded = Path("answers.jsonl").read_text()
    record_answers(washed, washed, sentence=second_sentence)
    Path("answers.jsonl").write_text(recorded + Path("answers.jsonl").read_text())
    Path("sentences.txt").write_text(f"# what we want\n\n{SENTENCE}\n{second_sentence}\n")
    code, out, _ = run(*options, "--sentences", "sentences.txt", "-o", "r.safe")
    assert code == 0
    text = Path("r.safe").read_text()
    assert "(:termination never-leave-the-stove-on-unattended " in text
    assert "(:process wash-food-before-you-cut-it " in text
    Path("r.safe").unlink()
    code, out, _ = run(*options, "--sentences", "sentences.txt", "Never switch off the alarm.", "-o", "r.safe")
    assert code == 1
    assert "2 of 3 sentences have a rule" in out
    assert not Path("r.safe").exists()


def test_a_retry_has_the_diagnostic_of_the_answer(run: Run) -> None:
    burning = "(:process r :forbid (burning stove))"
    options = record_answers(burning, burning)
    first = Path("answers.jsonl").read_text()
    record_answers(END, END, sentence=f"{SENTENCE}, once more")
    Path("answers.jsonl").write_text(first + Path("answers.jsonl").read_text())
    assert run(*options, "--rounds", "1", SENTENCE)[0] == 3
    code, out, _ = run(*options, "--rounds", "2", SENTENCE)
    assert code == 0
    assert rows(out, "votes") == ["2 of 2, all of one text"]


def test_formulas_of_ltl(run: Run) -> None:
    code, out, _ = run(
        *record_answers("F(G(!running(stove)))", "```\nF G !running(stove)\n```"), "--language", "ltl", SENTENCE
    )
    assert code == 0
    assert rows(out, "rule") == ["(:trajectory r :formula (sometime (always (not (running stove)))))"]


@pytest.mark.slow
def test_json_conforms_to_the_schema(run: Run) -> None:
    schema = json.loads(SCHEMA.read_text())
    for answers in ((WATCHED, ALWAYS, END, "nothing"), (END, WATCHED), ("CANNOT: x",), ("\ud800\x00nothing",)):
        _, out, _ = run(*record_answers(*answers), "--format", "json", "-o", "r.safe", SENTENCE)
        record = json.loads(out)
        jsonschema.validate(record, schema)
        assert record["sentences"][0]["sentence"] == SENTENCE
        assert (record["written"] is not None) == (record["sentences"][0]["status"] == "found")


@pytest.mark.parametrize(
    "answer",
    [
        "(" * 200_000,
        "x" * 2_000_000,
        f"\x1b]0;pwned\x07{END}\u202e ../../etc/passwd",
        "(define (safety x) (:extends ../../../etc/passwd) (:open (running ?x)))",
        f'{END[:-1]} :message "\x1b[31m{{?s}}" :rationale "; :domain ../x")',
        "<script>alert(1)</script>",
        "```" * 10_000,
        "(:process r :forbid (and " + "(or " * 5_000 + ")" * 5_002,
        "(:process r :forbid (forall (?a ?b ?c ?d ?e ?f ?g ?h - object) (or (on ?a ?b) (on ?c ?d) (on ?e ?f))))",
    ],
)
def test_hostile_answers_give_no_rule(answer: str, run: Run) -> None:
    code, out, err = run(*record_answers(answer, answer), "-o", "r.safe", SENTENCE)
    assert code in (0, 3)
    for text in (out, err, Path("r.safe").read_text() if code == 0 else ""):
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
        assert "etc/passwd" not in text
        assert len(text) < 20_000
    assert written() <= {"r.safe"}


def test_a_hostile_sentence_stays_a_comment(run: Run) -> None:
    sentence = 'never "leave" the stove \\ on)\n(:open (running ?x)) {?s}'
    plain = " ".join(sentence.split())
    code, _, _ = run(*record_answers(END, END, sentence=plain), "-o", "r.safe", "--unchecked", sentence)
    assert code == 0
    checker = Checker(*small_home("household"), [Source("r.safe", Path("r.safe").read_text())])
    assert checker.ok
    assert not checker.is_open
    assert len(checker.rules) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-m", "nobody/x", SENTENCE), "SC630"),
        (("-m", "replay/none.jsonl", SENTENCE), "SC601"),
        (("-m", "llamacpp-local/none.gguf", SENTENCE), "SC631"),
        (("-m", "mock/planner", SENTENCE), "SC637"),
        (("-m", "mock/empty"), "SC607"),
        (("-m", "mock/empty", "x" * 501), "SC607"),
        (("-m", "mock/empty", "--sentences", "none.txt"), "SC601"),
        (("-m", "mock/empty", "--problem", "none.pddl", SENTENCE), "SC601"),
        (("-m", "mock/empty", "--domain", "none.pddl", SENTENCE), "SC601"),
        (("-m", "mock/empty", "--domain", "behavior", SENTENCE), "SC60"),
        (("-m", "mock/empty", "-o", "nowhere/r.safe", SENTENCE), "SC607"),
    ],
)
def test_mistakes_exit_with_2_and_write_nothing(words: tuple[str, ...], message: str, run: Run) -> None:
    code, out, err = run(*words)
    assert code == 2
    assert message in out + err
    assert not message.startswith("SC63") or "= help: " in err
    assert written() == set()


def test_tasks_that_are_not_searched_are_refused(run: Run) -> None:
    Path("d.pddl").write_text(
        "(define (domain d) (:predicates (p)) (:durative-action a :parameters () :duration (= ?duration 1)"
        " :condition (and) :effect (at end (p))))"
    )
    Path("p.pddl").write_text("(define (problem p) (:domain d) (:init) (:goal (and)))")
    code, _, err = run("-m", "mock/empty", "--domain", "d.pddl", "--problem", "p.pddl", "never p")
    assert code == 2
    assert "durative" in err
    Path("d.pddl").write_text("(define (domain d) (:predicates (p)) (:action a :parameters () :effect (p)))")
    Path("p.pddl").write_text("(define (problem p) (:domain d) (:init (unknown (p))) (:goal (and)))")
    code, _, err = run("-m", "mock/empty", "--domain", "d.pddl", "--problem", "p.pddl", "never p")
    assert code == 2
    assert "SC507" in err
