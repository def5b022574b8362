"""Times tyche's training beside PyTorch's, in turns, and prints medians and ratios. Called by script/bench.

Usage: compare.py TYCHE GRAPHS [--rounds R] [--epochs E]
Every round runs each contestant once, so that whatever else the machine does meets all of them alike.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def run(command):
    """The JSON a command prints, or None where it cannot run (say, because torch is not installed)."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tyche")
    parser.add_argument("graphs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=5)
    call = parser.parse_args()

    def tyche(*options):
        return [call.tyche, "bench", "train", "--data", call.graphs, "--json", "--epochs", str(call.epochs), *options]

    def torch(threads):
        epochs = max(1, call.epochs // 3)
        return ["/usr/bin/python3", os.path.join(HERE, "peer_torch.py"), call.graphs, "--threads", str(threads),
                "--epochs", str(epochs)]

    contestants = {
        "tyche, 1 thread": tyche("--threads", "1"),
        "tyche, 1 trial on 2 threads": tyche("--threads", "2"),
        "tyche, 2 trials on 2 threads": tyche("--threads", "2", "--side-by-side", "2"),
        "PyTorch, 1 thread": torch(1),
        "PyTorch, 2 threads": torch(2),
    }
    if (os.cpu_count() or 1) < 2:
        contestants = {name: c for name, c in contestants.items() if "2 threads" not in name}
    results = {name: [] for name in contestants}
    for _ in range(call.rounds):
        for name in list(contestants):
            answer = run(contestants[name])
            if answer is None:
                print(f"(left out: {name}; it does not run here)", file=sys.stderr)
                del contestants[name]
            else:
                results[name].append(answer)

    median = {name: statistics.median(a["seconds_per_epoch"] for a in answers)
              for name, answers in results.items() if answers}
    one = median["tyche, 1 thread"]
    peers = [seconds for name, seconds in median.items() if name.startswith("PyTorch")]
    peer = min(peers) if peers else None
    print(f"{'':30} {'s/epoch':>8} {'floor':>7} {'x PyTorch':>10} {'x 1 thread':>11}")
    for name, seconds in median.items():
        floors = [a["floor_fraction"] for a in results[name] if "floor_fraction" in a]
        floor = f"{100 * statistics.median(floors):5.1f} %" if floors else ""
        ratio = f"{peer / seconds:.2f}" if peer else ""
        print(f"{name:30} {seconds:8.4f} {floor:>7} {ratio:>10} {one / seconds:11.2f}")
    first = results["tyche, 1 thread"]
    evaluation = statistics.median(a["eval_fraction"] for a in first)
    print(f"evaluating the test fold adds {100 * evaluation:.1f} % to an epoch")
    print(f"peak of a core {statistics.median(a['peak_gflops'] for a in first):.1f} GFLOP/s, "
          f"{first[0]['executed_gflop']:.2f} GFLOP an epoch; {first[0]['engine']}")


if __name__ == "__main__":
    main()
