"""The build backend (PEP 517) and what script/wheel runs: builds libtyche_c.so and packs the wheel.

    python3 python/build/tyche_build.py dist                        # builds in build-wheel, packs dist/tyche-….whl
    python3 python/build/tyche_build.py dist --library LIB.so       # packs a library that was built elsewhere

CMAKE_ARGS names more options for CMake ("-DTYCHE_WITH_CUDA=OFF"), TYCHE_JOBS how many compilers run at a time.
Beside the library travel the shared libraries it needs that are not glibc's; its RPATH is $ORIGIN, so it finds them. The
standard library of Python is all that is used here.
"""
from __future__ import annotations

import argparse
import base64
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from typing import Any, Dict, List, Optional

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build-wheel"
GLIBC = (2, 36)
PLATFORM = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_x86_64"
#: What every Linux has: glibc's own libraries, those of g++ (ours is linked with its own; bliss's need is old, and a copy
#: that travels would stand in the way of modules that want a newer one), and the driver's where there is a GPU.
SYSTEM = re.compile(r"^(libc|libm|libdl|librt|libpthread|ld-linux-x86-64|libcuda|libstdc\+\+|libgcc_s)\.so|^linux-vdso")
#: Libraries that get a name of their own, of the same length. threadpoolctl (of scikit-learn) takes whatever begins with
#: "libblis" for the BLAS library BLIS, and complains of what is missing in it.
RENAMED = {"libbliss.so.2": "tychebliss.so"}
#: Debian's packages whose code is in the library or beside it.
LICENSED = ["libbliss2", "libgmp10", "libexpat1", "libcadical-dev", "libfmt-dev", "libfmt9", "libhwy-dev", "libhwy1", "libstdc++6",
            "libtomlplusplus-dev", "libtomlplusplus3", "nlohmann-json3-dev", "librandom123-dev",
            "libboost1.74-dev"]


def version() -> str:
    """Of the project: CMakeLists.txt says it."""
    found = re.search(r"project\(tyche VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    if not found:
        raise SystemExit("wheel: CMakeLists.txt names no version")
    return found.group(1)


def run(*command: Any) -> str:
    done = subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        hint = "\nOn Debian 12 script/setup installs all that building needs." if command[0] == "cmake" else ""
        raise SystemExit(f"wheel: '{' '.join(map(str, command))}' failed\n{done.stdout}{hint}")
    return done.stdout


def build() -> pathlib.Path:
    """The library, with everything in it that Debian has as position-independent code."""
    missing = [tool for tool in ("cmake", "ninja", "g++", "strip", "readelf") if shutil.which(tool) is None]
    if missing:
        raise SystemExit(f"wheel: building needs {', '.join(missing)}, not found here. On Debian 12 script/setup installs all "
                         "that it needs; elsewhere install a wheel that was built there (script/wheel)")
    jobs = os.environ.get("TYCHE_JOBS", str(len(os.sched_getaffinity(0))))
    # Debian's static bliss and gmp are not position-independent; expat gets its fixes from whoever packs the wheel.
    shared = [f"-DTYCHE_{name.upper()}_LIBRARY={run('g++', f'-print-file-name=lib{name}.so').strip()}"
              for name in ("bliss", "gmp", "expat")]
    run("cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTYCHE_PORTABLE=ON",
        "-DTYCHE_WITH_MPI=OFF", "-DTYCHE_BUILD_TESTS=OFF", "-DTYCHE_BUILD_BENCH=OFF", *shared,
        *shlex.split(os.environ.get("CMAKE_ARGS", "")))
    run("cmake", "--build", BUILD, "-j", jobs, "--target", "tyche_c")
    return BUILD / "libtyche_c.so"


def needed(library: pathlib.Path) -> Dict[str, pathlib.Path]:
    """The shared libraries that one needs and that a machine may lack, by name."""
    out: Dict[str, pathlib.Path] = {}
    for line in run("ldd", library).splitlines():
        found = re.match(r"\s*(\S+)(?: => (\S+))?", line)
        if not found or SYSTEM.match(pathlib.Path(found.group(1)).name):
            continue
        if found.group(2) in (None, "not"):
            raise SystemExit(f"wheel: {library} needs {found.group(1)}, which is not here")
        out[found.group(1)] = pathlib.Path(found.group(2)).resolve()
    return out


def renamed(content: bytes) -> bytes:
    """An ELF file that calls itself, and what it needs, by the names of RENAMED."""
    for old, new in RENAMED.items():
        assert len(old) == len(new)
        content = content.replace(b"\0" + old.encode() + b"\0", b"\0" + new.encode() + b"\0")
    return content


def check_glibc(library: pathlib.Path) -> None:
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "--dyn-syms", "--wide", library))
    newest = max(((int(a), int(b)) for a, b in versions), default=(0, 0))
    if newest > GLIBC:
        raise SystemExit(f"wheel: {library.name} wants glibc {newest[0]}.{newest[1]}, newer than {GLIBC[0]}.{GLIBC[1]}")


