"""Write files completely or not at all, without losing existing content (docs/getting-started.md).

A regular file is replaced at once, by a new one beside it; its mode, owner and attributes stay, links are followed. A
device, a pipe or a stream of this process is never replaced: it is written into. Files that are read, files that may
not be written and, under ``--gate``, links that lead out of the given folders are refused.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, NamedTuple, TextIO

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

STANDARD_OUTPUT = frozenset(("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"))
"""Names of standard output."""
_DESCRIPTOR = r"/(?:dev|proc/self)/fd/(\d{1,6})\Z"
_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_NOT_WRITTEN, _LEAVES = SC.NOT_WRITTEN, SC.LINK_LEADS_OUT


class NotWritten(Exception):
    """Something is not written; the diagnostic says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Guard(NamedTuple):
    """What must not be touched.

    ``inputs`` are the paths of files that are read; they may become more while there is still something to write.
    ``within`` are the folders that links may not leave; ``None`` lets them lead anywhere.
    """

    inputs: Collection[str] = ()
    within: tuple[str, ...] | None = None


UNGUARDED = Guard()


class _Place(NamedTuple):
    """Where something is to be written.

    A regular file at ``path``, all links followed; or something to be written into, by its ``descriptor`` or its name.
    ``found`` is what is there.
    """

    name: str
    path: str
    found: os.stat_result | None
    descriptor: int | None = None

    @property
    def is_file(self) -> bool:
        """Whether this is, or will be, a regular file that can be replaced."""
        return self.descriptor is None and (self.found is None or stat.S_ISREG(self.found.st_mode))


def unwritable(where: str, error: OSError | ValueError) -> Diagnostic:
    """Say that something cannot be written."""
    return Diagnostic(
        SC.BAD_OPTION, f"cannot write {where}: {(getattr(error, 'strerror', None) or str(error)).lower()}"
    )


def problem(name: str | None, guard: Guard = UNGUARDED) -> Diagnostic | None:
    """Why nothing may be written to ``name``, as far as that is known now; better said before a long search."""
    if name is None or name in STANDARD_OUTPUT:
        return None
    try:
        _look(name, guard)
    except NotWritten as refused:
        return refused.diagnostic
    return None


def strays(path: str, folders: Sequence[str], opened: int | None = None) -> Diagnostic | None:
    """Say that a path leads through a link out of that of ``folders`` which it is written below, or out of its own.

    ``opened``: a descriptor of the file that was opened by that path; it must still be the one that is found there.
    """
    own = os.path.dirname(os.path.abspath(path))
    given = [os.path.abspath(folder) for folder in folders]
    base = os.path.realpath(min([f for f in given if os.path.commonpath((f, own)) == f], key=len, default=own))
    real = os.path.realpath(path)
    if os.path.commonpath((base, real)) == base:
        try:
            if opened is None or os.path.samestat(os.fstat(opened), os.lstat(real)):
                return None
        except OSError:
            pass  # it was taken away meanwhile: what was opened may lie anywhere
    message = f"{path} leads out of its folder through a link"
    advice = "--gate follows no link out of the folders that are given; name the file where it is"
    return Diagnostic(_LEAVES, message, help=advice)


# -- one file ---------------------------------------------------------------------------------------------------------


def save(name: str, text: str, guard: Guard = UNGUARDED, expected: bytes | None = None) -> tuple[str, ...]:
    """Write a text (with surrogates for bytes that are not UTF-8), and return what else has changed by it, in words.

    ``expected``: only over a file that still has these bytes. On a terminal, what cannot be seen is escaped. Raises
    :class:`NotWritten`, and ``BrokenPipeError`` where nobody reads on.
    """
    with Output(name, guard, expected) as output:
        if output.is_terminal:
            from plansafe.app.system.terminal_text import escaped  # noqa: PLC0415 - for terminals alone

            text = escaped(text)
        output.file.write(text.encode("utf-8", "surrogateescape"))
        return output.commit()


def create(name: str, text: str) -> None:
    """Write a file where there is none. Raises ``FileExistsError`` (a link counts as a file), :class:`NotWritten`."""
    try:
        with open(name, "xb") as file:
            try:
                file.write(text.encode("utf-8", "surrogateescape"))
                file.flush()
            except BaseException:
                os.unlink(name)
                raise
    except FileExistsError:
        raise
    except (OSError, ValueError) as error:
        raise NotWritten(unwritable(name, error)) from error


