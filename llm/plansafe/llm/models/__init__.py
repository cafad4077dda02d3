"""Language models as clients of the verifier: one request, one answer, whoever gives it.

``providers.open_model("PROVIDER/NAME")`` gives a :class:`~plansafe.llm.models.port.Model`; ``batch`` asks it many
things at once and resumes an interrupted batch. Nothing here knows a task, and nothing here judges a plan.
"""
