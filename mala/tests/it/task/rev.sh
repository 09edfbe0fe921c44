# A review command for tests. `rev` in its folder says how it behaves, unless the task has a queue of behaviours;
# `text` is what it says first.
prompt=$(cat)
printf '%s\n' "$prompt" >"$CONTROL/seen"
printf '%s\n' "$*" >"$CONTROL/arguments"
printf '%s\n' "${MALA_REVIEW_MODEL-unset}" >"$CONTROL/model"
echo rev >>"$CONTROL/order"
told() { printf '%s\n' "$prompt" | sed -n "s/^$1//p" | head -1; }
ending() {
    printf 'mala-proof: %s-%s\nmala-head: %s\nmala-result: %s\n' \
        "$(told 'First half: ')" "$(told 'Second half: ')" "$(told 'The commit under review is ')" "$1"
    printf '%s\n' "$prompt" | sed -n '/of="changed regions/,/<\/mala-fence/p' |
        sed '/mala-fence/d; s/^\(.*\): 1 (lines.*$/mala-reviewed: \1: all/'
}
task=$(told 'The task under review is ')
queue="$CONTROL/queue-${task%.}"
if [ -s "$queue" ]; then
    behaviour=$(head -1 "$queue")
    sed -i 1d "$queue"
else
    behaviour=$(cat "$CONTROL/rev")
fi
echo "$behaviour" >"$CONTROL/behaviour"
case "$behaviour" in
crash) exit 7 ;;
empty) exit 0 ;;
never) exec sleep 1009 ;;
echo) printf '%s\n' "$prompt"; exit 0 ;;
slow) sleep 0.4; behaviour=REJECTED ;;
held) while [ -e "$CONTROL/hold" ]; do sleep 0.05; done; behaviour=APPROVED ;;
esac
cat "$CONTROL/text" 2>/dev/null || echo 'MARK-1: I read all of it.'
case "$behaviour" in
unproven) echo 'All good: APPROVED.' ;;
*) ending "$behaviour" ;;
esac
