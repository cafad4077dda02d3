"""Methods that compute each result once."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def memoized(
    method: Callable[Concatenate[Owner, Parameters], Result],
) -> Callable[Concatenate[Owner, Parameters], Result]:
    """Store the results of a method in each object; the arguments must be positional and hashable."""
    attribute_name = f"_{method.__name__}_results"

    @wraps(method)
    def get_result(self: Owner, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        assert not kwargs
        results: dict[object, Result] | None = self.__dict__.get(attribute_name)
        if results is None:
            results = self.__dict__[attribute_name] = {}
        if args not in results:
            results[args] = method(self, *args, **kwargs)
        return results[args]

    return get_result
