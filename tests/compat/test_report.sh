#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The HTML of `aclprof report` in a real browser: it draws, and does what keys and pointer ask for.
# Environment: ACLPROF_TOOL, ACLPROF_BUILD, ACLPROF_SRC. Skipped without Chromium.
set -u
export LC_ALL=C

tool=${ACLPROF_TOOL:?} build=${ACLPROF_BUILD:?} src=${ACLPROF_SRC:?}
browser=
for name in chromium chromium-browser google-chrome; do
    browser=${browser:-$(command -v $name)}
done
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0
fail() {
    echo "FAIL $*"
    bad=1
}

# ---- the command ----

ACLPROF_DRIVER=sim "$build/tests/compat/report_work" "$tmp/a" 20 || fail "no capture"
ACLPROF_DRIVER=sim "$build/tests/compat/report_work" "$tmp/b" 31 || fail "no capture"
cd "$tmp" || exit 1
"$tool" report --help | grep -q "Usage: aclprof report" || fail "no help"
"$tool" report >/dev/null 2>&1
[ $? -eq 2 ] || fail "no directory is right"
"$tool" report "$tmp/nothing" >/dev/null 2>&1
[ $? -eq 1 ] || fail "a directory that is not there is right"
"$tool" report -o "$tmp/no/such/place.html" a >/dev/null 2>&1
[ $? -eq 1 ] || fail "a place that is not there is right"
[ "$("$tool" report a 2>/dev/null)" = aclprof_report.html ] || fail "report"
"$tool" report -o "$tmp/two.html" a b >out 2>err || fail "comparison"
grep -q "device data of b are simulated" err || fail "says nothing of simulated data"
[ "$(stat -c %a two.html)" = 640 ] || fail "mode"
[ "$(grep -c '</script>' aclprof_report.html)" -eq 2 ] || fail "a name ends a script element"
mkdir golden
tar -xf "$src/tests/data/golden.tar.xz" -C golden
n=0
for prof in golden/*/PROF_*; do
    "$tool" report -o "golden$n.html" "$prof" >/dev/null 2>&1 || fail "report of $prof"
    n=$((n + 1))
done
[ $n -ge 5 ] || fail "few golden directories"

if [ -z "$browser" ]; then
    echo "no Chromium: the page is not looked at"
    [ $bad -eq 0 ] && exit 77
    exit 1
fi

# ---- the page ----

# page FILE HASH: its <body> element in $body, after what $tmp/steps.js says
page() {
    local steps=
    [ -f "$tmp/steps.js" ] && steps=$(cat "$tmp/steps.js")
    { cat "$1"; printf '<script>\n{\n%s\n}\n</script>\n' "$steps"; } >"$tmp/page.html"
    timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$tmp/profile" --window-size=1200,1000 --virtual-time-budget=5000 \
        --enable-logging=stderr --dump-dom "file://$tmp/page.html$2" >"$tmp/dom" 2>"$tmp/log"
    body=$(grep -o '<body[^>]*>' "$tmp/dom" | head -n 1)
    case $body in
    *data-ready=\"1\"*) ;;
    *) fail "$1$2 has not drawn: $body $(grep CONSOLE "$tmp/log" | head -n 3)" ;;
    esac
    case $body in
    *data-error* | *data-broken* | *data-wrong*) fail "$1$2: $body" ;;
    esac
    ! grep CONSOLE "$tmp/log" || fail "$1$2 has something on the console"
}
# value NAME: of the body's data-NAME
value() {
    printf '%s' "$body" | sed -n "s/.* data-$1=\"\([^\"]*\)\".*/\1/p"
}
least() {
    [ "$(value "$1")" -ge "$2" ] 2>/dev/null || fail "$1 is '$(value "$1")', not $2 at least"
}

page aclprof_report.html '#sum'
least events 360 # 60 rounds: two pushes, a mark, two tasks, their calls
least drawn 20
least tracks 4
[ "$(value selected)" = "$(value events)" ] || fail "all selected: $(value selected) of $(value events)"
grep -q 'MatMul' "$tmp/dom" || fail "no name of a task"
grep -q 'no NPU has recorded' "$tmp/dom" || fail "simulated data are not told"
page aclprof_report.html '#lang=zh'
grep -q 'lang="zh-CN"' "$tmp/dom" && grep -q '时间线' "$tmp/dom" || fail "no Chinese"

cat >"$tmp/steps.js" <<'JS'
// Keys and pointer as a person uses them; what is wrong ends up at the body.
const wrong = [];
const check = (what, right) => { if (!right) wrong.push(what); };
const key = (k, target) => (target || document.body).dispatchEvent(
  new KeyboardEvent('keydown', { key: k, bubbles: true, cancelable: true }));
const pointer = (type, x, y, more) => {
  const box = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new PointerEvent(type, Object.assign({ pointerId: 1, bubbles: true, cancelable: true,
    clientX: box.left + x, clientY: box.top + y, button: 0, pointerType: 'mouse' }, more)));
};
canvas.setPointerCapture = () => {}; // there is no real pointer
const span = () => view.to - view.from;
const all = span();
key('w');
check('w zooms in', span() < all * 0.8);
const before = view.from;
key('d');
check('d pans', view.from > before);
key('0');
check('0 shows all', Math.abs(span() - all) < 1);
canvas.focus();
key('ArrowRight', canvas);
key('0');

