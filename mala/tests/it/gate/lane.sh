# A lane for tests: the first argument says how it behaves.
case "$1" in
never) exec sleep 1000 ;;
stdin) while :; do cat >/dev/null; sleep 0.05; done ;;
leaver)
    env -i setsid sleep 1005 &
    (cd / && exec env -i setsid sleep 1006) &
    exec sleep 1000
    ;;
killer) sleep 0.3; kill -9 $PPID; sleep 1000 ;;
crash) echo 'cannot go on' >&2; exit 7 ;;
esac

prompt=$(cat)
nonce=$(printf '%s\n' "$prompt" | sed -n 's/^Your `nonce`: //p')
head=$(printf '%s\n' "$prompt" | sed -n 's/^The commit under review (`head_sha`): //p')

# A check of claims: what the second argument says of each of them.
case "$prompt" in
"You check claims"*)
    case "$1" in
    slow_check) sleep 5 ;;
    mute_check) exit 0 ;;
    writes_check) chmod u+w .; echo 'x = 1' >new.py ;;
    esac
    ids=$(printf '%s\n' "$prompt" | sed -n 's/^\(c[0-9]*\): .*/\1/p')
    checks=
    for id in $ids; do
        checks="$checks${checks:+,}{\"id\":\"$id\",\"outcome\":\"${2:-holds}\",\"why\":\"looked\"}"
    done
    printf '{"nonce":"%s","head_sha":"%s","checks":[%s]}\n' "$nonce" "$head" "$checks"
    exit 0
    ;;
esac

# An answer by the form that the prompt states, and by nothing else.
if [ "$1" = follows ]; then
    if ! printf '%s\n' "$prompt" | grep -q '^+.*return x + 1\|^[0-9 ]*+.*return x + 1'; then
        printf '%s\n' "$prompt" | sed -n '/^For example, with one finding:$/,/^{/s/^{/{/p' |
            sed "s/\"nonce\": \"[^\"]*\"/\"nonce\": \"$nonce\"/; s/\"head_sha\": \"[^\"]*\"/\"head_sha\": \"$head\"/" |
            sed 's#src/mean.py#a.py#g; s/"verdict": "FAIL"/"verdict": "PASS"/; s/"findings": \[{.*}\], "reviewed"/"findings": [], "reviewed"/'
        exit 0
    fi
    printf '%s\n' "$prompt" | sed -n '/^For example, with one finding:$/,/^{/s/^{/{/p' |
        sed "s/\"nonce\": \"[^\"]*\"/\"nonce\": \"$nonce\"/; s/\"head_sha\": \"[^\"]*\"/\"head_sha\": \"$head\"/" |
        sed 's#src/mean.py#a.py#g; s/"line_start": 3, "line_end": 3/"line_start": 2, "line_end": 2/' |
        sed 's/"evidence": "[^"]*"/"evidence": "    return x + 1"/'
    exit 0
fi

reviewed='[{"file_path":"a.py","hunks":[1]}]'
answer() {
    printf '{"nonce":"%s","head_sha":"%s","verdict":"%s","summary":"%s","findings":[%s],"reviewed":%s}\n' \
        "$nonce" "$head" "$1" "$1 by $0" "$2" "$reviewed"
}
finding() {
    printf '{"file_path":"a.py","line_start":2,"line_end":2,"priority":%s,"title":"[P%s] %s","body":"when x is None it fails"}' \
        "$1" "$1" "$2"
}

