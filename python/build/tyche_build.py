"""The build backend (PEP 517) and what script/wheel runs: builds libtyche_c.so and packs the wheel.

    python3 python/build/tyche_build.py dist                        # builds in build, packs dist/tyche-….whl
    python3 python/build/tyche_build.py dist --library LIB.so       # packs a library that was built elsewhere
    python3 python/build/tyche_build.py --look FILE...              # do programs and libraries want glibc 2.28 alone?

A release build that is in build/ already (script/build, script/demo) only gets what it lacks: the wheel carries the very
library that the tests of that build test. A new one has the GPU engine where a GPU answers and nvcc is found. CMAKE_ARGS
names more options for CMake ("-DTYCHE_WITH_CUDA=ON"), TYCHE_JOBS how many compilers run at a time. The library needs nothing but glibc (docs/portable.md), which is looked at before it is
packed. The standard library of Python is all that is used here.
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
#: The newest glibc that a file of the wheel may ask for; cmake/TychePortable.cmake links for it.
GLIBC = (2, 28)
#: What every Linux has: glibc's own libraries.
SYSTEM = re.compile(r"^(libc|libm|libdl|librt|libpthread|ld-linux-x86-64|ld-linux-aarch64)\.so\.\d+$")
#: Debian's packages whose code is in the library.
LICENSED = ["libbliss-dev", "libgmp-dev", "libexpat1-dev", "zlib1g-dev", "libcadical-dev", "libfmt-dev", "libhwy-dev",
            "libstdc++6", "libtomlplusplus-dev", "nlohmann-json3-dev", "librandom123-dev", "libboost1.74-dev"]


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


def build_folder() -> pathlib.Path:
    """build/, unless it holds something else than a release build."""
    cache = ROOT / "build/CMakeCache.txt"
    if not cache.exists() or re.search(r"^CMAKE_BUILD_TYPE:\w+=Release$", cache.read_text(), re.MULTILINE):
        return ROOT / "build"
    return ROOT / "build-wheel"


def gpu_answers() -> bool:
    """Whether the GPU engine would be of use here, as script/build asks."""
    found = shutil.which("nvidia-smi")
    return found is not None and subprocess.run([found, "-L"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def build() -> pathlib.Path:
    """The library, as every release build makes it."""
    missing = [tool for tool in ("cmake", "ninja", "g++", "strip", "readelf") if shutil.which(tool) is None]
    if missing:
        raise SystemExit(f"wheel: building needs {', '.join(missing)}, not found here. On Debian 12 script/setup installs all "
                         "that it needs; elsewhere install a wheel that was built there (script/wheel)")
    jobs = os.environ.get("TYCHE_JOBS", str(len(os.sched_getaffinity(0))))
    folder = build_folder()
    options = shlex.split(os.environ.get("CMAKE_ARGS", ""))
    if (folder / "build.ninja").exists():
        run("cmake", *options, folder)
    else:
        run("cmake", "--preset", "demo", "-B", folder, f"-DTYCHE_WITH_CUDA={'ON' if gpu_answers() else 'OFF'}", *options)
    run("cmake", "--build", folder, "-j", jobs, "--target", "tyche_c")
    return folder / "libtyche_c.so"


def machine(library: pathlib.Path) -> str:
    """The processor that a file is for, in the words of a wheel's name."""
    found = re.search(r"Machine: +(.+)", run("readelf", "--file-header", library))
    for name, word in (("X86-64", "x86_64"), ("AArch64", "aarch64")):
        if found and name in found.group(1):
            return word
    raise SystemExit(f"wheel: {library} is for {found.group(1) if found else 'no processor'}, known are x86-64 and AArch64")


def check_travels(path: pathlib.Path) -> str:
    """The newest glibc that a program or library asks for; stops where it is too new, or where more is needed than glibc."""
    dynamic = run("readelf", "--dynamic", "--wide", path)
    foreign = [name for name in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic) if not SYSTEM.match(name)]
    if foreign:
        raise SystemExit(f"portable: {path} wants {', '.join(foreign)}, which another machine may not have")
    if re.search(r"\((RPATH|RUNPATH)\)", dynamic):
        raise SystemExit(f"portable: {path} looks for libraries in folders of this machine (RUNPATH)")
    symbols = {symbol: tuple(map(int, version.split("."))) for symbol, version in
               re.findall(r"(\S+)@GLIBC_([0-9.]+)", run("readelf", "--dyn-syms", "--wide", path))}
    newer = sorted(symbol for symbol, version in symbols.items() if version > GLIBC)
    if newer:
        raise SystemExit(f"portable: {path} wants a newer glibc than {GLIBC[0]}.{GLIBC[1]}: {', '.join(newer)}")
    return ".".join(map(str, max(symbols.values(), default=(0, 0))))


def platform(word: str) -> str:
    return f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{word}"


def metadata_text() -> str:
    return (f"Metadata-Version: 2.1\nName: tyche\nVersion: {version()}\n"
            "Summary: Graph neural networks with random node initialisation\nLicense: Apache-2.0\n"
            "Requires-Python: >=3.9\nRequires-Dist: numpy>=1.20\nDescription-Content-Type: text/markdown\n\n"
            + (ROOT / "docs/python.md").read_text(encoding="utf-8"))


def wheel_text(word: str) -> str:
    return f"Wheel-Version: 1.0\nGenerator: tyche\nRoot-Is-Purelib: false\nTag: py3-none-{platform(word)}\n"


def licences() -> Dict[str, bytes]:
    out = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    for package in LICENSED:
        path = pathlib.Path("/usr/share/doc") / package / "copyright"
        if path.exists():
            out[f"{package}.txt"] = path.read_bytes()
    return out


def pack(library: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Packs the wheel: the module, the library, licences."""
    word = machine(library)
    info = f"tyche-{version()}.dist-info"
    name = f"tyche-{version()}-py3-none-{platform(word)}.whl"
    files: Dict[str, bytes] = {}
    for path in sorted((ROOT / "python/tyche").glob("*")):
        if path.suffix in (".py", ".typed"):
            files[f"tyche/{path.name}"] = path.read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        copy = pathlib.Path(scratch) / "libtyche_c.so"
        shutil.copy(library.resolve(), copy)
        run("strip" if word == os.uname().machine else f"{word}-linux-gnu-strip", "--strip-unneeded", copy)
        check_travels(copy)
        files["tyche/_lib/libtyche_c.so"] = copy.read_bytes()
    for licence, text in licences().items():
        files[f"{info}/licenses/{licence}"] = text
    files[f"{info}/METADATA"] = metadata_text().encode()
    files[f"{info}/WHEEL"] = wheel_text(word).encode()
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
    (folder / "WHEEL").write_text(wheel_text(os.uname().machine))
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
    words.add_argument("folder", type=pathlib.Path, nargs="?", help="where the wheel goes")
    words.add_argument("--library", type=pathlib.Path, help="a libtyche_c.so that was built elsewhere")
    words.add_argument("--look", type=pathlib.Path, nargs="+", metavar="FILE", help="only look at programs and libraries")
    call = words.parse_args()
    for path in call.look or []:
        print(f"portable: {path} wants glibc {check_travels(path)} and nothing else")
    if call.look:
        return
    if call.folder is None:
        words.error("the following arguments are required: folder")
    wheel = pack(call.library or build(), call.folder)
    print(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    sys.exit(main())
