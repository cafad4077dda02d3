"""Methods that compute each result once."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
P = ParamSpec("P")
T = TypeVar("T")


def memoized(method: Callable[Concatenate[Owner, P], T]) -> Callable[Concatenate[Owner, P], T]:
    """Let each object keep the results of a method; its arguments must be positional and hashable."""
    name = f"_{method.__name__}_results"

    @wraps(method)
    def get_result(self: Owner, /, *args: P.args, **kwargs: P.kwargs) -> T:
        assert not kwargs
        results: dict[object, T] | None = self.__dict__.get(name)
        if results is None:
            results = self.__dict__[name] = {}
        if args not in results:
            results[args] = method(self, *args, **kwargs)
        return results[args]

    return get_result