def streamed(name: str, work: Callable[[TextIO], int], guard: Guard = UNGUARDED) -> tuple[int, tuple[str, ...]]:
    """Do some work that writes a report; its result, and what else has changed. Raises like :func:`save`."""
    import io  # noqa: PLC0415 - for this alone

    with Output(name, guard) as output:
        # The buffer below is flushed and closed by the output itself.
        text = io.TextIOWrapper(output.file, "utf-8", "backslashreplace", "\n", write_through=True)
        try:
            code = work(text)
        finally:
            with suppress(OSError):
                text.detach()
        return code, output.commit()


class Output:
    """A file that is being written. Without :meth:`commit`, a file stays as it was. Raises like :func:`save`."""

    def __init__(self, name: str, guard: Guard = UNGUARDED, expected: bytes | None = None) -> None:
        self._name, self._guard, self._expected = name, guard, expected
        self._new: str | None = None
        self._place = _look(name, guard)
        if expected is not None and not self._place.is_file:
            raise _refused(name, "it is no file that could be replaced", None)
        try:
            self.file: IO[bytes] = self._beside() if self._place.is_file else self._into()
        except OSError as error:
            raise NotWritten(_no_folder(self._place) or _unwritable(name, error)) from error

    @property
    def is_terminal(self) -> bool:
        """Whether people see what is written."""
        return self.file.isatty()

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self.file.close()
        if self._new is not None:
            with suppress(OSError):
                os.unlink(self._new)
        if isinstance(value, OSError) and not isinstance(value, BrokenPipeError):
            raise NotWritten(_unwritable(self._name, value)) from value

    def commit(self) -> tuple[str, ...]:
        """Everything is written: let it take effect, and return what else has changed."""
        self.file.flush()
        if self._new is None:
            return ()
        place = _look(self._name, self._guard)
        if not place.is_file or place.path != self._place.path:
            raise _refused(self._name, "it became something else while this was written", None)
        notes = () if place.found is None else _keep(self.file.fileno(), place)
        os.fsync(self.file.fileno())
        if self._expected is not None and _content(place.path) != self._expected:
            raise _refused(self._name, "it was changed meanwhile, and is left as it is", "try again")
        os.replace(self._new, place.path)
        self._new = None
        return notes

    def _beside(self) -> IO[bytes]:
        """A new file in the folder of the old one, which nobody else can read if not everybody can read the old one."""
        new = os.path.join(os.path.dirname(self._place.path), f".safecheck-{os.urandom(8).hex()}.tmp")
        mode = 0o666 if self._place.found is None else 0o600
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        self._new = new
        return os.fdopen(descriptor, "wb")

    def _into(self) -> IO[bytes]:
        if self._place.descriptor is not None:
            import sys  # noqa: PLC0415 - what was printed so far comes first

            sys.stdout.flush()
            return os.fdopen(os.dup(self._place.descriptor), "wb")
        return os.fdopen(os.open(self._name, os.O_WRONLY | getattr(os, "O_NOCTTY", 0)), "wb")


def _look(name: str, guard: Guard) -> _Place:
    """What is at ``name``. Raises :class:`NotWritten` where that must not be written to."""
    if not name or name.endswith(os.sep):
        raise NotWritten(Diagnostic(SC.BAD_OPTION, f"cannot write {name!a}: that names no file", help="name a file"))
    try:
        found: os.stat_result | None = os.stat(name)
    except FileNotFoundError:
        found = None
    except (OSError, ValueError) as error:
        raise NotWritten(_unwritable(name, error)) from error
    place = _Place(name, os.path.realpath(name), found, _descriptor(name, found))
    if found is not None:
        _must_be_writable(place, found)
        _must_not_be_read(name, found, guard.inputs)
    elif (missing := _no_folder(place)) is not None:
        raise NotWritten(missing)
    if guard.within is not None and place.descriptor is None:
        wrong = strays(name, guard.within)
        if wrong is not None:
            raise NotWritten(wrong)
    return place


def _descriptor(name: str, found: os.stat_result | None) -> int | None:
    """The open descriptor that a name stands for, or the stream of this process that the shell led to this file."""
    named = re.match(_DESCRIPTOR, name)
    if named is not None or name in _STREAMS:
        return int(named[1]) if named is not None else _STREAMS[name]
    if found is None or not stat.S_ISREG(found.st_mode):
        return None
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), found):
                return descriptor
    return None


