"""The prompts and resources of the MCP server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import mcp_types as types

from plansafe.app import explain
from plansafe.app.interfaces.agents.reference import example_names
from plansafe.domains import domain_names
from plansafe.domains.worlds import world_names
from plansafe.specs import spec_names

SCHEME = "safecheck://"
_MAX_COMPLETIONS = 100


class Category(NamedTuple):
    """Resources ``safecheck://KEY/NAME``: the kind of content in the operation ``show``, and their names.

    ``listed``: each is listed, not only the template.
    """

    kind: str
    about: str
    names: Callable[[], tuple[str, ...]]
    listed: bool = True


CATEGORIES: Mapping[str, Category] = {
    "rules": Category("rules", "a shipped safety specification", spec_names),
    "domains": Category("domain", "a shipped domain", domain_names),
    "worlds": Category("world", "the input files and plan formats of a home world", world_names),
    "examples": Category(
        "example", "a task of the domain household in words and PDDL, with a safe plan", example_names
    ),
    "reference": Category("reference", "how to write a safety rule", lambda: ("rules",)),
    "codes": Category("code", "the explanation of a code, such as SC201", explain.codes, listed=False),
}
ANSWERS = "answers"
"""The category of the full answers of earlier calls."""


def list_resources() -> list[types.Resource]:
    """Every resource of the categories with few names."""
    return [
        types.Resource(uri=f"{SCHEME}{key}/{name}", name=f"{key}/{name}", description=category.about)
        for key, category in CATEGORIES.items()
        if category.listed
        for name in category.names()
    ]


def list_templates() -> list[types.ResourceTemplate]:
    """A template for each category."""
    abouts = {key: category.about for key, category in CATEGORIES.items()}
    abouts[ANSWERS] = "the full answer of an earlier audit, repair or diagnose call, as JSON"
    return [
        types.ResourceTemplate(uri_template=f"{SCHEME}{key}/{{name}}", name=key, description=about)
        for key, about in abouts.items()
    ]


def complete(params: types.CompleteRequestParams, answers: list[str]) -> types.Completion:
    """The names that begin with a value."""
    names: list[str] = []
    if isinstance(params.ref, types.ResourceTemplateReference):
        key = params.ref.uri.removeprefix(SCHEME).partition("/")[0]
        names = answers if key == ANSWERS else list(CATEGORIES[key].names()) if key in CATEGORIES else []
    elif params.argument.name == "domain":
        names = list(domain_names())
    matching = [name for name in names if name.lower().startswith(params.argument.value.lower())]
    return types.Completion(
        values=matching[:_MAX_COMPLETIONS], total=len(matching), has_more=len(matching) > _MAX_COMPLETIONS
    )


class _Prompt(NamedTuple):
    """A prompt: ``text`` has its arguments in braces; optional arguments are empty if they are missing."""

    about: str
    arguments: tuple[tuple[str, str, bool], ...]
    text: str


_PROBLEM = ("problem", "The PDDL problem: its text", True)
_DOMAIN = ("domain", "The PDDL domain: its text, or a shipped name; default: the domain that the problem names", False)
_RULES = (
    "UNKNOWN is not safe. Report everything in `not_checked` to the user, and never call a plan safe unless its "
    "headline is SAFE."
)
_PROMPTS = {
    "repair_plan": _Prompt(
        "Audit a plan and repair it",
        (("plan", "The text of the plan", True), _PROBLEM, _DOMAIN),
        "Audit the plan below with the tool `audit`. If its headline is not SAFE, call `repair` with `same_as` set to "
        "the `answer` of the audit. Show the repaired plan, its edits with their reasons, and the rules that the "
        f"original plan broke. If `repair` finds no repair, give its reason. {_RULES}\n\n"
        "{domain}Problem:\n{problem}\n\nPlan:\n{plan}",
    ),
    "write_safe_plan": _Prompt(
        "Write a plan that reaches the goal and breaks no safety rule",
        (_PROBLEM, _DOMAIN),
        "Write a plan for the problem below, one PDDL action in a line. The resource `safecheck://domains/NAME` has "
        "the actions of a shipped domain, `safecheck://rules/NAME` its safety rules. Check your plan with `audit`; if "
        "its headline is not SAFE, correct it, or call `repair` with `same_as` set to the `answer` of the audit. "
        f"Return the plan whose headline is SAFE. {_RULES}\n\n{{domain}}Problem:\n{{problem}}",
    ),
    "write_safety_rule": _Prompt(
        "Turn a sentence into a safety rule",
        (("sentence", "What the robot must do, or never do", True), _DOMAIN),
        "Write three drafts of one safety rule for the sentence below, in the language of the resource "
        "`safecheck://reference/rules`. Call `formalise` with the sentence and your drafts as `answers`. Show the "
        "chosen rule in words with the plan that breaks it and the plan that keeps it, and ask the user whether that "
        "is meant.\n\n{domain}Sentence: {sentence}",
    ),
}


def list_prompts() -> list[types.Prompt]:
    """The prompts with their arguments."""
    return [
        types.Prompt(
            name=name,
            description=prompt.about,
            arguments=[
                types.PromptArgument(name=argument, description=about, required=required)
                for argument, about, required in prompt.arguments
            ],
        )
        for name, prompt in _PROMPTS.items()
    ]


def get_prompt(name: str, arguments: Mapping[str, str]) -> types.GetPromptResult | str:
    """A prompt with its arguments; a message if that is not possible."""
    prompt = _PROMPTS.get(name)
    if prompt is None:
        return f"unknown prompt {name[:60]!a}; there are: {', '.join(_PROMPTS)}"
    missing = [argument for argument, _, required in prompt.arguments if required and not arguments.get(argument)]
    if missing:
        return f"the prompt {name} needs: {', '.join(missing)}"
    texts = {argument: arguments.get(argument, "") for argument, _, _ in prompt.arguments}
    texts["domain"] = f"Domain: {texts['domain']}\n\n" if texts["domain"] else ""
    # One pass, so that braces in an argument stay as they are.
    message = types.PromptMessage(role="user", content=types.TextContent(text=prompt.text.format(**texts)))
    return types.GetPromptResult(description=prompt.about, messages=[message])
