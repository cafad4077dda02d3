"""Weights that transformers runs in this process: token by token, with a callback, and with likelihoods.

The loop is ours, and not ``generate``: ``generate`` takes penalties and limits from a file with the weights, which a
request did not ask for. The common beginning of two requests is not read again.

A grammar or a JSON schema as a mask over tokens, by llguidance: the tokens that can follow each token of a sentence.

llguidance (MIT, Rust, 8 MB) reads Lark-like grammars and JSON schemas, and takes about 20 microseconds a token.
"""

from __future__ import annotations

import copy
import inspect
import random
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, assert_never

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.adapter import Adapter, fits_tokenizer, put_on
from plansafe.llm.models.answer import Answer, Enforced, Finish, Score, bounded
from plansafe.llm.models.chat import wire
from plansafe.llm.models.constraint import to_supported_form, with_form_check
from plansafe.llm.models.port import Capabilities, LogitsMask, ModelError, PlainModel, Vocabulary
from plansafe.llm.models.received import without_reasoning
from plansafe.llm.models.request import Choice, Grammar, JsonSchema, Message, Request, Role
from plansafe.llm.models.token_table import ChoiceMask
from plansafe.llm.models.weights import broken
from plansafe.verifier.extras import how_to_install

CAPABILITIES = Capabilities(choice=True, lark=True, json_schema=True, tokens=True, score=True, seed=True)
_BATCH = 8
_SHORT, _MOST_KNOWN = 200, 200_000
"""Letters of a text whose tokens are remembered, and how many texts that are."""


class Libraries(NamedTuple):
    """torch and transformers, imported, and the type of number to compute in: part of what an answer depends on."""

    torch: Any
    transformers: Any
    dtype: str


def libraries(threads: int, dtype: str | None) -> Libraries:
    """Import them, quiet, with this number of threads. Raises :class:`ModelError` if they are not installed."""
    try:
        import torch  # noqa: PLC0415 - seconds, and for weights in this process alone
        import transformers  # noqa: PLC0415
    except ImportError as error:
        message = f"weights need torch and transformers, which are not installed: {how_to_install('hf')}"
        raise ModelError(
            Diagnostic(SC.MODEL_PACKAGE_MISSING, message, help="see docs/language-models.md"), True
        ) from error
    torch.set_num_threads(threads)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    # In 16 bits a small model on a CPU says other things.
    return Libraries(torch, transformers, dtype or ("bfloat16" if torch.cuda.is_available() else "float32"))


