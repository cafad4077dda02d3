"""Write files completely or not at all, without losing existing content (docs/getting-started.md).

A regular file is replaced atomically by a temporary file in the same folder. The new file gets the mode, owner and
attributes of the old one; links are followed. Devices, pipes and streams of this process are opened for writing
instead. The functions refuse to overwrite input files and read-only files and, under ``--gate``, to follow links out of
the folders on the command line.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, TextIO

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.named_tuple import NamedTuple

STANDARD_OUTPUT = frozenset(("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"))
"""Names of standard output."""
_DESCRIPTOR = r"/(?:dev|proc/self)/fd/(\d{1,6})\Z"
_STREAMS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_NOT_WRITTEN, _LINK_LEADS_OUT = SC.NOT_WRITTEN, SC.LINK_OUTSIDE_FOLDER


class NotWritten(Exception):
    """A file or folder cannot be written, for the reason in ``diagnostic``."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Guard(NamedTuple):
    """Restrictions on output files.

    ``inputs`` are the paths of input files, which are never overwritten; the collection may grow before the write.
    ``within`` are the folders that links may not lead out of; ``None`` allows all links.
    """

    inputs: Collection[str] = ()
    within: tuple[str, ...] | None = None


UNGUARDED = Guard()


class _Destination(NamedTuple):
    """The destination of an output.

    Either a regular file at ``path`` (with links resolved), or a device, pipe or stream, which is opened by
    ``descriptor`` or ``name``. ``status`` is the status of an existing file.
    """

    name: str
    path: str
    status: os.stat_result | None
    descriptor: int | None = None

    @property
    def is_file(self) -> bool:
        """True for a regular file or a file that does not exist yet: it can be replaced."""
        return self.descriptor is None and (self.status is None or stat.S_ISREG(self.status.st_mode))


def unwritable(where: str, error: OSError | ValueError) -> Diagnostic:
    """The diagnostic for a failed write."""
    return Diagnostic(
        SC.BAD_OPTION, f"cannot write {where}: {(getattr(error, 'strerror', None) or str(error)).lower()}"
    )


def problem(name: str | None, guard: Guard = UNGUARDED) -> Diagnostic | None:
    """The reason why ``name`` cannot be written, if that is known already; check it before a long search."""
    if name is None or name in STANDARD_OUTPUT:
        return None
    try:
        _destination(name, guard)
    except NotWritten as refused:
        return refused.diagnostic
    return None


def strays(path: str, folders: Sequence[str], opened: int | None = None) -> Diagnostic | None:
    """Return an error if ``path`` leads through a link out of its folder.

    Its folder is the outermost of ``folders`` that contains the path, otherwise the folder of the file. ``opened`` is a
    descriptor opened by this path; it must still refer to the same file.
    """
    parent = os.path.dirname(os.path.abspath(path))
    absolute_folders = [os.path.abspath(folder) for folder in folders]
    base = os.path.realpath(
        min([f for f in absolute_folders if os.path.commonpath((f, parent)) == f], key=len, default=parent)
    )
    real = os.path.realpath(path)
    if os.path.commonpath((base, real)) == base:
        try:
            if opened is None or os.path.samestat(os.fstat(opened), os.lstat(real)):
                return None
        except OSError:
            pass  # the path was removed since: the opened file may be anywhere
    message = f"{path} leads out of its folder through a link"
    advice = "--gate does not follow links out of the given folders; name the target of the link"
    return Diagnostic(_LINK_LEADS_OUT, message, help=advice)


# -- one file ---------------------------------------------------------------------------------------------------------


def save(name: str, text: str, guard: Guard = UNGUARDED, expected: bytes | None = None) -> tuple[str, ...]:
    """Write a text (with surrogates for bytes that are not UTF-8), and return notes on side effects.

    ``expected``: replace only a file with this content. On a terminal, invisible characters are escaped. Raises
    :class:`NotWritten`, and ``BrokenPipeError`` if the reader of a pipe has ended.
    """
    with Output(name, guard, expected) as output:
        if output.is_terminal:
            from plansafe.app.system.terminal_text import escaped  # noqa: PLC0415 - only terminals need it

            text = escaped(text)
        output.file.write(text.encode("utf-8", "surrogateescape"))
        return output.commit()


