"""Debian root file systems for the base images, made by mmdebstrap and kept as tarballs in the cache.

The mirror is the machine's own (whatever its apt sources name), so no host stands in the project.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from tests.cluster.cache import cached
from tests.cluster.packages import IMAGES, MachineError, install
from tests.cluster.progress import run, run_with_progress

SUITE = "bookworm"
PYTHON_PACKAGES = ("python3", "ca-certificates")
SPARK_PACKAGES = ("python3", "ca-certificates", "openjdk-17-jre-headless", "libgssapi-krb5-2", "libnss-wrapper")

# What no program in an image reads; a third of the unpacked size.
_UNUSED = ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale", "var/log")


def rootfs(packages: tuple[str, ...]) -> Path:
    """Returns the tarball of a minimal Debian with `packages`."""
    return cached("rootfs", key(packages), lambda into: _bootstrap(packages, into)) / "rootfs.tar"


def key(packages: tuple[str, ...]) -> str:
    """What decides the tarball's content."""
    digest = hashlib.sha256(" ".join((SUITE, *packages, *_UNUSED)).encode()).hexdigest()[:12]
    return f"{SUITE}-{digest}"


def _bootstrap(packages: tuple[str, ...], into: Path) -> None:
    install(IMAGES)
    tree = into / "tree"
    # A mount namespace of its own: whatever is mounted for the packages' scripts goes away with it.
    command = ["unshare", "--mount", "mmdebstrap", "--mode=root", "--variant=minbase", "--quiet"]
    command += [f"--include={','.join(packages)}", SUITE, str(tree), _mirror()]
    run_with_progress(f"mmdebstrap {SUITE} with {' '.join(packages)}", command)
    for name in _UNUSED:
        shutil.rmtree(tree / name, ignore_errors=True)
        (tree / name).mkdir(parents=True)
    exclude = [f"--exclude=./{name}/*" for name in ("dev", "proc", "sys", "tmp")]
    run(["tar", "--create", "--numeric-owner", f"--file={into / 'rootfs.tar'}", f"--directory={tree}", *exclude, "."])
    shutil.rmtree(tree)


def _mirror() -> str:
    """Returns the first address that the machine's apt sources give for the suite."""
    query = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", f"Codename: {SUITE}"]
    addresses = run(query).split()
    if not addresses:
        raise MachineError(f"the machine's apt sources name no mirror of Debian {SUITE}. Add one, then try again.")
    return addresses[0]
