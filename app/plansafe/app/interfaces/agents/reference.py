"""Reference operations: explanations of codes, the shipped files, the hazards that the rules cover."""

from __future__ import annotations

import json
from importlib.resources import files

from plansafe.app import explain as pages
from plansafe.app.interfaces.agents.request_fields import BadRequest, Values
from plansafe.app.interfaces.agents.request_task import shipped
from plansafe.app.render.json import json_line
from plansafe.domains import domain_names
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, suggest_name
from plansafe.specs import default_specs, spec_names


def explain(values: Values) -> str:
    """Return the explanation of a diagnostic code."""
    text = pages.page(values["code"])
    if text is None:
        advice = suggest_name(values["code"].upper(), pages.codes())
        raise BadRequest(f"unknown code {values['code']!a}", advice, SC.NOT_FOUND)
    title, _, body = text.partition("\n")
    return _page(title.removeprefix("# ").partition(":")[0], title.partition(": ")[2], body.strip() + "\n")


def catalogue() -> str:
    """Return the names of the shipped rules, domains and home worlds."""
    from plansafe.domains.worlds import world, world_names  # noqa: PLC0415 - imports every world

    return json_line(
        {
            "rules": list(spec_names()),
            "domains": [{"name": name, "rules": list(default_specs(name))} for name in domain_names()],
            "worlds": [{"name": name, "title": world(name).title} for name in world_names()],
        }
    )


def example_names() -> tuple[str, ...]:
    """The names of the shipped examples: the families of their tasks."""
    return tuple(_examples())


def _examples() -> dict[str, dict[str, str]]:
    text = (files("plansafe.llm.prompts") / "household.jsonl").read_text(encoding="utf-8")
    return {example["family"]: example for example in map(json.loads, text.splitlines())}


def show(values: Values) -> str:
    """Return the text of a shipped specification, domain or example, or the input formats of a home world."""
    from plansafe.domains.worlds import world, world_names  # noqa: PLC0415 - imports every world

    category, name = values["what"], values["name"].lower()
    names = {
        "rules": spec_names(),
        "domain": domain_names(),
        "world": world_names(),
        "example": example_names() if category == "example" else (),
        "reference": ("rules",),
    }[category]
    if name not in names:
        raise BadRequest(
            f"safecheck ships no {category} named {name[:60]!a}", suggest_name(name[:60], names), SC.NOT_FOUND
        )
    if category == "world":
        home_world = world(name)
        files = [f"{file.role}: {file.meaning}{'' if file.required else ' (optional)'}" for file in home_world.files]
        return _page(
            name, home_world.title, "\n".join([*files, *[f"plan: {form}" for form in home_world.plans]]) + "\n"
        )
    if category == "example":
        example = _examples()[name]
        text = f"Task: {example['words']}\n\nProblem:\n{example['problem']}\nA safe plan:\n{example['plan']}"
        return _page(name, example["words"], text)
    if category == "reference":
        from plansafe.llm.prompts.formalising import Language, language_reference  # noqa: PLC0415 - only needed here

        return _page(name, "how to write a safety rule", language_reference(Language.RULES))
    role = "domain" if category == "domain" else "specification"
    return _page(name, f"the shipped {role} {name}", shipped(role, name).source.text)


def _page(name: str, title: str, text: str) -> str:
    return json_line({"name": name, "title": title, "text": text})


def hazards(values: Values) -> str:
    """Return the rules of a domain for each category of published hazard taxonomies."""
    from plansafe.app.session.catalogue import library  # noqa: PLC0415 - only needed here
    from plansafe.specs.taxonomy import find_category_coverage, load_taxonomies  # noqa: PLC0415

    domain = values["domain"].lower()
    checker = library(domain)
    if isinstance(checker, Diagnostic):
        raise BadRequest(checker.message, checker.help)
    name = values["taxonomy"]
    available = load_taxonomies().taxonomies
    selected = [t for t in available if name is None or t.name == name.lower()]
    if not selected:
        names = [t.name for t in available]
        raise BadRequest(f"unknown taxonomy {name[:60]!a}", suggest_name(name[:60].lower(), names) or ", ".join(names))
    applicable = [rule for rule in checker.rules if rule.applicable]
    taxonomies = []
    for taxonomy in selected:
        categories = [
            {"name": c.category.name, "title": c.category.title, "rules": list(c.rules), "reason": c.reason}
            for c in find_category_coverage(taxonomy, applicable, domain)
        ]
        taxonomies.append({"name": taxonomy.name, "title": taxonomy.title, "categories": categories})
    return json_line(
        {"domain": domain, "rules": len(checker.rules), "applicable": len(applicable), "taxonomies": taxonomies}
    )