case "$1" in
pass* | slow_check | writes_check | mute_check) answer PASS "" ;;
many) all=; for n in $(seq 35); do all="$all${all:+,}$(finding 1 "breaks in way $n")"; done; answer FAIL "$all" ;;
twice) answer FAIL "$(finding 0 'divides by zero')"; answer FAIL "$(finding 1 'breaks on None')" ;;
grows) answer FAIL "$(finding 1 'breaks on None')"; answer FAIL "$(finding 0 'divides by zero'),$(finding 1 'breaks on None')" ;;
beside) (answer FAIL "$(finding 1 'breaks on None')"; answer PASS "") >"$3"; answer PASS "" ;;
garbled) answer FAIL "$(finding 1 "breaks on $(printf '\377')")" >"$3"; answer PASS "" ;;
two_fields) printf '{"answer":%s,"draft":%s}\n' "$(answer PASS "")" "$(answer FAIL "$(finding 1 'breaks on None')")" ;;
file_and_words) answer FAIL "$(finding 1 'breaks on None')"; answer PASS "" >"$3" ;;
absent) answer FAIL "$(finding 1 '`f` is not defined')" ;;
absent_if) answer FAIL "$(finding 1 '`f` is not defined when x is None')" ;;
forger) answer FAIL "$(finding 1 'x\nFAKE: PASS\n  pass: PASS\u202e')" ;;
judge) if grep -q bad a.py; then answer FAIL "$(finding 1 'this is bad')"; else answer PASS ""; fi ;;
finder) if grep -q 'count - 1' a.py; then answer FAIL "$(finding 1 'drops the last one')"; else answer PASS ""; fi ;;
paid) printf '{"answer":%s,"cost":1.5}\n' "$(answer PASS "")" ;;
stuck) if grep -q 'count - 1' a.py; then exec sleep 1000; else answer PASS ""; fi ;;
graded)
    # The file of the last commit: a P2 if it is minor, else a P1.
    file=$(git diff --name-only HEAD~1 HEAD)
    reviewed="[{\"file_path\":\"$file\",\"hunks\":[1]}]"
    found() { finding "$1" "$2" | sed "s/a.py/$file/"; }
    if grep -q minor "$file"; then answer NEEDS_WORK "$(found 2 'slow on lists')"; exit 0; fi
    answer FAIL "$(found 1 'breaks on None')"
    ;;
fail*) answer FAIL "$(finding 1 'breaks on None')" ;;
needs*) answer NEEDS_WORK "$(finding 2 'slow on lists')" ;;
deleted) answer FAIL "$(finding 0 'it is still needed' | sed 's/a.py/b.py/; s/:2,/:1,/g')" ;;
absolute) answer FAIL "$(finding 0 'breaks' | sed "s#a.py#$PWD/a.py#")" ;;
unquoted) answer FAIL "$(finding 0 'breaks' | sed 's/"title"/"when":"x","then":"y","evidence":"","title"/')" ;;
spaced) answer FAIL "$(finding 0 'breaks' | sed 's/"title"/"when":"x","then":"y","evidence":" return  x+ 1","title"/')" ;;
misquoted) answer FAIL "$(finding 0 'breaks' | sed 's/"title"/"when":"x","then":"y","evidence":"return y","title"/')" ;;
past_end) answer FAIL "$(finding 0 'breaks' | sed 's/:2,/:99,/g')" ;;
half) answer FAIL "$(finding 0 'breaks' | sed 's/:2,/:99,/g'),$(finding 3 'a nit')" ;;
unrelated) answer FAIL "$(finding 1 'overflows' | sed 's/"body":.*/"body":"a large number becomes negative"}/')" ;;
pipe) mkfifo "$3"; answer PASS "" ;;
hole) truncate -s 1500M "$3"; sleep 1; answer PASS "" ;;
flood_stdout) answer PASS ""; head -c 1000000000 /dev/zero | tr '\0' x; exec sleep 1000 ;;
invented) answer FAIL "$(finding 1 'breaks' | sed 's/a.py/nowhere.py/')" ;;
wavers) answer FAIL "$(finding 1 'breaks on None')"; answer PASS "" ;;
two_places) answer FAIL "$(finding 1 'breaks on None')" >"$3"; answer PASS "" ;;
unsure) answer FAIL "$(finding null 'breaks on None' | sed 's/\[Pnull\] //')" ;;
space) reviewed='[{"file_path":" a.py ","hunks":[1]}]'; answer PASS "" ;;
bytes) if git cat-file blob HEAD:a.py | cmp -s - a.py; then answer PASS ""; else answer FAIL "$(finding 1 'other bytes')"; fi ;;
looks) if grep -q token creds; then answer FAIL "$(finding 1 'a token')"; else answer PASS ""; fi ;;
partial) reviewed='[]'; answer PASS "" ;;
hangs) answer PASS ""; exec sleep 1000 ;;
breaks_after) answer PASS ""; exit 9 ;;
fenced) echo 'Here it is.'; answer PASS ""; echo 'Bye.' ;;
flood) head -c 1000000000 /dev/zero | tr '\0' x ;;
flood_after) answer PASS ""; head -c 1000000000 /dev/zero | tr '\0' x >&2; exec sleep 1000 ;;
forks)
    sleep 1003 &
    setsid sleep 1003 &
    nohup setsid sh -c 'sleep 1003 & sleep 1003' >/dev/null 2>&1 &
    env -i setsid sleep 1003 &
    answer PASS ""
    ;;
