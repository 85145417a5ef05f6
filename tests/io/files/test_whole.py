"""A file is written whole or not at all."""

import os
import signal
import stat
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vbrand.io.files.whole import write_new, write_together, write_whole

contents = st.dictionaries(st.sampled_from("abc"), st.binary(max_size=20), min_size=1)


@settings(deadline=None, max_examples=40)
@given(old=contents, new=contents, fails=st.integers(0, 3))
def test_either_all_files_are_new_or_all_are_old(tmp_path_factory, old, new, fails):
    folder = tmp_path_factory.mktemp("whole")
    for name, content in old.items():
        (folder / name).write_bytes(content)

    def writer(place, content):
        def write(file):
            file.write(content[: len(content) // 2])
            if place == fails:
                raise OSError("disk full")
            file.write(content[len(content) // 2 :])

        return write

    writes = {folder / name: writer(place, content) for place, (name, content) in enumerate(new.items())}
    failed = fails < len(new)
    if failed:
        with pytest.raises(OSError, match="disk full"):
            write_together(writes)
    else:
        write_together(writes)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == (old if failed else {**old, **new})


def test_a_folder_that_is_not_there_is_made_and_one_in_place_of_a_file_refused(tmp_path):
    write_whole(tmp_path / "new" / "folder" / "file", lambda file: file.write(b"x"))
    assert (tmp_path / "new" / "folder" / "file").read_bytes() == b"x"
    with pytest.raises(IsADirectoryError, match="is a folder; the name of a file is expected"):
        write_together({tmp_path / "a": lambda file: file.write(b"x"), tmp_path / "new": lambda file: None})
    assert {path.name for path in tmp_path.iterdir()} == {"new"}


def test_a_pipe_is_written_to_as_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, lambda file: file.write(b"through"))
    reader.join()
    assert read == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_what_fails_half_way_changes_nothing(tmp_path):
    (tmp_path / "a").write_text("old a")
    (tmp_path / "b").write_text("old b")

    def broken(file):
        file.write(b"new")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_together({tmp_path / "a": lambda file: file.write(b"new"), tmp_path / "b": broken})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old a", "b": "old b"}


@pytest.mark.parametrize("fatal", range(1, 9))
def test_killed_within_the_writing(tmp_path, fatal):
    """The process dies at each step of the writing in turn: opening, writing, renaming."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"old {name}")
    child = os.fork()
    if child == 0:
        steps = 0

        def die(*_):
            nonlocal steps
            steps += 1
            if steps == fatal:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(lambda event, _: die() if event in ("open", "os.rename", "os.remove") else None)
        write_together(
            {tmp_path / name: lambda file, name=name: file.write(f"new {name}".encode()) for name in ("a", "b")}
        )
        os._exit(0)
    os.waitpid(child, 0)
    for name in ("a", "b"):
        assert (tmp_path / name).read_text() in (f"old {name}", f"new {name}")


def test_threads_that_write_one_file_do_not_collide(tmp_path):
    """The other name held the number of the process only."""
    path, failed = tmp_path / "file", []

    def work(letter):
        try:
            for _ in range(30):
                write_whole(path, lambda file: file.write(letter * 1_000))
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(letter,)) for letter in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert path.read_bytes() in (b"a" * 1_000, b"b" * 1_000, b"c" * 1_000)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_what_a_killed_run_left_is_taken_away_and_what_others_write_is_not(tmp_path):
    left = tmp_path / ".file.vbrand-0123456789abcdef"
    strange = tmp_path / ".file.swp"
    for path in (left, strange):
        path.write_bytes(b"half")

    def write_inside(file):
        file.write(b"outer")
        write_whole(tmp_path / "file", lambda inner: inner.write(b"inner"))

    write_whole(tmp_path / "file", write_inside)
    assert (tmp_path / "file").read_bytes() == b"outer"
    assert {path.name for path in tmp_path.iterdir()} == {"file", ".file.swp"}


def test_a_new_file_is_written_once(tmp_path):
    path = tmp_path / "file"
    path.touch()  # as left by an older version that was killed
    write_new(path, b"first")
    with pytest.raises(FileExistsError):
        write_new(path, b"second")
    assert path.read_bytes() == b"first"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_an_interrupt_before_a_half_is_known_leaves_none(tmp_path, monkeypatch):
    def interrupted(file, wait):
        file.close()
        raise KeyboardInterrupt

    monkeypatch.setattr("vbrand.io.files.whole._lock", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file", lambda file: file.write(b"new"))
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full disk here")
def test_a_full_disk_names_the_file(tmp_path):
    def write(file):
        with open("/dev/full", "wb", buffering=0) as full:
            full.write(b"x")

    with pytest.raises(OSError, match=r"No space left on device: .*file") as caught:
        write_whole(tmp_path / "file", write)
    assert caught.value.filename == str(tmp_path / "file")
    assert not list(tmp_path.iterdir())


def test_a_file_that_does_not_fit_is_named_though_it_was_buffered(tmp_path):
    resource = pytest.importorskip("resource", reason="this system has no limits")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    (tmp_path / "file").write_bytes(b"before")
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(OSError, match="File too large") as caught:
            write_whole(tmp_path / "file", lambda file: file.write(bytes(5_000)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.filename == str(tmp_path / "file")
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("file", b"before")]