class _Tokens:
    """The tokenizer of a model as a :class:`~plansafe.llm.models.port.Vocabulary`."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}

    @property
    def end(self) -> int:
        return int(self._tokenizer.eos_token_id)

    def encode(self, text: str) -> list[int]:
        tokens = self._known.get(text)
        if tokens is None:
            tokens = list(self._tokenizer.encode(text, add_special_tokens=False))
            if len(text) <= _SHORT and len(self._known) < _MOST_KNOWN:  # steps come again with every choice
                self._known[text] = tokens
        return list(tokens)

    def decode(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))


def load(path: str, label: str, identity: str, needs: Libraries, adapter: Adapter | None = None) -> TorchModel:
    """The model in a folder of safetensors. Raises :class:`ModelError` for weights that cannot be loaded."""
    auto = needs.transformers
    cuda = needs.torch.cuda.is_available()
    try:
        tokenizer = auto.AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
        model = auto.AutoModelForCausalLM.from_pretrained(
            path,
            dtype=getattr(needs.torch, needs.dtype),
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
        )
    except Exception as error:  # a library over files of the user: any of its complaints is about them
        raise broken(path, error) from error
    if adapter is not None:
        fits_tokenizer(adapter, tokenizer)
        if not adapter.chat_template:
            tokenizer.chat_template = None
        put_on(model, adapter, needs.torch)
    return TorchModel(model.to("cuda" if cuda else "cpu").eval(), tokenizer, label, identity, needs)


class TorchModel(PlainModel):
    """A model in memory with its tokenizer, in evaluation mode, where it is."""

    def __init__(self, model: Any, tokenizer: Any, label: str, identity: str, needs: Libraries) -> None:
        super().__init__(label, identity, CAPABILITIES, connections=1, keeps=True)
        self._torch = needs.torch
        self._model = model
        self._new_cache: Callable[[], Any] = lambda: needs.transformers.DynamicCache(config=model.config)
        self._tokenizer = tokenizer
        self.vocabulary: Vocabulary = _Tokens(tokenizer)
        ends = model.generation_config.eos_token_id
        self._ends = {self.vocabulary.end, *(ends if isinstance(ends, list) else [] if ends is None else [ends])}
        self._most = int(getattr(model.config, "max_position_embeddings", 0) or 1 << 30)
        self._last_only = "logits_to_keep" in inspect.signature(model.forward).parameters
        self._lock = threading.Lock()
        self._grammars: Grammars | None = None
        self._cache: Any = None
        self._fed: list[int] = []

    def answer(self, request: Request, mask: LogitsMask | None = None) -> Answer:
        """See :class:`~plansafe.llm.models.port.Model`."""
        if mask is not None and request.constraint is not None:
            raise ValueError("a request may have a constraint or a mask, but not both")
        supported = to_supported_form(request.constraint, CAPABILITIES)
        enforced = supported.enforced
        match supported.constraint:
            case None:
                pass
            case Choice(texts):
                mask, enforced = ChoiceMask(texts, self.vocabulary), Enforced.AS_TOKENS
            case Grammar() | JsonSchema():
                mask = self._constrained(supported.constraint)
            case unexpected:
                assert_never(unexpected)
        prompt = self._prompt(request, request.max_tokens)
        with self._lock, self._torch.inference_mode():
            reused = self._reuse(prompt)
            tokens, finish = self._generated(prompt[reused:], request, mask)
        text, at = self.vocabulary.decode(tokens), -1
        if request.stop:
            at = min([place for place in (text.find(stop) for stop in request.stop) if place >= 0], default=-1)
        text, inside = without_reasoning(text if at < 0 else text[:at])
        answer = Answer(
            text,
            finish,
            enforced,
            reasoning=inside,
            prompt_tokens=len(prompt),
            completion_tokens=len(tokens),
            cached_tokens=reused,
            model=self.label,
        )
        return with_form_check(bounded(answer), request.constraint)

    def score(self, request: Request, texts: Sequence[str]) -> list[Score]:
        """See :class:`~plansafe.llm.models.port.Model`. The prompt is read once for all texts."""
        rows = [[*self.vocabulary.encode(text), self.vocabulary.end] for text in texts]
        prompt = self._prompt(request, max(map(len, rows), default=1))
        scores: list[Score] = []
        with self._lock, self._torch.inference_mode():
            reused = self._reuse(prompt)
            if reused < len(prompt) - 1:
                self._feed(prompt[reused:-1])
            for start in range(0, len(rows), _BATCH):
                part = rows[start : start + _BATCH]
                likely = self._likelihoods(prompt[-1], part)
                scores += [
                    Score(t, v, len(r)) for t, v, r in zip(texts[start : start + _BATCH], likely, part, strict=True)
                ]
        return scores

    @property
    def loaded(self) -> tuple[Any, Any]:
        """The causal model of transformers and its tokenizer, for other uses than messages."""
        return self._model, self._tokenizer

    def continued(self, tokens: Sequence[int], most: int, mask: LogitsMask | None = None) -> tuple[list[int], Finish]:
        """The likeliest tokens after the given ones, up to an end or ``most`` of them.

        For models that were trained on plain texts. The common beginning with the tokens of the last call is not read
        again.
        """
        request = Request((Message(Role.USER, ""),), max_tokens=most, seed=0)
        with self._lock, self._torch.inference_mode():
            reused = self._reuse(list(tokens))
            return self._generated(list(tokens)[reused:], request, mask)

    def _constrained(self, constraint: Grammar | JsonSchema) -> LogitsMask:
        with self._lock:
            if self._grammars is None:
                self._grammars = Grammars(self._tokenizer, self._ends)
        return self._grammars.mask(constraint)

    def _prompt(self, request: Request, room: int) -> list[int]:
        """The tokens of the messages, with room for the answer. Raises :class:`ModelError`."""
        messages = wire(request)
        try:
            if getattr(self._tokenizer, "chat_template", None):
                tokens = self._tokenizer.apply_chat_template(
                    messages, add_generation_prompt=True, tokenize=True, return_dict=False
                )
            else:  # a model that was not trained to talk
                tokens = self._tokenizer.encode("\n\n".join([message["content"] for message in messages]))
        except Exception as error:  # templates come with the weights, and may refuse a role
            message = f"{self.label} rejects these messages: {' '.join(str(error).split())[:200]}"
            raise ModelError(Diagnostic(SC.MODEL_FAILED, message)) from error
        if len(tokens) + room > self._most:
            message = (
                f"{self.label} has room for {self._most} tokens; the prompt has {len(tokens)}, the answer up to {room}"
            )
            raise ModelError(Diagnostic(SC.MODEL_FAILED, message, help="shorten the prompt, or allow fewer tokens"))
        return list(tokens)

    def _reuse(self, prompt: list[int]) -> int:
        """Cut the cache to its common beginning with a prompt, without the last token. Returns the number of tokens."""
        shared = 0
        for ours, theirs in zip(self._fed, prompt[:-1], strict=False):
            if ours != theirs:
                break
            shared += 1
        try:
            if self._cache is not None and shared < len(self._fed):
                self._cache.crop(shared - len(self._fed))
        except (RuntimeError, ValueError, NotImplementedError):  # some kinds of attention keep no past
            shared = 0
        if self._cache is None or shared == 0:
            self._cache, shared = self._new_cache(), 0
        self._fed = self._fed[:shared]
        return shared

    def _feed(self, tokens: list[int]) -> Any:
        """Read tokens; the logits after the last one."""
        more = {"logits_to_keep": 1} if self._last_only else {}
        cache, fed, self._cache, self._fed = self._cache, self._fed, None, []  # what breaks here is not used again
        row = self._torch.tensor([tokens], device=self._model.device)
        logits = self._model(input_ids=row, past_key_values=cache, use_cache=True, **more).logits[0, -1].float()
        self._cache, self._fed = cache, [*fed, *tokens]
        return logits

    def _generated(self, feed: list[int], request: Request, mask: LogitsMask | None) -> tuple[list[int], Finish]:
        generator = self._torch.Generator(device=self._model.device)
        generator.manual_seed(random.getrandbits(62) if request.seed is None else request.seed % (1 << 62))
        tokens: list[int] = []
        while len(tokens) < request.max_tokens:
            allowed = mask(tokens) if mask is not None else None
            if allowed is not None and len(allowed) == 0:
                return tokens, Finish.STOP
            if allowed is not None and len(allowed) == 1:
                token = allowed[0]  # nothing to decide
            else:
                token = self._picked(self._feed(feed), allowed, request, generator)
                feed = []
            if token in self._ends:
                return tokens, Finish.STOP
            tokens.append(token)
            feed = [*feed, token]
            if request.stop and any([stop in self.vocabulary.decode(tokens) for stop in request.stop]):
                return tokens, Finish.STOP
        return tokens, Finish.LENGTH

    def _picked(self, logits: Any, allowed: Sequence[int] | None, request: Request, generator: Any) -> int:
        torch = self._torch
        names = None if allowed is None else torch.as_tensor(allowed, device=logits.device)
        values = logits if names is None else logits[names]
        if request.temperature == 0:
            at = int(values.argmax())
        else:
            chances, order = torch.softmax(values / request.temperature, -1).sort(descending=True)
            if request.top_p < 1:
                chances[(chances.cumsum(-1) - chances) >= request.top_p] = 0.0
            at = int(order[torch.multinomial(chances, 1, generator=generator)])
        return at if names is None else int(names[at])

    def _likelihoods(self, before: int, rows: list[list[int]]) -> list[float]:
        """The logarithm of each row's probability after the cached prompt and the token ``before``."""
        torch, size = self._torch, max(map(len, rows))
        cache = copy.deepcopy(self._cache)
        if len(rows) > 1:
            cache.batch_repeat_interleave(len(rows))
        padded = torch.tensor([[before, *row, *[0] * (size - len(row))] for row in rows], device=self._model.device)
        logits = self._model(input_ids=padded[:, :-1], past_key_values=cache, use_cache=True).logits.float()
        log_probabilities = torch.log_softmax(logits, -1).gather(-1, padded[:, 1:, None])[..., 0]
        return [float(log_probabilities[number, : len(row)].double().sum()) for number, row in enumerate(rows)]


