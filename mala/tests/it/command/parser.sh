# A parser for tests: the first argument says what it makes of a review.
review=$(cat)
issue='{"file": "a.py", "line_start": 2, "line_end": 2, "priority": 1, "title": "[P1] breaks", "body": "breaks when x is None"}'
case "$1" in
approved) echo '{"result": "APPROVED", "issues": [], "summary": "fine", "blocking": false}' ;;
revision) printf '{"result": "NEEDS_REVISION", "issues": [%s], "summary": "no", "blocking": false}\n' "$issue" ;;
rejected) echo '{"result": "REJECTED", "issues": ["a.py:2 needs a person"], "summary": "no", "blocking": true}' ;;
words) echo '{"result": "NEEDS_REVISION", "issues": ["a.py:2: [P0] it breaks"]}' ;;
invents) echo '{"result": "NEEDS_REVISION", "issues": ["b.py:7: it breaks"]}' ;;
garbage) echo 'The review is fine: APPROVED' ;;
crash) exit 3 ;;
never) exec sleep 1008 ;;
esac
