#: soak [MINUTES] -- long runs that look for what shows late (10 minutes): locks under torture, pawld under churn
#:
#: A third of the time each: the lock tests, plain and under the thread sanitizer; pawld, plain; pawld under the
#: address sanitizer. pawld serves two slow servers with maxconn while drivers come, leave mid-request and are killed;
#: it must stay free of errors, of descriptors and memory that pile up, and stop at SIGTERM under load.
. dev.d/builds.sh

soak_dir=build/soak
soak_pids=()

verb_soak() {
    local minutes=${1-10} third
    if [ $# -gt 1 ] || ! whole_number "$minutes" 10000; then
        bad_usage "soak takes a whole number of minutes from 1 to 10000, not '$*'" soak
    fi
    third=$((minutes * 20))
    need build check
    for build in gcc asan tsan; do
        make_build "$build" || die "the build $build failed"
    done
    trap soak_end EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    say "locks under torture, $third s"
    soak_locks $((third / 2))
    say "pawld under churn, $third s"
    soak_pawld gcc "$third"
    say "pawld under churn and the address sanitizer, $third s"
    soak_pawld asan "$third"
    say 'nothing found'
}

soak_end() {
    local pid
    for pid in "${soak_pids[@]}"; do
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
}

# soak_locks SECONDS: in each of the two builds. These programs have some eight parts, each of which lasts as long as
# PAWL_SOAK_SECONDS says.
soak_locks() {
    local build wrapper
    for build in gcc tsan; do
        wrapper=()
        [ "$build" = tsan ] && setarch "$(uname -m)" -R true 2>/dev/null && wrapper=(setarch "$(uname -m)" -R)
        PAWL_SOAK_SECONDS=$(($1 / 8 + 1)) TSAN_OPTIONS=halt_on_error=1 logged "soak-locks-$build" "${wrapper[@]}" \
            meson test -C "build/$build" --no-rebuild --print-errorlogs --logbase soak --timeout-multiplier 0 \
            --num-processes 1 lib/torture-32 lib/torture-64 lib/mixed-32 lib/mixed-64 ||
            die "the lock tests failed ($build)"
    done
}

# soak_pawld BUILD SECONDS: cycles of a fresh pawld, churn, a clean run, and a stop under load.
soak_pawld() {
    local dir=build/$1 end=$((SECONDS + $2)) cycles=0
    mkdir -p "$soak_dir"
    while [ "$SECONDS" -lt "$end" ]; do
        soak_cycle "$dir"
        cycles=$((cycles + 1))
    done
    say "  $cycles cycles"
}

soak_cycle() {
    local dir=$1 idle memory first='' round
    soak_pids=()
    soak_start "$dir"
    idle=$(soak_descriptors)
    for round in 1 2 3 4; do
        soak_churn "$dir"
        "$dir/cli/pawl" load -t 1 -c 100 -d 1s --timeout 10s "$soak_url" >"$soak_dir/load.log" 2>&1 ||
            soak_fail 'a plain load met errors' "$soak_dir/load.log"
        soak_settle $((idle + soak_pooled))
        memory=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$pawld/status")
        first=${first:-$memory}
        [ "$memory" -le $((2 * first + 20000)) ] ||
            soak_fail "memory grew from $first to $memory KiB in $round rounds" "$soak_dir/pawld.log"
    done
    soak_stop "$dir"
}

# Two endpoints of 1 ms with maxconn 20 behind pawld: sets pawld (its pid), soak_url and soak_pooled, the descriptors
# that idle connections to the servers may keep.
soak_start() {
    local dir=$1 port servers='' n
    soak_pooled=48
    for n in 1 2; do
        "$dir/cli/pawl" endpoint --listen 127.0.0.1:0 --delay 1ms >"$soak_dir/endpoint$n.log" 2>&1 &
        soak_pids+=($!)
        soak_await grep -q '^listening on ' "$soak_dir/endpoint$n.log"
        servers+="    server e$n $(sed -n 's/^listening on //p' "$soak_dir/endpoint$n.log") maxconn 20"$'\n'
    done
    port=$(free_port)
    soak_url=http://127.0.0.1:$port/
    cat >"$soak_dir/pawld.cfg" <<CFG
global
    nbthread 4
    maxconn 4000

defaults
    mode http
    timeout connect 5s
    timeout client 10s
    timeout server 10s
    timeout queue 10s

listen soak
    bind 127.0.0.1:$port
    balance roundrobin
$servers
CFG
    # The sanitizer keeps freed memory for a while; a little of it, so that growth shows.
    ASAN_OPTIONS=quarantine_size_mb=8 "$dir/balancer/pawld" -f "$soak_dir/pawld.cfg" >"$soak_dir/pawld.log" 2>&1 &
    pawld=$!
    soak_pids+=("$pawld")
    soak_await answers "$port"
}

# Drivers that leave in the middle: killed, or closing after each answer, all at once.
soak_churn() {
    local dir=$1 drivers=() n
    for n in 1 2 3; do
        "$dir/cli/pawl" load -t 1 -c 300 -d 20s "$soak_url" >/dev/null 2>&1 &
        drivers+=($!)
    done
    "$dir/cli/pawl" load -t 1 -c 50 -d 1s -H 'Connection: close' "$soak_url" >/dev/null 2>&1 &
    drivers+=($!)
    sleep "0.$((RANDOM % 9 + 1))"
    kill -KILL "${drivers[@]:0:3}"
    wait "${drivers[@]}" 2>/dev/null || true
    soak_alive
}

# Waits until the descriptors are down to $1 again, as they are once pawld has seen all clients leave.
soak_settle() {
    local try
    for try in $(seq 100); do
        soak_alive
        [ "$(soak_descriptors)" -le "$1" ] && return
        sleep 0.1
    done
    soak_fail "$(soak_descriptors) descriptors open ten seconds after all clients left, $1 expected at most (try $try)" \
        "$soak_dir/pawld.log"
}

# SIGTERM while a driver is at work: requests in flight finish and pawld ends with status 0.
soak_stop() {
    local dir=$1 driver status=0
    "$dir/cli/pawl" load -t 1 -c 100 -d 3s "$soak_url" >/dev/null 2>&1 &
    driver=$!
    sleep 0.5
    kill -TERM "$pawld"
    for _ in $(seq 150); do
        kill -0 "$pawld" 2>/dev/null || break
        sleep 0.1
    done
    kill -0 "$pawld" 2>/dev/null && soak_fail 'pawld did not stop within 15 seconds of SIGTERM' "$soak_dir/pawld.log"
    wait "$pawld" || status=$?
    [ "$status" -eq 0 ] || soak_fail "pawld ended with status $status at SIGTERM" "$soak_dir/pawld.log"
    wait "$driver" || true
    kill -TERM "${soak_pids[@]:0:2}"
    wait "${soak_pids[@]:0:2}" || true
    soak_pids=()
}

soak_descriptors() {
    local files=("/proc/$pawld/fd"/*)
    echo ${#files[@]}
}

soak_alive() {
    kill -0 "$pawld" 2>/dev/null || soak_fail 'pawld died' "$soak_dir/pawld.log"
}

soak_fail() {
    say "soak: $1; what it wrote ($2):" >&2
    tail -n 40 "$2" | sed 's/^/    /' >&2
    exit 1
}

# soak_await COMMAND...: until it succeeds, at most ten seconds.
soak_await() {
    for _ in $(seq 100); do
        "$@" 2>/dev/null && return
        sleep 0.1
    done
    soak_fail "waited in vain for: $*" "$soak_dir/pawld.log"
}

# Does something listen on this port of 127.0.0.1?
answers() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# A port below those that the kernel gives to outgoing connections.
free_port() {
    local port
    while port=$((10000 + RANDOM % 20000)) && answers "$port"; do
        :
    done
    echo "$port"
}
