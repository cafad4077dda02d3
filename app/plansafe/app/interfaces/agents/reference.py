"""What can be looked up: pages of codes, what is shipped, which hazards the rules cover. Texts in, JSON out."""

from __future__ import annotations

from plansafe.app import explain as pages
from plansafe.app.interfaces.agents.request_fields import BadRequest, Values
from plansafe.app.interfaces.agents.request_task import shipped
from plansafe.app.render.json import json_line
from plansafe.domains import domain_names
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, near
from plansafe.specs import default_specs, spec_names


def explain(values: Values) -> str:
    """The page of a code."""
    text = pages.page(values["code"])
    if text is None:
        advice = near(values["code"].upper(), pages.codes())
        raise BadRequest(f"there is no code {values['code']!a}", advice, SC.NOT_THERE)
    title, _, rest = text.partition("\n")
    return _page(title.removeprefix("# ").partition(":")[0], title.partition(": ")[2], rest.strip() + "\n")


def catalogue() -> str:
    """What is shipped, by name."""
    from plansafe.domains.worlds import world, world_names  # noqa: PLC0415 - imports every world

    return json_line(
        {
            "rules": list(spec_names()),
            "domains": [{"name": name, "rules": list(default_specs(name))} for name in domain_names()],
            "worlds": [{"name": name, "title": world(name).title} for name in world_names()],
        }
    )


def show(values: Values) -> str:
    """A shipped specification or domain as text; what a world reads."""
    from plansafe.domains.worlds import world, world_names  # noqa: PLC0415 - imports every world

    what, name = values["what"], values["name"].lower()
    names = {"rules": spec_names, "domain": domain_names, "world": world_names}[what]()
    if name not in names:
        raise BadRequest(f"no {what} of the name {name[:60]!a} is shipped", near(name[:60], names), SC.NOT_THERE)
    if what == "world":
        found = world(name)
        files = [f"{file.role}: {file.meaning}{'' if file.required else ' (optional)'}" for file in found.files]
        return _page(name, found.title, "\n".join([*files, *[f"plan: {form}" for form in found.plans]]) + "\n")
    role = "domain" if what == "domain" else "specification"
    return _page(name, f"the shipped {role} {name}", shipped(role, name).source.text)


def _page(name: str, title: str, text: str) -> str:
    return json_line({"name": name, "title": title, "text": text})


def hazards(values: Values) -> str:
    """Which rules stand for which category of published taxonomies, in a domain."""
    from plansafe.app.session.catalogue import library  # noqa: PLC0415 - for this operation alone
    from plansafe.specs.taxonomy import coverage, load  # noqa: PLC0415

    domain = values["domain"].lower()
    checker = library(domain)
    if isinstance(checker, Diagnostic):
        raise BadRequest(checker.message, checker.help)
    wanted = values["taxonomy"]
    known = load().taxonomies
    chosen = [t for t in known if wanted is None or t.name == wanted.lower()]
    if not chosen:
        names = [t.name for t in known]
        raise BadRequest(f"no taxonomy is named {wanted[:60]!a}", near(wanted[:60].lower(), names) or ", ".join(names))
    applicable = [rule for rule in checker.rules if rule.applicable]
    taxonomies = []
    for taxonomy in chosen:
        categories = [
            {"name": c.category.name, "title": c.category.title, "rules": list(c.rules), "reason": c.reason}
            for c in coverage(taxonomy, applicable, domain)
        ]
        taxonomies.append({"name": taxonomy.name, "title": taxonomy.title, "categories": categories})
    return json_line(
        {"domain": domain, "rules": len(checker.rules), "applicable": len(applicable), "taxonomies": taxonomies}
    )