// search: each kernel once a round, and its name button leads to it
key('/');
check('/ goes to the search', document.activeElement === $('search'));
$('search').value = 'matmul';
key('Enter', $('search'));
const tasks = view.matches.list.filter((m) => m.track.kind === 'tasks').length;
check('MatMul is found 60 times, not ' + tasks, tasks === 60);
check('Enter picks', view.picked !== null && span() < all);
$('search').blur();
const first = view.picked.index;
key('n');
check('n goes on', view.picked.index !== first || view.picked.track !== view.matches.list[0].track);
key('Escape');
check('Escape clears', view.picked === null && view.matches === null && $('search').value === '');

// a task knows its launch
const track = TRACKS.find((t) => t.kind === 'tasks');
goTo(track, 5, 0);
const launch = launchOf(track, 5);
check('a task has its launch', launch !== null && launch.wait > -1e6);
check('the thread of the launch', launch !== null && launch.thread === DATA.runs[0].pid);
check('tasks that wait', TRACKS.some((t) => t.kind === 'waiting' && t.max >= 1));
check('the details tell it', $('selection').textContent.includes('launched'));
draw();

// a drag in one track sums that track
key('0');
draw();
const row = view.rows.find((r) => r.track && r.track.kind === 'ranges');
pointer('pointerdown', view.label + 1, row.y + 5);
pointer('pointermove', view.width - 1, row.y + 9);
pointer('pointerup', view.width - 1, row.y + 9);
check('a drag selects a track', view.selection !== null && view.selection.tracks.size === 1);
const summed = view.selection ? sums() : [];
check('its names', summed.map((r) => NAMES[r.name]).slice(0, 2).join() === 'step,prepare');
check('its counts', summed.every((r) => r.count <= 60 && r.count >= 58));
key('Escape');

// a click picks what lies there, a double click fits it
pick(null);
goTo(row.track, 0, 0);
const item = finest(row.track);
view.picked = null;
draw();
pointer('pointermove', xOf(item.start[0] + item.length[0] / 2), row.y + 5);
check('a tip', !$('tip').hidden && $('tip').textContent.includes('step'));
pointer('pointerdown', xOf(item.start[0] + item.length[0] / 2), row.y + 5);
pointer('pointerup', xOf(item.start[0] + item.length[0] / 2), row.y + 5);
check('a click picks', view.picked !== null && view.picked.index === 0 && view.picked.track === row.track);
key('f');
check('f fits', Math.abs(span() - Math.max(SHORTEST, item.length[0]) * 1.2) < 2);
key('.');
check('. steps on', view.picked.index === 1);

// folding, language, help
layRows();
const rows = view.rows.length;
pointer('pointerdown', 10, view.rows[0].y + 5 - $('view').scrollTop);
pointer('pointerup', 10, view.rows[0].y + 5 - $('view').scrollTop);
layRows();
check('a click on a heading folds', view.rows.length < rows);
$('language').click();
check('the language changes', $('search').placeholder.includes('搜索'));
$('language').click();
key('?');
check('help opens', $('help').open);
$('help').close();
check('nothing runs that a name holds', document.body.dataset.broken === undefined);
check('the name is there as a text', NAMES.some((n) => n.includes('</scr' + 'ipt><scr' + 'ipt>')));
draw();
if (wrong.length > 0) document.body.dataset.wrong = wrong.join('; ');
else document.body.dataset.steps = 'done';
JS
page aclprof_report.html ''
[ "$(value steps)" = done ] || fail "the steps have not been done: $body"

# MatMul is slower, Add is not
cat >"$tmp/steps.js" <<'JS'
const of = (name) => PAIRS.tasks.find((r) => NAMES[r.name] === name);
document.body.dataset.matmul = of('MatMul').verdict;
document.body.dataset.change = Math.round(of('MatMul').perCall);
document.body.dataset.add = Math.abs(of('Add').perCall) < 5;
document.body.dataset.flame = flame.key === 'ddevice' || (flame.key = 'ddevice', renderFlame(), true)
  ? [...$('flame').querySelectorAll('button')].some((b) => /MatMul.*in A.*\+5\d/.test(b.title)) : '';
document.body.dataset.top = changedRows('slower').some((r) => NAMES[r.name] === 'MatMul');
JS
page two.html '#sum'
[ "$(value runs)" = 2 ] || fail "not two runs"
[ "$(value matmul)" = slower ] || fail "MatMul is $(value matmul)"
[ "$(value change)" -ge 45 ] && [ "$(value change)" -le 65 ] || fail "MatMul by $(value change) %"
[ "$(value add)" = true ] || fail "Add has changed"
[ "$(value flame)" = true ] || fail "the flame does not tell the change"
[ "$(value top)" = true ] || fail "MatMul is not among what became slower"

rm "$tmp/steps.js"
for file in golden*.html; do
    page "$file" '#sum'
done

[ $bad -eq 0 ] && echo "all as it should be"
exit $bad
