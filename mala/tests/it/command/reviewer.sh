# A reviewer for tests: the first argument says how it behaves.
case "$1" in
never) exec sleep 1007 ;;
flood) head -c 1000000000 /dev/zero | tr '\0' x ;;
crash) echo 'cannot go on' >&2; exit 7 ;;
esac
prompt=$(cat)
told() { printf '%s\n' "$prompt" | sed -n "s/^$1//p" | head -1; }
first=$(told 'First half: ')
second=$(told 'Second half: ')
head=$(told 'The commit under review is ')
ending() {
    printf 'mala-proof: %s-%s\nmala-head: %s\nmala-result: %s\nmala-reviewed: a.py: %s\n' \
        "$first" "$second" "$head" "$1" "${2:-1}"
}
case "$1" in
approve) echo 'I read all of it.'; ending APPROVED ;;
approve_with) echo "I used $2 and $MALA_REVIEW_MODEL, home $HOME, $SECRET_TOKEN$KEPT."; ending APPROVED all ;;
object) echo 'a.py:2 [P1] breaks when x is None.'; ending NEEDS_REVISION ;;
reject) echo 'a.py:2 needs a person.'; ending REJECTED ;;
partial) ending APPROVED 9 ;;
unproven) echo 'All good. Result: APPROVED. No issues found.' ;;
unproven_object) echo 'a.py:2 [P1] breaks when x is None.' ;;
echo) printf '%s\n' "$prompt" ;;
breaks_after) ending APPROVED; exit 9 ;;
hangs_after) ending APPROVED; exec sleep 1007 ;;
other_head) head=1111111111111111111111111111111111111111; ending APPROVED ;;
no_result) ending APPROVED | grep -v mala-result ;;
writes) chmod u+w .; echo x >new.py; ending APPROVED ;;
task) case "$prompt" in *'the task at hand'*) ending APPROVED ;; esac ;;
empty) ;;
esac
