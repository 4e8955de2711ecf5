#!/usr/bin/env bash
# ./dev before it does anything: help is to be had everywhere, wrong usage is refused with status 2 before anything is
# installed, fetched or built, and paths are relative to where the user stands. It runs in a copy of the scripts in
# which those that install, fetch and build only write down that they were called, and `pawl` that and where.
set -euo pipefail

source=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/pawl-dev-XXXXXX")
trap 'rm -rf "$work"' EXIT
tree=$work/tree elsewhere=$work/elsewhere
export did=$work/did
status=0 output=''

fail() {
    printf 'arguments_test: %s\n' "$*" >&2
    [ -z "$output" ] || printf '%s\n' "$output" | sed 's/^/    /' >&2
    exit 1
}

make_tree() {
    mkdir -p "$tree/include" "$tree/testbed" "$elsewhere"
    cp -r "$source/dev" "$source/dev.d" "$source/bench" "$source/fuzz" "$tree"
    cat >"$tree/dev.d/packages.sh" <<'SH'
need() { echo "need $*" >>"$did"; }
SH
    cat >"$tree/dev.d/archive.sh" <<'SH'
fetch_source() { echo "fetch_source $*" >>"$did"; }
unpack_debs() { echo "unpack_debs $*" >>"$did"; }
SH
    cat >"$tree/dev.d/builds.sh" <<'SH'
. dev.d/packages.sh
configure() { echo "configure $*" >>"$did"; }
build_dir() { echo "build/$1"; }
make_build() {
    echo "make_build $*" >>"$did"
    mkdir -p build/gcc/cli
    cp "$root/pawl" build/gcc/cli/pawl
}
SH
    cat >"$tree/dev.d/haproxy.sh" <<'SH'
haproxy_builds() { echo haproxy_builds >>"$did"; }
haproxy_version() { echo 1; }
haproxy_compiler() { echo gcc; }
haproxy_options() { echo make; }
SH
    cat >"$tree/pawl" <<'SH'
#!/usr/bin/env bash
printf 'pawl in %s:' "$PWD" >>"$did"
printf ' <%s>' "$@" >>"$did"
echo >>"$did"
[[ $* != *--refused* ]] || exit 2
while [ $# -gt 0 ]; do
    [ "$1" != --out ] || printf '{\n "format": 1\n}\n' >"$2"
    shift
done
SH
    chmod +x "$tree/pawl"
}

# dev DIRECTORY ARGUMENT...: runs it there; leaves status, output (both streams) and the file $did.
dev() {
    local from=$1
    shift
    : >"$did"
    status=0
    output=$(cd "$from" && timeout 60 "$tree/dev" "$@" 2>&1 </dev/null) || status=$?
}

# answers STATUS SAYING ARGUMENT...: without having done anything.
answers() {
    local expected=$1 saying=$2
    shift 2
    rm -rf "$tree/build"
    dev "$tree" "$@"
    [ "$status" -eq "$expected" ] || fail "status $status, not $expected: ./dev $*"
    [ ! -s "$did" ] || fail "only after this: $(cat "$did"): ./dev $*"
    [[ $output = *"$saying"* ]] || fail "no word of '$saying': ./dev $*"
}

refuses() {
    answers 2 "$@"
}

helps() {
    answers 0 "$@"
}

did() {
    grep -qF -- "$1" "$did" || fail "no '$1' among what was done: $(cat "$did")"
}

make_tree

# Help, of each verb and of its parts, without anything built.
for verb in setup build demo check bench field-test fuzz soak format lint clean; do
    helps "$verb" "$verb" --help
    helps "$verb" "$verb" -h
    helps "$verb" "$verb" something --help
done
helps 'haproxy-locks' field-test haproxy-locks --help
helps 'haproxy-locks' field-test haproxy-locks --time 4s --help
for part in proxy queue locks; do
    helps "$part" bench "$part" --help
done
helps 'fuzz [SECONDS' fuzz 10 http_request --help

# Wrong usage.
for option in '--time 0' '--time 9ms' '--time 61m' '--time 4' '--time -4s' '--time=4x' '--time 99999999m' \
    '--time 4s4s'; do
    # shellcheck disable=SC2086
    refuses 'from 10ms to 60m' field-test haproxy-locks $option
done
for option in '--rounds 0' '--rounds 101' '--rounds x' '--rounds=-1' '--rounds 5.0'; do
    # shellcheck disable=SC2086
    refuses 'from 1 to 100' field-test haproxy-locks $option
done
for threads in 0 65 '2,,8' ',' '2,' ',2' x '*' 8,8 1,2,3,4,5,6,7,8,9; do
    refuses 'from 1 to 64' field-test haproxy-locks --threads "$threads"
done
refuses 'needs a value' field-test haproxy-locks --rounds
refuses 'needs a value' field-test haproxy-locks --out ''
refuses "'--nonsense'" field-test haproxy-locks --nonsense
refuses "'extra'" field-test haproxy-locks extra
refuses "'nonsense'" field-test nonsense
refuses 'nothing to do' field-test haproxy-locks --regtests --no-regtests
refuses "'nonsense'" bench nonsense
refuses "'nonsense'" build gcc nonsense
refuses "'nonsense'" fuzz 10 http_request nonsense
refuses "'../http_request'" fuzz 10 ../http_request
refuses 'from 1 to 100000' fuzz nonsense
refuses 'from 1 to 10000' soak 0
refuses 'from 1 to 10000' soak 1 2
refuses "'--nonsense'" format --nonsense
refuses "'--check extra'" format --check extra
refuses "'nonsense.c'" lint nonsense.c
refuses "'--nonsense'" check --nonsense
refuses "'extra'" clean extra
refuses "'extra'" setup extra
refuses '"nonsense"' nonsense

# What only `pawl` can refuse is refused by it before anything is fetched for it.
for verb in demo 'bench proxy' bench 'bench queue'; do
    # shellcheck disable=SC2086
    dev "$tree" $verb --refused
    [ "$status" -eq 2 ] || fail "status $status, not 2: ./dev $verb --refused"
    ! grep -qE 'unpack_debs|balancer/pawld' "$did" || fail "fetched or built before it was refused: $(cat "$did")"
    did '<testbed> <--list> <--refused>'
done

# Paths: pawl runs where the user stands, and what is the repository's is named from there.
dev "$elsewhere" bench locks --json x.json --plot plots --plock ../plock
[ "$status" -eq 0 ] || fail "status $status: ./dev bench locks"
did "pawl in $elsewhere: <bench> <--json> <x.json> <--plot> <plots> <--plock> <../plock>"
dev "$elsewhere" bench proxy --out mine.json
[ "$status" -eq 0 ] || fail "status $status: ./dev bench proxy"
did "pawl in $elsewhere: <testbed> <--side> <nginx=$tree/bench/proxy/nginx>"
did "<--scenario> <$tree/bench/proxy/connections-64.cfg>"
[ -f "$elsewhere/mine.json" ] || fail 'bench proxy: no report where the user stands'
dev "$elsewhere" demo --out mine2.json
[ "$status" -eq 0 ] || fail "status $status: ./dev demo"
did "<--out> <$tree/build/report.json> <--out> <mine2.json>"
[ -f "$elsewhere/mine2.json" ] || fail 'demo: no report where the user stands'
dev "$tree" demo
did '<--out> <build/report.json>'

dev "$elsewhere" field-test haproxy-locks --no-regtests --threads 2,8 --rounds=3 --time 500ms --out field.json
[ "$status" -eq 0 ] || fail "status $status: ./dev field-test haproxy-locks"
did "<--out> <$elsewhere/field.json> <--time> <4s> <--rounds> <3> <--time> <500ms>"
grep -q '"regression_tests": null' "$elsewhere/field.json" || fail 'field-test: no report where the user stands'
grep -qx 'threads        = 2 8' "$tree/build/field/haproxy-locks.cfg" || fail 'field-test: other threads than asked for'
mkdir "$elsewhere/reports"
dev "$elsewhere" field-test haproxy-locks --no-regtests --out reports/
[ -f "$elsewhere/reports/haproxy-locks.json" ] || fail 'field-test: no report in the directory named'
dev "$elsewhere" field-test haproxy-locks --no-regtests --out nowhere/x.json
[ "$status" -eq 1 ] || fail "status $status, not 1, for a report that cannot be written"
[ ! -s "$did" ] || fail "seen only after this: $(cat "$did")"
left=$(cd "$elsewhere" && find . -type f | sort | tr '\n' ' ')
[ "$left" = './field.json ./mine.json ./mine2.json ./reports/haproxy-locks.json ' ] || fail "left behind: $left"