def metadata_text() -> str:
    return (f"Metadata-Version: 2.1\nName: tyche\nVersion: {version()}\n"
            "Summary: Graph neural networks with random node initialisation\nLicense: Apache-2.0\n"
            "Requires-Python: >=3.9\nRequires-Dist: numpy>=1.20\nDescription-Content-Type: text/markdown\n\n"
            + (ROOT / "docs/python.md").read_text(encoding="utf-8"))


def wheel_text() -> str:
    return f"Wheel-Version: 1.0\nGenerator: tyche\nRoot-Is-Purelib: false\nTag: py3-none-{PLATFORM}\n"


def licences() -> Dict[str, bytes]:
    out = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    for package in LICENSED:
        path = pathlib.Path("/usr/share/doc") / package / "copyright"
        if path.exists():
            out[f"{package}.txt"] = path.read_bytes()
    return out


def pack(library: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Packs the wheel: the module, the library, what it needs, licences."""
    info = f"tyche-{version()}.dist-info"
    name = f"tyche-{version()}-py3-none-{PLATFORM}.whl"
    files: Dict[str, bytes] = {}
    for path in sorted((ROOT / "python/tyche").glob("*")):
        if path.suffix in (".py", ".typed"):
            files[f"tyche/{path.name}"] = path.read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        for soname, origin in {"libtyche_c.so": library.resolve(), **needed(library)}.items():
            copy = pathlib.Path(scratch) / soname
            shutil.copy(origin, copy)
            run("strip", "--strip-unneeded", copy)
            check_glibc(copy)
            copy.write_bytes(renamed(copy.read_bytes()))
            if any(f"[{old}]" in run("readelf", "--dynamic", copy) for old in RENAMED):
                raise SystemExit(f"wheel: {soname} still names one of {', '.join(RENAMED)}")
            files[f"tyche/_lib/{RENAMED.get(soname, soname)}"] = copy.read_bytes()
    for licence, text in licences().items():
        files[f"{info}/licenses/{licence}"] = text
    files[f"{info}/METADATA"] = metadata_text().encode()
    files[f"{info}/WHEEL"] = wheel_text().encode()
    record = []
    for path_in, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{path_in},sha256={digest},{len(content)}")
    files[f"{info}/RECORD"] = ("\n".join(record) + f"\n{info}/RECORD,,\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path_in, content in files.items():
            entry = zipfile.ZipInfo(path_in, (2026, 1, 1, 0, 0, 0))  # the same bytes for the same content
            entry.external_attr = (0o755 if ".so" in path_in else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return folder / name


# ---- PEP 517

def get_requires_for_build_wheel(config_settings: Optional[Dict[str, Any]] = None) -> List[str]:
    return []


def get_requires_for_build_sdist(config_settings: Optional[Dict[str, Any]] = None) -> List[str]:
    return []


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    """What pip asks for first, so that it need not build to know."""
    name = f"tyche-{version()}.dist-info"
    folder = pathlib.Path(metadata_directory) / name
    folder.mkdir()
    (folder / "METADATA").write_text(metadata_text(), encoding="utf-8")
    (folder / "WHEEL").write_text(wheel_text())
    return name


def build_wheel(wheel_directory: str, config_settings: Optional[Dict[str, Any]] = None,
                metadata_directory: Optional[str] = None) -> str:
    named = os.environ.get("TYCHE_LIBRARY")  # built already
    return pack(pathlib.Path(named) if named else build(), pathlib.Path(wheel_directory)).name


def build_sdist(sdist_directory: str, config_settings: Optional[Dict[str, Any]] = None) -> str:
    stem = f"tyche-{version()}"
    out = pathlib.Path(sdist_directory) / f"{stem}.tar.gz"
    with tarfile.open(out, "w:gz") as archive:
        for name in run("git", "ls-files").splitlines():
            archive.add(ROOT / name, f"{stem}/{name}")
    return out.name


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("folder", type=pathlib.Path, help="where the wheel goes")
    words.add_argument("--library", type=pathlib.Path, help="a libtyche_c.so that was built elsewhere")
    call = words.parse_args()
    wheel = pack(call.library or build(), call.folder)
    print(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    sys.exit(main())