def _must_be_writable(place: _Place, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        advice = "name a file in it"
        raise NotWritten(Diagnostic(SC.BAD_OPTION, f"cannot write {place.name}: it is a folder", help=advice))
    if stat.S_ISBLK(found.st_mode):
        raise _refused(place.name, "it is a disk", "name a file")
    if place.is_file and not (found.st_mode & 0o222 and os.access(place.path, os.W_OK)):
        raise _refused(place.name, "it is read-only", "`chmod u+w` lets it be written, or name another file")


def _must_not_be_read(name: str, found: os.stat_result, inputs: Collection[str]) -> None:
    if not stat.S_ISREG(found.st_mode):
        return
    for path in inputs:
        try:
            read = os.fstat(0) if path == "-" else os.stat(path)
        except (OSError, ValueError):
            continue
        if os.path.samestat(read, found):
            which = "standard input" if path == "-" else path
            same = "it is read" if which == name else f"it is the file that is read as {which}"
            raise _refused(name, same, "name another file: what is read is not written over")


def _refused(name: str, reason: str, advice: str | None) -> NotWritten:
    return NotWritten(Diagnostic(_NOT_WRITTEN, f"{name} is not written: {reason}", help=advice))


def _no_folder(place: _Place) -> Diagnostic | None:
    folder = os.path.dirname(place.path)
    if os.path.isdir(folder):
        return None
    shown = folder if os.path.islink(place.name) else os.path.dirname(place.name)
    return Diagnostic(SC.BAD_OPTION, f"cannot write {place.name}: there is no folder {shown}", help="make it first")


def _unwritable(name: str, error: OSError | ValueError) -> Diagnostic:
    said = unwritable(name, error)
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        advice = "a file is replaced at once by one beside it: its folder must be writable"
        return said._replace(help=advice)
    return said


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _keep(descriptor: int, place: _Place) -> tuple[str, ...]:
    """Give a new file the owner, mode and attributes of the old one; say what cannot be kept."""
    old = place.found
    assert old is not None
    notes: list[str] = []
    mode = stat.S_IMODE(old.st_mode)
    new = os.fstat(descriptor)
    if new.st_uid != old.st_uid or new.st_gid != old.st_gid:
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except OSError:
            with suppress(OSError):
                os.fchown(descriptor, -1, old.st_gid)
            kept = os.fstat(descriptor).st_gid == old.st_gid
            mode &= 0o1777 if kept else 0o1707
            what = "" if kept else ", nor its group, which may not read it now"
            notes.append(f"{place.name}: it belongs to you now; its owner could not be kept{what}")
    if hasattr(os, "listxattr"):  # access lists, labels; not every file system has them
        with suppress(OSError):
            for attribute in os.listxattr(place.path):
                os.setxattr(descriptor, attribute, os.getxattr(place.path, attribute))
    os.fchmod(descriptor, mode)
    if old.st_nlink > 1:
        others = "another name (a hard link)" if old.st_nlink == 2 else f"{old.st_nlink - 1} other names (hard links)"
        keeps = "keeps" if old.st_nlink == 2 else "keep"
        notes.append(f"{place.name}: the file had {others}, which {keeps} the old text")
    return tuple(notes)


# -- a folder ---------------------------------------------------------------------------------------------------------


def save_folder(folder: str, texts: Iterable[tuple[str, str]]) -> None:
    """Make a new folder with these files (name, text), or fill an empty one, at once or not at all.

    A link to an empty folder is followed; an empty folder keeps its mode and owner. Raises :class:`NotWritten`.
    """
    path = os.path.realpath(folder)
    new = os.path.join(os.path.dirname(path), f".safecheck-{os.urandom(8).hex()}.tmp")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.mkdir(new)
        for name, text in texts:
            with open(os.path.join(new, name), "xb") as file:
                file.write(text.encode("utf-8", "surrogateescape"))
        if os.path.isdir(path):
            there = os.stat(path)
            with suppress(OSError):
                os.chown(new, there.st_uid, there.st_gid)
            os.chmod(new, stat.S_IMODE(there.st_mode))
        os.rename(new, path)  # which refuses a folder that is not empty
    except OSError as error:
        raise NotWritten(unwritable(folder, error)) from error
    finally:
        _remove(new)


def _remove(folder: str) -> None:
    """Take away what was written so far, as far as that goes."""
    with suppress(OSError):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