def create(name: str, text: str) -> None:
    """Write a new file. Raises ``FileExistsError`` (also for a link), :class:`NotWritten`."""
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
    """Call ``work`` with a stream for its report; returns its result and notes. Raises like :func:`save`."""
    import io  # noqa: PLC0415 - only used here

    with Output(name, guard) as output:
        # `Output` flushes and closes the underlying buffer.
        text = io.TextIOWrapper(output.file, "utf-8", "backslashreplace", "\n", write_through=True)
        try:
            code = work(text)
        finally:
            with suppress(OSError):
                text.detach()
        return code, output.commit()


class Output:
    """An open output. Without :meth:`commit`, an existing file does not change. Raises like :func:`save`."""

    def __init__(self, name: str, guard: Guard = UNGUARDED, expected: bytes | None = None) -> None:
        self._name, self._guard, self._expected = name, guard, expected
        self._new: str | None = None
        self._place = _destination(name, guard)
        if expected is not None and not self._place.is_file:
            raise _refused(name, "it is not a regular file, so it cannot be replaced", None)
        try:
            self.file: IO[bytes] = self._open_temporary() if self._place.is_file else self._open_existing()
        except OSError as error:
            raise NotWritten(_no_folder(self._place) or _unwritable(name, error)) from error

    @property
    def is_terminal(self) -> bool:
        """True if the output is a terminal."""
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
        """Replace the file by the written content, and return notes on side effects."""
        self.file.flush()
        if self._new is None:
            return ()
        place = _destination(self._name, self._guard)
        if not place.is_file or place.path != self._place.path:
            raise _refused(self._name, "it was replaced by something else during the write", None)
        notes = () if place.status is None else _copy_attributes(self.file.fileno(), place)
        os.fsync(self.file.fileno())
        if self._expected is not None and _content(place.path) != self._expected:
            raise _refused(self._name, "it was changed during the write, and stays as it is", "try again")
        os.replace(self._new, place.path)
        self._new = None
        return notes

    def _open_temporary(self) -> IO[bytes]:
        """Open a temporary file in the same folder; if it replaces a file, only the user can read it for now."""
        new = os.path.join(os.path.dirname(self._place.path), f".safecheck-{os.urandom(8).hex()}.tmp")
        mode = 0o666 if self._place.status is None else 0o600
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        self._new = new
        return os.fdopen(descriptor, "wb")

    def _open_existing(self) -> IO[bytes]:
        if self._place.descriptor is not None:
            import sys  # noqa: PLC0415 - to flush the earlier output

            sys.stdout.flush()
            return os.fdopen(os.dup(self._place.descriptor), "wb")
        return os.fdopen(os.open(self._name, os.O_WRONLY | getattr(os, "O_NOCTTY", 0)), "wb")


def _destination(name: str, guard: Guard) -> _Destination:
    """Examine the destination ``name``. Raises :class:`NotWritten` if it must not be written."""
    if not name or name.endswith(os.sep):
        raise NotWritten(
            Diagnostic(SC.BAD_OPTION, f"cannot write {name!a}: that is not a file name", help="name a file")
        )
    try:
        status: os.stat_result | None = os.stat(name)
    except FileNotFoundError:
        status = None
    except (OSError, ValueError) as error:
        raise NotWritten(_unwritable(name, error)) from error
    place = _Destination(name, os.path.realpath(name), status, _descriptor(name, status))
    if status is not None:
        _must_be_writable(place, status)
        _must_not_be_read(name, status, guard.inputs)
    elif (missing := _no_folder(place)) is not None:
        raise NotWritten(missing)
    if guard.within is not None and place.descriptor is None:
        stray_link = strays(name, guard.within)
        if stray_link is not None:
            raise NotWritten(stray_link)
    return place


