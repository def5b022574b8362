#!/usr/bin/env python3
"""What README and docs promise, as a user meets it: every promise of promises.toml from a copy of one fresh clone.

  tests/check/promises.py [--state FILE] [NAME ...]

Prints a line per promise (seconds, the limit, processor seconds: a busy machine shows there) and a table. Without names, promises that
were kept on this very tree (FILE) are passed over. Logs are in build-check/promises/. Exit code 1 where one is broken: a command
failed, or took longer than promised.
"""
import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

from tree import ROOT, commit, key

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(ROOT, "build-check", "promises")
NETWORK = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS")


def promises():
    with open(os.path.join(HERE, "promises.toml"), "rb") as file:
        return tomllib.load(file)


def verdict(exit_code, seconds, limit):
    """How a promise ended, in a word or two.

    >>> verdict(0, 200, 300), verdict(0, 301, 300), verdict(3, 5, 300)
    ('kept', 'BROKEN: 301 s, promised 300', 'BROKEN: exit code 3')
    """
    if exit_code != 0:
        return f"BROKEN: exit code {exit_code}"
    if limit and seconds > limit:
        return f"BROKEN: {seconds:.0f} s, promised {limit}"
    return "kept"


def environment():
    """Nothing of ours but the ways to the network."""
    kept = {name: os.environ[name] for name in NETWORK if name in os.environ}
    return dict(kept, PATH="/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/cuda/bin", HOME=os.environ.get("HOME", "/"), LC_ALL="C.UTF-8",
                TYCHE_BARE=os.environ.get("TYCHE_BARE", os.path.join(ROOT, "build-check", "bare")))


def keep(name, promise, clone):
    """Runs one; its outcome, wall and processor seconds."""
    log = os.path.join(FOLDER, name + ".log")
    with tempfile.TemporaryDirectory(prefix="tyche-promise-") as work:
        if promise["where"] == "bare":
            call = [os.path.join(ROOT, "tests/install/in_bare.sh"), clone, "set -e; " + promise["run"]]
        else:
            shutil.copytree(clone, os.path.join(work, "clone"), symlinks=True)
            call = ["sh", "-ec", promise["run"]]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        with open(log, "w", encoding="utf-8") as out:
            process = subprocess.Popen(call, cwd=os.path.join(work, "clone") if promise["where"] == "here" else ROOT, env=environment(),
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                code = process.wait()
            except BaseException:  # told to stop
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()
                raise
        seconds = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    if promise["where"] == "bare":  # without making the root
        inside = [line for line in lines if line.startswith("bare: ") and line.endswith(" s inside")]
        seconds = float(inside[-1].split()[1]) if inside else seconds
    outcome = verdict(code, seconds, promise.get("limit", 0))
    if outcome != "kept":
        print("\n".join(line[:160] for line in lines[-60:]), flush=True)
    return outcome, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(results):
    """What is known of each, for the end of the log."""
    yield "| promise | where | seconds | limit | processor | outcome |"
    yield "|---|---|---|---|---|---|"
    for name, promise in promises().items():
        one = results.get(name)
        if one:
            yield (f"| `{name}` | {promise['where']} | {one['seconds']:.0f} | {promise.get('limit', '')} | {one['cpu']:.0f} | "
                   f"{one['outcome']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--state", default=os.path.join(FOLDER, "state.json"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    known = promises()
    for name in arguments.names:
        if name not in known:
            print(f"script/check: unknown promise '{name}'; there are {', '.join(known)}", file=sys.stderr)
            return 2
    os.makedirs(FOLDER, exist_ok=True)
    keys = {"built": key("built"), "tree": key("tree")}
    results = {}
    if os.path.exists(arguments.state):
        with open(arguments.state, encoding="utf-8") as file:
            results = json.load(file)
    which = {name: keys["tree" if promise.get("docs") else "built"] + hashlib.sha256(repr(promise).encode()).hexdigest()[:4]
             for name, promise in known.items()}
    results = {name: one for name, one in results.items() if which.get(name) == one["key"]}
    here = commit()
    if here.endswith("changes"):
        print(f"promises: a clone has what is committed, not the changes beside {here.split()[0]}", flush=True)
    with tempfile.TemporaryDirectory(prefix="tyche-clone-") as scratch:
        clone = os.path.join(scratch, "tyche")
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone], check=True)
        for name in arguments.names or known:
            promise = known[name]
            if not arguments.names and results.get(name, {}).get("outcome") == "kept":
                print(f"promises: {name}: kept before on this tree", flush=True)
                continue
            if "needs" in promise and subprocess.run(["sh", "-c", promise["needs"]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                                     check=False).returncode != 0:
                print(f"promises: {name}: skipped: {promise['lacks']}", flush=True)
                results[name] = {"key": which[name], "outcome": "skipped: " + promise["lacks"], "seconds": 0, "cpu": 0, "commit": here}
                continue
            outcome, seconds, cpu = keep(name, promise, clone)
            limit = f" of {promise['limit']}" if "limit" in promise else ""
            print(f"promises: {name}: {outcome}, {seconds:.0f} s{limit}, {cpu:.0f} s of processor", flush=True)
            results[name] = {"key": which[name], "outcome": outcome, "seconds": seconds, "cpu": cpu, "commit": here}
            with open(arguments.state, "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)
    print("\n".join(table(results)))
    return 1 if any(one["outcome"].startswith("BROKEN") for one in results.values()) else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
