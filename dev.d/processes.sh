# Processes that a verb starts, none of which outlives it: each in a group of its own, for a bounded time, and with a
# mark in its environment by which those that left the group (daemons) are found. The verb sets the traps.

processes_pid=''
processes_dir=''

# Makes a temporary directory, whose path is the mark; short, since there are socket names of 108 bytes in it.
processes_begin() {
    processes_dir=$(mktemp -d "${TMPDIR:-/tmp}/pawl-XXXXXX") || die 'no temporary directory can be made'
}

# bounded SECONDS COMMAND...: its status, 124 when the time was not enough. Waits in the shell, so that traps act; timeout
# makes the group, and the signals that a shell makes its background commands ignore are as usual again.
bounded() {
    local seconds=$1 status=0
    shift
    TMPDIR=$processes_dir timeout -k 10 "$seconds" env --default-signal=INT,QUIT "$@" &
    processes_pid=$!
    wait "$processes_pid" || status=$?
    processes_pid=''
    processes_sweep
    return "$status"
}

# For the EXIT trap. A signal's first, so that a program can put away what it made; what stays is killed.
processes_end() {
    trap '' INT TERM HUP
    if [ -n "$processes_pid" ]; then
        kill -TERM -- "-$processes_pid" 2>/dev/null || true
        for _ in $(seq 100); do
            kill -0 -- "-$processes_pid" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL -- "-$processes_pid" 2>/dev/null || true
    fi
    if [ -n "$processes_dir" ]; then
        processes_sweep
        rm -rf "$processes_dir"
    fi
}

# Kills every process that has the mark.
processes_sweep() {
    local file pid
    while read -r file; do
        pid=${file#/proc/}
        kill -KILL "${pid%/*}" 2>/dev/null || true
    done < <(grep -lsz "^TMPDIR=$processes_dir" /proc/[0-9]*/environ)
}
