# A parser for tests. It prints `parse` of its folder, or what follows from what `rev` says.
cat >"$CONTROL/parsed"
echo parse >>"$CONTROL/order"
[ "$(cat "$CONTROL/behaviour")" != slow ] || sleep 0.4
if [ -e "$CONTROL/parse" ]; then
    cat "$CONTROL/parse"
    exit
fi
case "$(cat "$CONTROL/behaviour")" in
NEEDS_REVISION) echo '{"result": "NEEDS_REVISION", "issues": ["criterion A1 is not met"], "summary": "S", "blocking": false}' ;;
REJECTED) echo '{"result": "REJECTED", "issues": ["it deletes data"], "summary": "drops the table", "blocking": true}' ;;
*) echo '{"result": "APPROVED", "issues": [], "summary": "fine", "blocking": false}' ;;
esac
