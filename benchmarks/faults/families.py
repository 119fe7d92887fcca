"""All families of cases, with their number in the short, the standard and the full harness."""

from benchmarks.faults.case import Family
from benchmarks.faults.commands import try_command_line
from benchmarks.faults.disks import try_full_disk, try_read_only
from benchmarks.faults.downloads import try_bad_server
from benchmarks.faults.explorer import try_request
from benchmarks.faults.folders import try_damaged_folder, try_flipped_bit, try_torn_file
from benchmarks.faults.inputs import try_input
from benchmarks.faults.kills import try_kills, try_signals
from benchmarks.faults.studies import try_dead_ray_node, try_dead_worker
from benchmarks.faults.worlds import try_clock, try_power_failure, try_two_writers

FAMILIES = (
    Family("commands", "odd command lines", (30, 200, 2_000), try_command_line),
    Family("inputs", "odd tables, arrays, images, plans and recipes", (10, 60, 1_000), try_input),
    Family("folders", "damaged run folders", (15, 100, 1_000), try_damaged_folder),
    Family(
        "flips", "one bit flipped in weights, checkpoint, history or scores", (5, 30, 300), try_flipped_bit
    ),
    Family("torn", "files that end in the middle", (5, 30, 300), try_torn_file),
    Family("kills", "SIGKILL at random moments, then the same command again", (4, 20, 200), try_kills),
    Family("signals", "Ctrl-C, SIGTERM and SIGHUP, then the same command again", (2, 9, 90), try_signals),
    Family("disks", "a disk that becomes full, then has room again", (2, 5, 30), try_full_disk),
    Family("read-only", "a read-only disk", (1, 5, 30), try_read_only),
    Family("clocks", "a clock that is set back", (1, 4, 30), try_clock),
    Family("power", "renames without a sync before and after", (1, 8, 17), try_power_failure),
    Family("writers", "two writers at once in one folder", (2, 12, 60), try_two_writers),
    Family("downloads", "servers that send something wrong", (5, 38, 190), try_bad_server),
    Family(
        "requests",
        "hostile requests and slow clients to the explorer's server",
        (100, 1_000, 10_000),
        try_request,
    ),
    Family("workers", "a study's worker processes or the study killed", (0, 1, 10), try_dead_worker),
    Family("ray", "one of two Ray nodes killed", (0, 0, 3), try_dead_ray_node),
)