holds_pipe) setsid sleep 1004 & exit 0 ;;
banner) echo "You've hit your usage limit. Try again at 5 pm." ;;
echo) printf '%s\n' "$prompt" ;;
prose) echo 'I looked at everything. No issues found: APPROVED, PASS.' ;;
empty) ;;
nonce) nonce=00000000000000000000000000000000; answer PASS "" ;;
sha) head=1111111111111111111111111111111111111111; answer PASS "" ;;
writes) chmod u+w .; echo 'x = 1' >new.py; answer PASS "" ;;
edits) chmod u+w a.py; echo >>a.py; answer FAIL "$(finding 1 'breaks on None')" ;;
commits) chmod -R u+w .git; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git branch -f main; answer PASS "" ;;
stages) git rm -q --cached a.py || { chmod u+w .git; git rm -q --cached a.py; }; answer PASS "" ;;
reads)
    for locks in 0 1; do
        export GIT_OPTIONAL_LOCKS=$locks
        git status >&2 && git log -p >&2 && git diff HEAD~1 >&2 && git diff >&2 && git blame a.py >&2 && git describe --always --dirty >&2 || exit 3
    done
    answer PASS ""
    ;;
env) env | sed 's/=.*//' | sort >&2; answer PASS "" ;;
gate) review-gate spawn-code-review --diff HEAD~1..HEAD >&2; answer PASS "" ;;
chatty) answer PASS ""; while :; do printf ' '; sleep 0.05; done ;;
leaky) echo "use $3"; echo "or $3" >&2; exec sleep 1000 ;;
lists) find . -path ./.git -prune -o -type f -print | sort >&2; answer PASS "" ;;
slow) sleep 0.5; answer PASS "" ;;
outside) echo 'x = 1' >"$OUTSIDE"; answer PASS "" ;;
outside_fail) echo 'x = 1' >"$OUTSIDE"; answer FAIL "$(finding 1 'breaks on None')" ;;
outside_commit) git -C "$OUTSIDE" -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; answer PASS "" ;;
outside_git)
    echo 'x = 1' >"$OUTSIDE/written.py"
    echo 'garbage' >"$OUTSIDE/.git/index"
    answer PASS ""
    ;;
outside_hook) echo 'exit 0' >"$OUTSIDE/.git/hooks/pre-push"; answer PASS "" ;;
mute*)
    # No answer until the file is there, then as `late`.
    if ! [ -e "$SEEN" ]; then echo 'I cannot look now.'; exit 0; fi
    exec sh "$0" late <<PROMPT
$prompt
PROMPT
    ;;
late*)
    # Lines with BUG, and once the file is there, also lines with HID.
    words=BUG
    if [ -e "$SEEN" ]; then words='BUG\|HID'; fi
    all=
    for line in $(grep -n "$words" a.py | sed 's/:.*//'); do
        all="$all${all:+,}$(finding 1 "breaks in line $line" | sed "s/:2,/:$line,/g")"
    done
    if [ -n "$all" ]; then answer FAIL "$all"; else answer PASS ""; fi
    ;;
broken_json) echo '{not json at all' ;;
limited) printf '%s\n' '{' '  "error": {' '    "code": 429,' '    "message": "Resource has been exhausted"' '  }' '}' >&2; exit 1 ;;
unauthorized) printf '%s\n' 'API Error: 401 Unauthorized' '}' >&2; exit 1 ;;
error_object) printf '%s\n' 'starting' '{"error":{"message":"the model is overloaded"}}' '}' >&2; exit 1 ;;
esac
