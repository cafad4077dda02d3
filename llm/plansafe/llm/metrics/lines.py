"""The JSON lines of predictions and of judged plans, to and fro; docs/metrics.md has their fields.

Unknown fields are refused, because a misspelt field would otherwise count as missing.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, TypeVar

from plansafe.llm.metrics.cautions import Caution, Cautions
from plansafe.llm.metrics.fields import MOST_ITEMS, BadField, only, shares, text, truth, whole
from plansafe.llm.metrics.judged import Judged, Moment, Safety, Success, Violated
from plansafe.llm.metrics.records import VERSION, Module, Prediction
from plansafe.llm.metrics.shares import Share
from plansafe.verifier.diagnose.labels import SAFEL_LABELS

_MOST_ANSWER = 1_000_000
_COMMON = ("kind", "version", "scenario", "family", "model", "prompt", "sample", "confidences")
_PREDICTION = (*_COMMON, "module", "answer", "action", "refused")
_JUDGED_FIELDS = (
    *_COMMON,
    "read",
    "executable",
    "safety",
    "success_paper",
    "success_end",
    "goal",
    "label",
    "classes",
    "violations",
    "suppressed",
    "intention",
    "cautions",
)
_Choice = TypeVar("_Choice", bound=Enum)


def prediction_of(record: dict[str, Any]) -> Prediction:
    """The prediction that a JSON object is. Raises :class:`~plansafe.llm.metrics.fields.BadField`."""
    _head(record, "prediction", _PREDICTION)
    module = _choice(record, "module", Module)
    if "answer" not in record:
        raise BadField("answer", "is missing (write null if the model gave none)")
    scenario = text(record, "scenario")
    answer = None if record["answer"] is None else text(record, "answer", "", _MOST_ANSWER)
    action = text(record, "action", "")
    if (module is Module.TRANSITION) != bool(action):
        raise BadField("action", "is required with `transition-modeling`, and not allowed otherwise")
    refused = truth(record, "refused")
    if refused is not None and module is not Module.REFUSAL:
        raise BadField("refused", "is only allowed with `refusal`")
    return Prediction(
        scenario,
        module,
        answer,
        text(record, "family", "") or scenario,
        text(record, "model", ""),
        text(record, "prompt", ""),
        whole(record, "sample", 0),
        action,
        refused,
        shares(record, "confidences"),
    )


def judged_of(record: dict[str, Any]) -> Judged:
    """The judged plan that a JSON object is. Raises :class:`~plansafe.llm.metrics.fields.BadField`."""
    _head(record, "judged", _JUDGED_FIELDS)
    scenario = text(record, "scenario")
    read = truth(record, "read")
    if read is None:
        raise BadField("read", "is missing")
    safety = _choice(record, "safety", Safety)
    executable = truth(record, "executable")
    success = Success(*[truth(record, field) for field in ("success_paper", "success_end", "goal")])
    intention = truth(record, "intention")
    claims = executable, success.paper, success.end, success.goal, intention
    if not read and (safety is not Safety.UNKNOWN or any(claims) or record.get("violations")):
        raise BadField("read", "is false, but other fields describe the plan")
    label = None if record.get("label") is None else text(record, "label")
    if label is not None and label not in SAFEL_LABELS:
        raise BadField("label", f"is none of {', '.join(SAFEL_LABELS)}")
    return Judged(
        scenario,
        text(record, "family", "") or scenario,
        text(record, "model", ""),
        text(record, "prompt", ""),
        whole(record, "sample", 0),
        read,
        executable,
        safety,
        success,
        label,
        _texts(record, "classes"),
        _violations(record),
        whole(record, "suppressed", 0),
        shares(record, "confidences"),
        intention,
        _cautions(record),
    )


def prediction_line(prediction: Prediction) -> str:
    """The line of a prediction, without its end; reading it gives the same prediction."""
    return _dump(
        prediction,
        "prediction",
        {
            "module": prediction.module.value,
            "answer": prediction.answer,
            "action": prediction.action,
            "refused": prediction.refused,
        },
    )


def judged_line(plan: Judged) -> str:
    """The line of a judged plan, without its end; reading it gives the same record."""
    return _dump(
        plan,
        "judged",
        {
            "read": plan.read,
            "executable": plan.executable,
            "safety": plan.safety.value,
            "success_paper": plan.success.paper,
            "success_end": plan.success.end,
            "goal": plan.success.goal,
            "label": plan.label,
            "classes": list(plan.classes),
            "violations": [
                {"rule": v.rule, "moment": v.moment.value, "categories": list(v.categories)} for v in plan.violations
            ],
            "suppressed": plan.suppressed,
            "intention": plan.intention,
            "cautions": None if plan.cautions is None else _caution_fields(plan.cautions),
        },
    )


def _dump(result: Prediction | Judged, kind: str, fields: dict[str, Any]) -> str:
    record = {
        "kind": kind,
        "version": VERSION,
        "scenario": result.scenario,
        "family": result.family,
        "model": result.model,
        "prompt": result.prompt,
        "sample": result.sample,
        **fields,
        "confidences": list(result.confidences),
    }
    return json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _head(record: dict[str, Any], kind: str, allowed: tuple[str, ...]) -> None:
    version = record.get("version")
    if type(version) is not int or version != VERSION:
        raise BadField("version", f"is not {VERSION}, the only version that this program reads")
    if record.get("kind") != kind:
        raise BadField("kind", f"is not `{kind}`")
    only(record, allowed)


def _choice(record: dict[str, Any], field: str, choices: type[_Choice]) -> _Choice:
    word = text(record, field)
    for option in choices:
        if option.value == word:
            return option
    raise BadField(field, f"is none of {', '.join([str(option.value) for option in choices])}")


def _texts(record: dict[str, Any], field: str) -> tuple[str, ...]:
    value = record.get(field, [])
    if not isinstance(value, list) or len(value) > MOST_ITEMS:
        raise BadField(field, f"is not a list of at most {MOST_ITEMS} texts")
    return tuple([text({field: entry}, field) for entry in value])


def _caution_fields(kept_cautions: Cautions) -> dict[str, Any]:
    shares = (("before", kept_cautions.before), ("after", kept_cautions.after), ("end", kept_cautions.end))
    return {**{name: [share.hits, share.of] for name, share in shares}, "any": kept_cautions.any}


def _cautions(record: dict[str, Any]) -> Cautions | None:
    value = record.get("cautions")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadField("cautions", "is not an object")
    only(value, tuple([moment.value for moment in Caution]))
    before, after, end = [_share(value.get(name, [0, 0])) for name in ("before", "after", "end")]
    return Cautions(before, after, end, whole(value, "any", 0))


def _share(value: object) -> Share:
    if not isinstance(value, list) or len(value) != 2:
        raise BadField("cautions", "has an entry that is not a pair of numbers (kept, asked)")
    hits, total = [whole({"cautions": number}, "cautions") for number in value]
    if hits > total:
        raise BadField("cautions", f"has {hits} kept of {total}")
    return Share(hits, total)


def _violations(record: dict[str, Any]) -> tuple[Violated, ...]:
    value = record.get("violations", [])
    if not isinstance(value, list) or len(value) > MOST_ITEMS:
        raise BadField("violations", f"is not a list of at most {MOST_ITEMS} violations")
    violations: list[Violated] = []
    for entry in value:
        if not isinstance(entry, dict):
            raise BadField("violations", f"has at {len(violations) + 1} an entry that is not an object")
        only(entry, ("rule", "moment", "categories"))
        violations.append(Violated(text(entry, "rule"), _choice(entry, "moment", Moment), _texts(entry, "categories")))
    return tuple(violations)
