"""the estimate for a recording that starts late, beyond reading it, in plain replays of it"""
from cases import Case
from processes import answer, done

TARGETS = {
    "": ["expandable_segments:True", "max_split_size_mb:32", "roundup_power2_divisions:4", "large_segment_size_mb:64"],
    "expandable_segments:True": ["", "max_split_size_mb:32", "expandable_segments:True,roundup_power2_divisions:4"],
}
EVENTS = 400_000
TUNED = 1000  # settings


def short(conf):
    """The first word of each option."""
    return "+".join(option.partition("_")[0] for option in conf.split(",")) or "defaults"


def late_recording(bench, conf):
    load = bench.random(1_000, 9, 27, EVENTS)
    whole, late = bench.folder / "whole.pickle", bench.folder / f"late-{len(conf)}.pickle"
    done([bench.program, "convert", load.csv, whole, "--alloc-conf", conf])
    bench.generate("snapshots.py", late, "--late", whole)
    return late


def cases(bench):
    for conf, others in TARGETS.items():
        recording = late_recording(bench, conf)

        def replays(program, *options):
            """What these options cost, in plain replays of the recording."""
            command = [program, "replay", recording]
            same = min(done([*command, "--json", "--quiet"]).seconds for _ in range(3))
            plain = answer(command)["runs"][0]["timing"]["replay_seconds"]
            return (done([*command, "--json", "--quiet", *options]).seconds - same + plain) / plain

        most = answer([bench.program, "replay", recording])["runs"][0]["peak_reserved_bytes"]
        asked = {short(other): ["--alloc-conf", other] for other in others}
        asked |= {"smaller": ["-s", "recorded", "--capacity", most * 9 // 10], "bfc": ["-s", "bfc"]}
        for name, options in asked.items():
            yield Case(f"late/{short(conf)}/{name}", "replays",
                       bench.each(lambda program: replays(program, *options)))
    tuned = lambda program: done([program, "tune", recording, "--runs", TUNED, "--quiet"]).seconds
    yield Case(f"late/tune-{TUNED}", "s", bench.each(tuned), rounds=1)