class Grammars:
    """What llguidance knows of a tokenizer: made once, about a second."""

    def __init__(self, tokenizer: Any, ends: Iterable[int]) -> None:
        try:
            import llguidance  # noqa: PLC0415 - for grammars alone
            import llguidance.hf  # noqa: PLC0415 - the same
        except ImportError as error:
            message = f"grammars need llguidance, which is not installed: {how_to_install('hf')}"
            raise ModelError(
                Diagnostic(SC.MODEL_PACKAGE_MISSING, message, help="see docs/language-models.md"), True
            ) from error
        self._matcher = llguidance.LLMatcher
        try:
            self._tokens = llguidance.hf.from_tokenizer(tokenizer, eos_token=sorted(ends))
        except Exception as error:  # any complaint of the library is about the tokenizer, a file of the user
            message = f"grammars cannot be enforced with this tokenizer: {_short(error)}"
            raise ModelError(Diagnostic(SC.MODEL_UNABLE, message, help="see docs/language-models.md"), True) from error

    def mask(self, constraint: Grammar | JsonSchema) -> GrammarMask:
        """The mask for one answer. Raises :class:`ModelError` for a grammar that llguidance does not read."""
        match constraint:
            case Grammar(text):
                grammar = text
            case JsonSchema(text):
                grammar = self._matcher.grammar_from_json_schema(text)
            case unexpected:
                assert_never(unexpected)
        matcher = self._matcher(self._tokens, grammar)
        if matcher.is_error():
            message = f"the grammar cannot be used: {_short(matcher.get_error())}"
            raise ModelError(Diagnostic(SC.MODEL_FAILED, message, help="see docs/language-models.md"))
        return GrammarMask(matcher)


class GrammarMask:
    """A :data:`~plansafe.llm.models.port.LogitsMask` that is asked after each token of one answer."""

    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher
        self._read = 0

    def __call__(self, tokens: Sequence[int]) -> Sequence[int]:
        """The tokens with which a sentence goes on, the end among them where it is one; none where it cannot go on."""
        import numpy  # noqa: PLC0415 - comes with torch, without which no mask is requested

        new, self._read = list(tokens[self._read :]), len(tokens)
        if (new and not self._matcher.consume_tokens(new)) or self._matcher.is_stopped():
            return []
        bits = numpy.frombuffer(self._matcher.compute_bitmask(), dtype=numpy.uint8)
        tokens_allowed: list[int] = numpy.flatnonzero(numpy.unpackbits(bits, bitorder="little")).tolist()
        return tokens_allowed


def _short(error: object) -> str:
    return " ".join(str(error).split())[:200]
