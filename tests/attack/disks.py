"""A disk that is full: one sentence that names the file, and what was there is there."""

import os
import subprocess
import tempfile
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path

from attack.jobs import JOBS, answer, do, want_no_halves, want_whole
from attack.judge import want

_KILOBYTES = 16_384


@contextmanager
def _disk():
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={_KILOBYTES}k", "tmpfs", folder]
        subprocess.run(mount, check=True, capture_output=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True, capture_output=True)


def no_disks():
    """Return why there are no small disks to fill here; nothing where there are."""
    try:
        with _disk():
            return ""
    except (OSError, subprocess.CalledProcessError):
        return "a small tmpfs can't be mounted here: that takes root"


def fill(generator, folder):
    """Leave little room, or none, on a disk that holds an earlier output, and write."""
    job = JOBS[generator.integers(len(JOBS))]
    said = answer(job)
    with _disk() as disk:
        if generator.random() < 0.5:
            do(job, disk / "work", threshold=0.9)
        _leave(disk, int(10.0 ** generator.uniform(2.0, 7.0)))
        try:
            want(do(job, disk / "work") == said, "beside a disk that is nearly full the answer is another")
        except OSError as error:
            want(error.errno == ENOSPC and error.filename, f"a full disk is not told as such: {error}")
        want_whole(disk)
        want_no_halves(disk)


def _leave(disk, room):
    """Fill a disk up to so many bytes."""
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    (disk / "ballast").write_bytes(bytes(max(0, free - room)))