def _descriptor(name: str, status: os.stat_result | None) -> int | None:
    """The descriptor that a name denotes, or the output stream that the shell redirected to this file."""
    match = re.match(_DESCRIPTOR, name)
    if match is not None or name in _STREAMS:
        return int(match[1]) if match is not None else _STREAMS[name]
    if status is None or not stat.S_ISREG(status.st_mode):
        return None
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), status):
                return descriptor
    return None


def _must_be_writable(place: _Destination, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        advice = "name a file in it"
        raise NotWritten(Diagnostic(SC.BAD_OPTION, f"cannot write {place.name}: it is a folder", help=advice))
    if stat.S_ISBLK(status.st_mode):
        raise _refused(place.name, "it is a disk", "name a file")
    if place.is_file and not (status.st_mode & 0o222 and os.access(place.path, os.W_OK)):
        raise _refused(place.name, "it is read-only", "make it writable with `chmod u+w`, or name another file")


def _must_not_be_read(name: str, status: os.stat_result, inputs: Collection[str]) -> None:
    if not stat.S_ISREG(status.st_mode):
        return
    for path in inputs:
        try:
            input_status = os.fstat(0) if path == "-" else os.stat(path)
        except (OSError, ValueError):
            continue
        if os.path.samestat(input_status, status):
            which = "standard input" if path == "-" else path
            reason = "it is an input" if which == name else f"it is the same file as the input {which}"
            raise _refused(name, reason, "name another file: inputs are never overwritten")


def _refused(name: str, reason: str, advice: str | None) -> NotWritten:
    return NotWritten(Diagnostic(_NOT_WRITTEN, f"{name} is not written: {reason}", help=advice))


def _no_folder(place: _Destination) -> Diagnostic | None:
    folder = os.path.dirname(place.path)
    if os.path.isdir(folder):
        return None
    folder_name = folder if os.path.islink(place.name) else os.path.dirname(place.name)
    return Diagnostic(
        SC.BAD_OPTION, f"cannot write {place.name}: the folder {folder_name} does not exist", help="create it first"
    )


def _unwritable(name: str, error: OSError | ValueError) -> Diagnostic:
    diagnostic = unwritable(name, error)
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        advice = "the new text is first written to a temporary file in the same folder, which must be writable"
        return diagnostic._replace(help=advice)
    return diagnostic


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _copy_attributes(descriptor: int, place: _Destination) -> tuple[str, ...]:
    """Copy owner, mode and attributes of the old file to the new one; returns notes on what cannot be copied."""
    old = place.status
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
            same_group = os.fstat(descriptor).st_gid == old.st_gid
            mode &= 0o1777 if same_group else 0o1707
            group_note = "" if same_group else ", nor its group, which cannot read it now"
            notes.append(f"{place.name}: it belongs to you now; its owner could not be kept{group_note}")
    if hasattr(os, "listxattr"):  # access lists, labels; not every file system has them
        with suppress(OSError):
            for attribute in os.listxattr(place.path):
                os.setxattr(descriptor, attribute, os.getxattr(place.path, attribute))
    os.fchmod(descriptor, mode)
    if old.st_nlink > 1:
        other_names = (
            "another name (a hard link)" if old.st_nlink == 2 else f"{old.st_nlink - 1} other names (hard links)"
        )
        keeps = "keeps" if old.st_nlink == 2 else "keep"
        notes.append(f"{place.name}: the file had {other_names}, which {keeps} the old text")
    return tuple(notes)


# -- a folder ---------------------------------------------------------------------------------------------------------


def save_folder(folder: str, texts: Iterable[tuple[str, str]]) -> None:
    """Create a folder with these files (name, text), or fill an empty one, atomically.

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
        os.rename(new, path)  # fails if the folder is not empty
    except OSError as error:
        raise NotWritten(unwritable(folder, error)) from error
    finally:
        _remove(new)


def _remove(folder: str) -> None:
    """Delete a temporary folder and its files, and ignore errors."""
    with suppress(OSError):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
