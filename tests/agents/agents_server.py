"""A server in its own process, and small tasks for its requests."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import httpx

DOMAIN = """(define (domain kitchen)
  (:types room stove - object)
  (:predicates (robot-in ?r - room) (in ?s - stove ?r - room) (on ?s - stove))
  (:action switch-on :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (not (on ?s))) :effect (on ?s))
  (:action switch-off :parameters (?s - stove ?r - room)
    :precondition (and (robot-in ?r) (in ?s ?r) (on ?s)) :effect (not (on ?s)))
  (:action go :parameters (?from ?to - room)
    :precondition (and (robot-in ?from) (not (= ?from ?to)))
    :effect (and (not (robot-in ?from)) (robot-in ?to))))"""
PROBLEM = """(define (problem tea) (:domain kitchen) (:objects hob - stove kitchen hall - room)
  (:init (robot-in kitchen) (in hob kitchen)) (:goal (robot-in hall)))"""
RULES = """(define (safety kitchen)
  (:process stove-off-before-leaving :on (go ?from ?to)
    :forbid (exists (?s - stove) (and (in ?s ?from) (on ?s)))
    :hazard fire :severity critical :message "a stove is on in {?from}"))"""
TASK: Mapping[str, Any] = {"domain": DOMAIN, "problem": PROBLEM, "rules": [RULES]}
UNSAFE = "(switch-on hob kitchen) (go kitchen hall)"
SAFE = "(go kitchen hall)"
_BOUND = "abcdfg"
BOMB = f"""(define (domain bomb) (:predicates (e ?x ?y) (q))
  (:action boom :parameters () :precondition
    (exists ({" ".join([f"?{x}" for x in _BOUND])}) (and
      {" ".join([f"(e ?{x} ?{y})" for x, y in pairwise(_BOUND)])} (not (e ?g ?a))))
    :effect (q)))"""
BOMB_PROBLEM = f"""(define (problem b) (:domain bomb) (:objects {" ".join([f"o{i}" for i in range(40)])})
  (:init {" ".join([f"(e o{i} o{j})" for i in range(40) for j in range(40)])}) (:goal (q)))"""
BOMB_RULE = "(define (safety s) (:process r :forbid (q) :severity low))"
"""Evaluating the precondition of ``boom`` takes 40^6 bindings: it ends only if its process is killed."""


SERVE = (sys.executable, "-c", "from plansafe.app.main import main; raise SystemExit(main())", "serve")
KEY = "a-key-of-more-than-sixteen"


def connect(address: str) -> socket.socket:
    """A raw connection to the server at a URL."""
    url = httpx.URL(address)
    return socket.create_connection((url.host, url.port), 20)


class Server(NamedTuple):
    """A running server: its process, its address, and the lines of its standard error, which grow."""

    process: subprocess.Popen[str]
    address: str
    printed: list[str]


@contextmanager
def run_server(*flags: str, **environment: str) -> Iterator[Server]:
    """Run a server until the block ends."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("COVERAGE", "PYTEST", "SAFECHECK"))}
    process = subprocess.Popen(
        [*SERVE, "--port", "0", *flags], stderr=subprocess.PIPE, text=True, env={**inherited, **environment}
    )
    assert process.stderr is not None
    printed: list[str] = []
    address = None
    for line in process.stderr:  # warnings may come first
        printed.append(line)
        address = re.search(r"http://\S+", line)
        if address is not None:
            break
    assert address is not None, "".join(printed)
    reader = threading.Thread(target=lambda: printed.extend(process.stderr or ()), daemon=True)
    reader.start()
    try:
        yield Server(process, address[0], printed)
    finally:
        process.terminate()
        try:
            process.wait(20)
        finally:
            process.kill()
        reader.join(5)


@contextmanager
def serving(*flags: str, **environment: str) -> Iterator[str]:
    """Run a server until the block ends; yield its address. A printed traceback fails the block."""
    with run_server(*flags, **environment) as server:
        yield server.address
    assert "Traceback" not in "".join(server.printed), "".join(server.printed)
