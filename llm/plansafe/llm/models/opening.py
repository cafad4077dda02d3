"""A model with the file that its answers are kept in, open for as long as they are needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from plansafe.llm.models.cache import Cache, default_path
from plansafe.llm.models.port import Model
from plansafe.llm.models.providers import Settings, open_model


@contextmanager
def opened(
    name: str, settings: Settings, path: str | None = None, *, keep: bool = True
) -> Iterator[tuple[Model, Cache | None]]:
    """Open a model and the cache of its answers, in ``path`` or in its usual place.

    The cache is ``None`` if answers are not kept, or not worth keeping.

    Raises :class:`plansafe.llm.models.port.ModelError`.
    """
    model = open_model(name, settings)
    try:
        if keep and model.keeps:
            with Cache(path or default_path(os.environ)) as cache:
                yield model, cache
        else:
            yield model, None
    finally:
        model.close()
