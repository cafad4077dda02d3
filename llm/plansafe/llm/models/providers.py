"""The providers by name, what each can do, and how a name such as ``ollama/qwen3`` becomes a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, suggest_name
from plansafe.llm.models import dialects, hf, llamacpp_local, mock, ollama, replay, torch_model, weights
from plansafe.llm.models.chat import ChatModel, Dialect
from plansafe.llm.models.port import Capabilities, Model, ModelError, Policy
from plansafe.llm.models.transport import Key, Transport, Tries, checked_url
from plansafe.verifier.extras import how_to_install

if TYPE_CHECKING:
    from plansafe.llm.models.cache import Cache

_MOST_CONNECTIONS = 64
_CONTEXT = 8192


@dataclass(frozen=True)
class Settings:
    """The settings of a model. ``environment`` has addresses and keys.

    ``threads`` and ``context`` (tokens of prompt and answer together) are for models in this process: torch has one
    thread by default, since two on shared cores are slower than one, llama.cpp two, and room for 8,192 tokens.
    ``dtype`` is torch's number format; default: 32 bits on a CPU, 16 on a GPU.
    """

    base_url: str | None = None
    connections: int | None = None
    tries: Tries = field(default_factory=Tries)
    seed: int = 0
    threads: int | None = None
    context: int | None = None
    dtype: Literal["float32", "bfloat16"] | None = None
    policies: Mapping[str, Policy] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)


class Provider(NamedTuple):
    """A kind of model: the ``packages`` that it imports, the ``extra`` that installs them, further ``needs``.

    ``substitute`` is the name of the provider that runs the same weights where the packages are missing.
    """

    name: str
    form: str
    about: str
    capabilities: Capabilities
    packages: tuple[str, ...]
    extra: str
    needs: str
    open: Callable[[str, Settings], Model]
    substitute: str = ""

    @property
    def installed(self) -> bool:
        """Whether the packages are there. Nothing is imported."""
        return all([find_spec(package) is not None for package in self.packages])

    @property
    def runner(self) -> Provider | None:
        """The provider that runs the model: this one, its substitute, or ``None`` where neither is installed."""
        if self.installed or not self.substitute:
            return self if self.installed else None
        return _provider(self.substitute).runner


def open_model(name: str, settings: Settings | None = None) -> Model:
    """The model of that name: ``PROVIDER/NAME``.

    Raises :class:`ModelError` for an unknown provider, missing packages, weights or keys, before anything is sent.
    """
    provider, model_name = split_model_name(name)
    return provider.open(model_name, settings or Settings())


def split_model_name(name: str) -> tuple[Provider, str]:
    """The provider of a model, and the provider's name for the model.

    Raises :class:`ModelError` for an unknown provider.
    """
    kind, slash, model_name = name.partition("/")
    provider = next((p for p in PROVIDERS if p.name == kind.lower()), None)
    if provider is None or not slash or not model_name or not model_name.isprintable():
        raise ModelError(_unknown(name, kind, provider), fatal=True)
    return provider, model_name


def _provider(name: str) -> Provider:
    return next(provider for provider in PROVIDERS if provider.name == name)


def _unknown(name: str, kind: str, provider: Provider | None) -> Diagnostic:
    if provider is not None:
        return Diagnostic(SC.UNKNOWN_MODEL, f"{name!a} does not name a model", help=f"write {provider.form}")
    names = [p.name for p in PROVIDERS]
    suggestion = suggest_name(kind.lower(), names)
    help = suggestion or f"write PROVIDER/NAME; providers: {', '.join(names)}"
    if os.path.exists(name):
        form = f"gguf/{name}" if name.lower().endswith(".gguf") else f"hf/{name}"
        help = f"for weights in a file or folder, write {form}"
    return Diagnostic(SC.UNKNOWN_MODEL, f"unknown provider {kind[:60]!a} (of the model {name[:120]!a})", help=help)


def _connections(settings: Settings, usual: int) -> int:
    return max(1, min(settings.connections or usual, _MOST_CONNECTIONS))


def _remote(settings: Settings, variable: str, usual: str, key: str, start: str) -> Transport:
    """The way to a server: the flag, else the variable, else where it usually listens."""
    name, text = ("--set model.base_url", settings.base_url)
    if text is None:
        name, text = variable, settings.environment.get(variable) or usual
    if variable == "OLLAMA_HOST":
        text = ollama.url_of(text)
    url = checked_url(text, name)
    secret = Key(settings.environment.get(key, "").strip(), key)
    return Transport(url, secret, settings.tries, _connections(settings, 4), start)


def _chat(dialect: Dialect, name: str, transport: Transport, settings: Settings) -> ChatModel:
    return ChatModel(dialect, name, transport, _connections(settings, 4))


def _openai(name: str, settings: Settings) -> Model:
    transport = _remote(
        settings, "OPENAI_BASE_URL", dialects.OPENAI_URL, "OPENAI_API_KEY", "check the network connection"
    )
    if transport.url == dialects.OPENAI_URL and not settings.environment.get("OPENAI_API_KEY", "").strip():
        transport.close()
        help = "set OPENAI_API_KEY, or name another server with --set model.base_url=URL or OPENAI_BASE_URL"
        raise ModelError(Diagnostic(SC.MODEL_KEY, "openai/ needs a key", help=help), fatal=True)
    return _chat(dialects.openai_dialect(transport.url), name, transport, settings)


def _vllm(name: str, settings: Settings) -> Model:
    start = f"start the server with `vllm serve {name}`, or give its address with --set model.base_url=URL"
    transport = _remote(settings, "VLLM_BASE_URL", dialects.VLLM_URL, "VLLM_API_KEY", start)
    return _chat(dialects.vllm_dialect(), name, transport, settings)


def _llamacpp(name: str, settings: Settings) -> Model:
    start = "start the server with `llama-server -m FILE`, or give its address with --set model.base_url=URL"
    transport = _remote(settings, "LLAMACPP_BASE_URL", dialects.LLAMACPP_URL, "LLAMA_API_KEY", start)
    return _chat(dialects.llamacpp_dialect(), name, transport, settings)


def _ollama(name: str, settings: Settings) -> Model:
    start = f"start it with `ollama serve`, and fetch the model with `ollama pull {name}`"
    transport = _remote(settings, "OLLAMA_HOST", f"127.0.0.1:{ollama.PORT}", "OLLAMA_API_KEY", start)
    return ollama.OllamaModel(name, transport, _connections(settings, 4))


def _hf(path: str, settings: Settings) -> Model:
    cache_folder = weights.folder_of(settings.environment)
    return hf.open_folder(path, settings.threads or 1, settings.dtype, settings.environment, cache_folder)


def _gguf(path: str, settings: Settings) -> Model:
    weights.checked_gguf(path)
    runner = _provider("gguf").runner
    if runner is None:
        message = "GGUF weights need transformers (extra `hf`) or llama.cpp (extra `llamacpp`); neither is installed"
        help = f"{how_to_install('llamacpp')}, or {how_to_install('hf')}"
        raise ModelError(Diagnostic(SC.MODEL_PACKAGE_MISSING, message, help=help), fatal=True)
    if runner.name != "gguf":
        return runner.open(path, settings)
    return hf.open_file(path, settings.threads or 1, settings.dtype, weights.folder_of(settings.environment))


def _llamacpp_local(path: str, settings: Settings) -> Model:
    return llamacpp_local.open_file(path, settings.threads or 2, settings.context or _CONTEXT)


def _replay(path: str, _: Settings) -> Model:
    return replay.ReplayModel(path)


def _mock(name: str, settings: Settings) -> Model:
    if name not in mock.KINDS:
        help = (
            suggest_name(name, list(mock.KINDS)) or f"available: {', '.join([f'mock/{kind}' for kind in mock.KINDS])}"
        )
        raise ModelError(Diagnostic(SC.UNKNOWN_MODEL, f"unknown mock {name[:60]!a}", help=help), fatal=True)
    return mock.MockModel(name, settings.policies, settings.seed)


_HTTP = ("httpx",)
PROVIDERS = (
    Provider(
        "openai", "openai/NAME", "OpenAI, or a service with its protocol (--set model.base_url=URL)",
        dialects.openai_dialect("").capabilities, _HTTP, "llm", "OPENAI_API_KEY, OPENAI_BASE_URL", _openai
    ),
    Provider(
        "vllm", "vllm/NAME", "a server of vLLM",
        dialects.vllm_dialect().capabilities, _HTTP, "llm", "VLLM_BASE_URL, VLLM_API_KEY", _vllm
    ),
    Provider(
        "ollama", "ollama/NAME", "Ollama", ollama.CAPABILITIES, _HTTP, "llm", "OLLAMA_HOST, OLLAMA_API_KEY", _ollama
    ),
    Provider(
        "llamacpp", "llamacpp/NAME", "a server of llama.cpp",
        dialects.llamacpp_dialect().capabilities, _HTTP, "llm", "LLAMACPP_BASE_URL, LLAMA_API_KEY", _llamacpp
    ),
    Provider(
        "hf", "hf/FOLDER", "weights as safetensors, in this process",
        torch_model.CAPABILITIES, ("torch", "transformers"), "hf", "the folder", _hf
    ),
    Provider(
        "gguf", "gguf/FILE", "weights as GGUF, by transformers (unpacked once) or llama.cpp in this process",
        torch_model.CAPABILITIES, ("torch", "transformers", "accelerate", "gguf"), "hf", "the file", _gguf,
        substitute="llamacpp-local"
    ),
    Provider(
        "llamacpp-local", "llamacpp-local/FILE", "weights as GGUF, by llama.cpp in this process",
        llamacpp_local.CAPABILITIES, ("xllamacpp",), "llamacpp", "the file", _llamacpp_local
    ),
    Provider(
        "replay", "replay/FILE", "recorded answers, as JSON lines", replay.CAPABILITIES, (), "", "the file", _replay
    ),
    Provider(
        "mock", f"mock/{'|'.join(mock.KINDS)}", "no model: random choices, or a policy of the caller",
        mock.CAPABILITIES, (), "", "nothing", _mock
    ),
)  # fmt: skip
"""All of them, in the order in which they are listed."""


@contextmanager
def opened(
    name: str, settings: Settings, path: str | None = None, *, keep: bool = True
) -> Iterator[tuple[Model, Cache | None]]:
    """Open a model and the cache of its answers, in ``path`` or in its usual place.

    The cache is ``None`` if answers are not kept, or not worth keeping.

    Raises :class:`plansafe.llm.models.port.ModelError`.
    """
    from plansafe.llm.models.cache import Cache, default_path  # noqa: PLC0415 - loads sqlite3

    model = open_model(name, settings)
    try:
        if keep and model.keeps:
            with Cache(path or default_path(os.environ)) as cache:
                yield model, cache
        else:
            yield model, None
    finally:
        model.close()
