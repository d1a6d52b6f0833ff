// SPDX-License-Identifier: Apache-2.0

// The page around it: header, tiles, details of a selection, keys, language.
function when(us) {
  if (us === 0) return null;
  const d = new Date(us / 1000);
  return d.toLocaleString(language === 1 ? 'zh-CN' : 'en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
}

const CHIPS = { 0: '310', 1: '910', 2: '310P', 5: '910B', 7: '310B', 15: '950' };

function devicesOf(run) {
  if (run.devices.length === 0) return word('noDevice');
  const chips = [...new Set(run.devices.map((d) => CHIPS[d.chip] || '#' + d.chip))].join(', ');
  return run.devices.length + ' × Ascend ' + chips + (run.simulated ? ' (' + word('simulatedShort') + ')' : '');
}

function factsOf(run, index) {
  const facts = [[null, run.host], [word('process'), run.pid], [null, when(run.begin)],
    [word('duration'), time(run.span)], [null, devicesOf(run)],
    [null, run.cann ? 'CANN ' + run.cann : ''], [null, run.state === 'finished' ? '' : word(run.state)],
    [null, run.path]];
  const line = element('p', { class: 'facts' });
  if (COMPARED) line.append(element('b', { class: 'run' }, 'AB'[index]), ' ', element('b', null, run.process), ' · ');
  facts.filter((f) => f[1]).forEach(([label, value], i) => {
    line.append(i > 0 ? ' · ' : '', label ? label + ' ' : '', String(value));
  });
  return line;
}

function renderHeader() {
  const names = [...new Set(DATA.runs.map((r) => r.process || r.path))];
  $('title').textContent = COMPARED ? word('comparisonOf', { a: names.join(' / ') }) : names[0];
  document.title = $('title').textContent + ' — aclprof';
  $('facts').replaceChildren(...DATA.runs.map(factsOf));
  const warnings = [];
  if (DATA.runs.some((r) => r.simulated)) warnings.push(word('simulated'));
  if (DATA.runs.some((r) => r.state === 'unfinished' || r.state === 'running')) warnings.push(word('unfinishedNote'));
  if (TRACKS.some((t) => t.levels && t.levels[0].width > 0)) warnings.push(word('coarse'));
  $('warnings').replaceChildren(...warnings.map((w) => element('p', { class: 'warning' }, w)));
}

// ---- tiles ----

function busyOf(run) {
  const span = run.devices.reduce((a, d) => a + d.span, 0);
  return span > 0 ? run.devices.reduce((a, d) => a + d.busy, 0) / span * 100 : null;
}

function bytes(n) {
  const unit = n < 1e4 ? [1, 'B'] : n < 1e6 ? [1e3, 'kB'] : n < 1e9 ? [1e6, 'MB'] : [1e9, 'GB'];
  return (n / unit[0]).toFixed(unit[0] === 1 ? 0 : 1) + ' ' + unit[1];
}

function tile(label, values, text, small, bad) {
  const known = values.map((v) => (v === null ? '—' : text(v)));
  const same = known.every((k) => k === known[0]);
  return element('div', { class: 'tile' + (bad ? ' bad' : '') + (same ? '' : ' two') }, element('span', null, label),
    element('b', null, same ? known[0] : known.join(' → ')),
    element('i', null, COMPARED && !same && values[0] > 0 && values[1] !== null
      ? percent((values[1] - values[0]) / values[0] * 100) : small || ' '));
}

function renderTiles() {
  const of = (get) => DATA.runs.map(get);
  const run = DATA.runs[0];
  const list = [
    tile(word('duration'), of((r) => r.span), time, when(run.begin)),
    tile(word('events'), of((r) => r.events), number, word('marksOf', { n: number(run.marks) })),
  ];
  if (DATA.runs.some((r) => r.devices.length > 0)) {
    const tasks = of((r) => r.devices.reduce((a, d) => a + d.tasks, 0));
    const hot = run.tables.tasks.rows[0];
    list.push(tile(word('tasksTile'), tasks, number, hot ? word('hottest', { n: NAMES[hot[0]],
      p: (hot[2] / run.tables.tasks.total * 100).toFixed(0) }) : ''));
    const gap = run.devices.reduce((a, d) => Math.max(a, d.gap), 0);
    list.push(tile(word('busy'), of(busyOf), (v) => v.toFixed(1) + ' %', word('longestGap') + ' ' + time(gap)));
  }
  const lost = of((r) => (r.account ? r.account.lost : null));
  list.push(tile(word('lost'), lost, number, run.account ? word('ofEmitted', { n: number(run.account.emitted) })
    : word('unknown'), lost.some((n) => n > 0)));
  list.push(tile(word('cost'), of((r) => (r.account ? r.account.callNs : null)), time, run.account
    ? word('perStampShort', { t: run.account.emitted > 0 ? time(run.account.callNs / run.account.emitted) : '—' })
    : word('unknown')));
  if (COMPARED) {
    const slower = changedRows('slower').length;
    list.unshift(tile(word('slowerCount'), [slower], number, word('ofNames',
      { n: number(KINDS.reduce((a, k) => a + PAIRS[k].length, 0)) }), slower > 0));
  }
  $('tiles').replaceChildren(...list);
}

// ---- details below the canvas ----

function pickedDetails(p) {
  const level = finest(p.track);
  const name = level.name[p.index];
  const [where, what] = trackLabel(p.track);
  const kind = tableOf(p.track.kind);
  const row = DATA.runs[p.track.run].tables[kind].rows.find((r) => r[0] === name);
  const facts = [level.length[p.index] === 0 ? word('mark') : time(level.length[p.index]),
    word('startsAt', { t: exact(level.start[p.index]) }), where + ', ' + what];
  if (kind === 'tasks' && TYPES.has(name)) facts.push(NAMES[TYPES.get(name)]);
  const launch = launchOf(p.track, p.index);
  if (launch) {
    facts.push(word(launch.wait < 0 ? 'launchedAbout' : 'launched',
      { t: time(Math.abs(launch.wait)), n: launch.thread }));
  }
  if (level.count !== null && level.count[p.index] > 1) facts.push(word('together', { n: number(level.count[p.index]) }));
  if (row && row[1] > 1) facts.push(word('usual', { n: number(row[1]), m: time(row[4]), p: time(row[5]) }));
  return element('p', { class: 'picked' }, chip(name), element('b', null, NAMES[name]), ' — ' + facts.join(' · '));
}

function selectionDetails(s, rows, count) {
  const list = rows.slice(0, 12).map((r) => element('tr', null,
    element('th', { scope: 'row' }, chip(r.name), nameButton(r.name)), element('td', null, word(r.kind)),
    element('td', null, number(r.count)), element('td', null, time(r.total)),
    element('td', null, time(r.total / r.count)), element('td', null, ...shareOf(r.total, s.to - s.from))));
  const head = ['name', 'kind', 'count', 'total', 'average', 'ofSelection'];
  return [element('p', { class: 'picked' }, element('b', null, word('selected', { t: time(s.to - s.from) })),
    ' — ' + word('selectedFrom', { a: exact(s.from), b: exact(s.to), n: number(count) }), ' ',
    element('button', { type: 'button', onclick: () => show(s.from, s.to) }, word('zoomHere'))),
  rows.length === 0 ? null : element('div', { class: 'scroll' }, element('table', null,
    element('thead', null, element('tr', null, ...head.map((h) => element('th', { scope: 'col' }, word(h))))),
    element('tbody', null, ...list))),
  rows.length > 12 ? element('p', { class: 'note' }, word('andMore', { n: number(rows.length - 12) })) : null,
  ].filter((e) => e !== null);
}

// Microseconds with all digits: what the axis is too coarse for.
function exact(ns) {
  return (ns / 1000).toLocaleString('en-US', { minimumFractionDigits: 3, maximumFractionDigits: 3 }) + ' µs';
}

function showDetails() {
  const box = $('selection');
  const rows = view.selection ? sums() : [];
  const count = rows.reduce((a, r) => a + r.count, 0);
  if (view.picked) box.replaceChildren(pickedDetails(view.picked));
  else if (view.selection) box.replaceChildren(...selectionDetails(view.selection, rows, count));
  else box.replaceChildren(element('p', { class: 'note' }, word('selectHint')));
  document.body.dataset.selected = view.selection ? String(count) : '';
}

// ---- keys ----

const KEYS = [
  ['W S · + −', 'keyZoom'], ['A D · ← →', 'keyPan'], ['↑ ↓', 'keyScroll'], ['0', 'keyAll'], ['/', 'keySearch'],
  ['N P', 'keyNext'], [', .', 'keyBeside'], ['F', 'keyFit'], ['V', 'keySum'], ['Esc', 'keyEsc'], ['?', 'keyHelp'],
  ['⇆', 'keyDrag'], ['⇧ ⇆', 'keyShiftDrag'], ['Ctrl + ⇅', 'keyWheel'], ['◉', 'keyClick'], ['▾', 'keyFold'],
];

function renderHelp() {
  $('help').replaceChildren(element('h2', null, word('help')), element('dl', null,
    ...KEYS.flatMap(([keys, what]) => [element('dt', null, ...keys.split(' · ').flatMap((k, i) => [
      i > 0 ? ' · ' : '', ...k.split(' ').map((one) => element('kbd', null, one))])),
    element('dd', null, word(what))])),
  element('button', { type: 'button', onclick: () => $('help').close() }, word('close')));
}

function fitPicked() {
  const p = view.picked;
  if (p) {
    const level = finest(p.track);
    const long = Math.max(level.length[p.index], SHORTEST);
    show(level.start[p.index] - long * 0.1, level.start[p.index] + long * 1.1);
  } else if (view.selection) {
    show(view.selection.from, view.selection.to);
  }
}

function sumVisible() {
  view.picked = null;
  select(Math.max(0, view.from), Math.min(SPAN, view.to), TRACKS);
  showDetails();
}

function clearAll() {
  view.picked = null;
  view.selection = null;
  $('search').value = '';
  search('');
  showDetails();
}

const ACTIONS = {
  w: () => zoom(0.7), s: () => zoom(1 / 0.7), '+': () => zoom(0.7), '=': () => zoom(0.7), '-': () => zoom(1 / 0.7),
  a: () => pan(-0.2), d: () => pan(0.2), 0: showAll, n: () => nextMatch(1), p: () => nextMatch(-1),
  ',': () => pickBeside(-1), '.': () => pickBeside(1), f: fitPicked, v: sumVisible, Escape: clearAll,
  '/': () => $('search').focus(), '?': () => $('help').showModal(),
};
const ON_CANVAS = {
  ArrowLeft: () => pan(-0.1), ArrowRight: () => pan(0.1),
  ArrowUp: () => $('view').scrollBy(0, -60), ArrowDown: () => $('view').scrollBy(0, 60), Home: showAll,
};

document.addEventListener('keydown', (event) => {
  const target = event.target;
  if ($('help').open || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
    if (target === $('search') && event.key === 'Enter') {
      if (view.searched !== target.value) search(target.value);
      nextMatch(event.shiftKey ? -1 : 1);
    }
    if (event.key === 'Escape') {
      if (target === $('search')) clearAll();
      target.blur();
    }
    return;
  }
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const action = ACTIONS[key] || (target === canvas ? ON_CANVAS[event.key] : undefined);
  if (action) {
    event.preventDefault();
    action();
  }
});

// ---- the whole ----

function renderWords() {
  document.documentElement.lang = language === 1 ? 'zh-CN' : 'en';
  for (const e of document.querySelectorAll('[data-word]')) e.textContent = word(e.dataset.word);
  for (const e of document.querySelectorAll('[data-title]')) {
    e.title = word(e.dataset.title);
    e.setAttribute('aria-label', word(e.dataset.title));
  }
  $('search').placeholder = word('search');
  $('search').setAttribute('aria-label', word('search'));
  $('canvas').setAttribute('aria-label', word('canvasLabel', { n: number(EVENTS), t: TRACKS.length }));
  $('tiles').setAttribute('aria-label', word('summary'));
  $('language').textContent = language === 1 ? 'English' : '中文';
  $('language').lang = language === 1 ? 'en' : 'zh-CN';
}

function render() {
  renderWords();
  renderHeader();
  renderTiles();
  renderCompareTop();
  renderTables();
  renderFlame();
  renderLosses();
  renderHelp();
  showDetails();
  showFound();
  redraw();
}

// What a link may ask for: #from=1.5&to=2 (ms), #search=name.
function readLink() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  if (wanted.has('from') && wanted.has('to')) {
    const [from, to] = [Number(wanted.get('from')) * 1e6, Number(wanted.get('to')) * 1e6];
    if (to > from) show(from, to);
  }
  if (wanted.has('search')) {
    $('search').value = wanted.get('search');
    search($('search').value);
  }
  if (wanted.has('sum')) sumVisible();
  if (wanted.has('help')) $('help').showModal();
}

$('language').addEventListener('click', () => {
  language = 1 - language;
  render();
});
$('helpButton').addEventListener('click', () => $('help').showModal());
$('zoomIn').addEventListener('click', () => zoom(0.6));
$('zoomOut').addEventListener('click', () => zoom(1 / 0.6));
$('zoomAll').addEventListener('click', showAll);
$('searchNext').addEventListener('click', () => nextMatch(1));
$('searchBack').addEventListener('click', () => nextMatch(-1));
let typing = 0;
$('search').addEventListener('input', () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    if (view.searched !== $('search').value) search($('search').value);
  }, 150);
});
window.addEventListener('resize', redraw);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  readTheme();
  redraw();
});

readTheme();
render();
readLink();
draw();
Object.assign(document.body.dataset, { ready: '1', events: EVENTS, tracks: TRACKS.length, runs: DATA.runs.length,
  names: NAMES.length, milliseconds: Math.round(performance.now()) });
