// SPDX-License-Identifier: Apache-2.0

// What lies below the timeline: hot names or differences, flames, losses and cost.
const KINDS = ['tasks', 'comm', 'calls', 'ranges'];
const FIRST_ROWS = 20;
const tables = { kind: null, sort: null, down: true, all: false, filter: '' };

const kindsThere = () => KINDS.filter((k) => (COMPARED ? DATA.compare[k].length > 0
  : DATA.runs[0].tables[k].rows.length > 0));

function chip(name) {
  return element('span', { class: 'chip', style: 'background:' + colourOf(name), 'aria-hidden': 'true' });
}

// A name that leads to its events in the timeline.
function nameButton(name) {
  return element('button', { type: 'button', class: 'name', title: NAMES[name] + ' — ' + word('findIt'),
    onclick: () => {
      $('search').value = NAMES[name];
      search(NAMES[name], true);
      nextMatch(1);
      $('timelineSection').scrollIntoView({ block: 'start', behavior: 'smooth' });
    } }, NAMES[name] || '—');
}

function tabs(box, keys, label, chosen, choose) {
  box.hidden = keys.length < 2;
  box.replaceChildren(...keys.map((key, i) => element('button', {
    type: 'button', role: 'tab', 'aria-selected': String(key === chosen), tabindex: key === chosen ? 0 : -1,
    onclick: () => choose(key),
    onkeydown: (event) => {
      const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      if (by === 0) return;
      event.preventDefault();
      choose(keys[(i + by + keys.length) % keys.length]);
      box.querySelector('[aria-selected="true"]').focus();
    },
  }, label(key))));
}

// ---- the table of one kind ----

// Columns: key, word, value to sort by, cell.
function hotColumns(kind) {
  const all = DATA.runs[0].tables[kind].total;
  const cell = (index) => (r) => time(r[index]);
  return [
    ['name', (r) => NAMES[r[0]], (r) => [chip(r[0]), nameButton(r[0])]],
    ['count', (r) => r[1], (r) => number(r[1])],
    ['total', (r) => r[2], cell(2)],
    ['share', (r) => r[2], (r) => shareOf(r[2], all)],
    ['average', (r) => r[2] / r[1], (r) => time(r[2] / r[1])],
    ['least', (r) => r[3], cell(3)],
    ['median', (r) => r[4], cell(4)],
    ['p99', (r) => r[5], cell(5)],
    ['most', (r) => r[6], cell(6)],
  ];
}

function shareOf(value, all) {
  const part = all > 0 ? value / all * 100 : 0;
  return [part.toFixed(1) + ' %', element('span', { class: 'share', 'aria-hidden': 'true' },
    element('i', { style: 'width:' + part.toFixed(2) + '%' }))];
}

// A row of a comparison with names: see ap__pair_out.
function pair(row, kind) {
  const [name, countA, totalA, meanA, medianA, countB, totalB, meanB, medianB, low, high, p, q, rank] = row;
  const r = { kind, name, countA, totalA, meanA, medianA, countB, totalB, meanB, medianB, low, high, p, q,
    rank, change: totalB - totalA, perCall: meanA > 0 ? (meanB - meanA) / meanA * 100 : null };
  r.verdict = countA === 0 ? 'onlyB' : countB === 0 ? 'onlyA' : q === null ? 'few'
    : q >= 0.05 ? 'unsure' : meanB > meanA ? 'slower' : 'faster';
  // The mean has moved much more than the median: it was a few calls, not all.
  r.middle = medianA > 0 ? (medianB - medianA) / medianA * 100 : null;
  r.tail = r.middle !== null && r.perCall !== null && Math.abs(r.perCall) > 4 * Math.abs(r.middle);
  r.effect = (meanB - meanA) * countB; // what the change of a call has added to B
  return r;
}

const PAIRS = {};
if (COMPARED) for (const kind of KINDS) PAIRS[kind] = DATA.compare[kind].map((row) => pair(row, kind));

const signed = (text, value) => (value > 0 ? '+' : value < 0 ? '−' : '') + text.replace('-', '');
const signedTime = (ns) => signed(time(Math.abs(ns)), ns);
const percent = (v) => (v === null || !Number.isFinite(v) ? '—'
  : signed((Math.abs(v) >= 100 ? Math.abs(v).toFixed(0) : Math.abs(v).toFixed(1)) + ' %', v));
const chance = (p) => (p === null ? '—' : p < 0.0001 ? '< 0.0001' : p.toFixed(4));

function verdictCell(r) {
  const sign = { slower: '▲ ', faster: '▼ ', onlyA: '− ', onlyB: '+ ' }[r.verdict] || '';
  return element('span', { class: r.verdict === 'slower' || r.verdict === 'faster' ? r.verdict : 'unsure' },
    sign + word(r.verdict));
}

function diffBar(value, most, weak) {
  const part = most > 0 ? Math.abs(value) / most * 50 : 0;
  return element('span', { class: 'diff', 'aria-hidden': 'true' }, element('i', {
    class: (value >= 0 ? 'up' : 'down') + (weak ? ' weak' : ''), style: 'width:' + part.toFixed(1) + '%' }));
}

function compareColumns(kind) {
  const most = PAIRS[kind].reduce((a, r) => Math.max(a, Math.abs(r.change)), 0);
  const ab = (a, b, text) => text(a) + ' → ' + text(b);
  const none = (r, side, text) => (r['count' + side] === 0 ? '—' : text);
  return [
    ['name', (r) => NAMES[r.name], (r) => [chip(r.name), nameButton(r.name)]],
    ['verdict', (r) => r.verdict, (r) => verdictCell(r)],
    ['change', (r) => (r.perCall === null ? -Infinity : r.perCall), (r) => (r.countA && r.countB
      ? percent(r.perCall) : '—')],
    ['perCallAB', (r) => r.meanB - r.meanA, (r) => none(r, 'A', time(r.meanA)) + ' → ' + none(r, 'B', time(r.meanB))],
    ['interval', (r) => (r.low === null ? -Infinity : r.low), (r) => (r.low === null ? '—'
      : signedTime(r.low) + ' … ' + signedTime(r.high))],
    ['medians', (r) => r.medianB - r.medianA, (r) => none(r, 'A', time(r.medianA)) + ' → ' + none(r, 'B', time(r.medianB))],
    ['q', (r) => (r.q === null ? 2 : r.q), (r) => chance(r.q)],
    ['rank', (r) => (r.rank === null ? 2 : r.rank), (r) => chance(r.rank)],
    ['counts', (r) => r.countB - r.countA, (r) => (r.countA === r.countB ? number(r.countA)
      : ab(r.countA, r.countB, number))],
    ['totalChange', (r) => Math.abs(r.change), (r) => [signedTime(r.change),
      diffBar(r.change, most, r.verdict !== 'slower' && r.verdict !== 'faster')]],
  ];
}

function renderTable() {
  const kinds = kindsThere();
  if (!kinds.includes(tables.kind)) tables.kind = kinds[0];
  const kind = tables.kind;
  $('tables').hidden = kind === undefined;
  if (kind === undefined) return;
  const columns = COMPARED ? compareColumns(kind) : hotColumns(kind);
  const by = columns.find((c) => c[0] === tables.sort) || columns.find((c) =>
    c[0] === (COMPARED ? 'totalChange' : 'total'));
  const wanted = tables.filter.toLowerCase();
  const nameOf = (r) => NAMES[COMPARED ? r.name : r[0]];
  const rows = (COMPARED ? PAIRS[kind] : DATA.runs[0].tables[kind].rows)
    .filter((r) => wanted === '' || nameOf(r).toLowerCase().includes(wanted));
  const sorted = rows.map((r) => [by[1](r), r]).sort((a, b) => {
    const order = typeof a[0] === 'string' ? a[0].localeCompare(b[0]) : a[0] - b[0];
    return tables.down ? -order : order;
  }).map((pairOf) => pairOf[1]);
  const shown = tables.all ? sorted : sorted.slice(0, FIRST_ROWS);
  const head = element('tr', null, ...columns.map((c) => element('th', { scope: 'col',
    'aria-sort': c === by ? (tables.down ? 'descending' : 'ascending') : null },
  element('button', { type: 'button', onclick: () => {
    tables.down = c === by ? !tables.down : c[0] !== 'name';
    tables.sort = c[0];
    renderTable();
    $('tables').querySelector('th[aria-sort] button').focus();
  } }, word(c[0]) + (c === by ? (tables.down ? ' ↓' : ' ↑') : '')))));
  const body = shown.map((r) => element('tr', null, ...columns.map((c, i) => {
    const cell = c[2](r);
    return element(i === 0 ? 'th' : 'td', i === 0 ? { scope: 'row' } : null,
      ...(Array.isArray(cell) ? cell : [cell]));
  })));
  $('tableBody').replaceChildren(element('table', null, element('thead', null, head),
    element('tbody', null, ...body)));
  const left = sorted.length - shown.length;
  const unseen = COMPARED ? 0 : DATA.runs[0].tables[kind].names - DATA.runs[0].tables[kind].rows.length;
  $('tableMore').replaceChildren(...[
    left > 0 ? element('button', { type: 'button', class: 'more', onclick: () => {
      tables.all = true;
      renderTable();
    } }, word('showAll', { n: number(left) })) : null,
    unseen > 0 && left === 0 ? element('p', { class: 'note' }, word('more', { n: number(unseen) })) : null,
    COMPARED ? element('p', { class: 'note' }, word('compareNote')) : null].filter((e) => e !== null));
  tabs($('tableTabs'), kinds, (k) => word(k), kind, (k) => {
    tables.kind = k;
    tables.all = false;
    renderTable();
  });
}

function renderTables() {
  $('tables').replaceChildren(
    element('div', { class: 'bar' }, element('h2', null, word(COMPARED ? 'comparison' : 'hot')),
      element('div', { id: 'tableTabs', class: 'tabs', role: 'tablist' }),
      element('input', { type: 'search', id: 'filter', value: tables.filter, placeholder: word('filter'),
        'aria-label': word('filter'), oninput: (event) => {
          tables.filter = event.target.value;
          renderTable();
        } })),
    element('div', { id: 'tableBody', class: 'scroll', role: 'tabpanel', tabindex: '0',
      'aria-label': word(COMPARED ? 'comparison' : 'hot') }),
    element('div', { id: 'tableMore' }));
  renderTable();
}

// ---- what became slower, at one look ----

function changedList(title, rows, kind, none) {
  const most = rows.reduce((a, r) => Math.max(a, Math.abs(r.effect)), 0);
  return element('div', { class: 'changed' },
    element('h3', { class: kind }, (kind === 'slower' ? '▲ ' : '▼ ') + title),
    rows.length === 0 ? element('p', { class: 'note' }, none)
      : element('ol', null, ...rows.slice(0, 7).map((r) => element('li', null,
        element('div', { class: 'changedName' }, chip(r.name), nameButton(r.name),
          element('span', { class: 'note' }, word(r.kind))),
        element('span', { class: kind + ' big' }, percent(r.perCall)),
        element('span', { class: 'changedBar', 'aria-hidden': 'true' }, element('i', {
          class: kind, style: 'width:' + (most > 0 ? Math.abs(r.effect) / most * 100 : 0).toFixed(1) + '%' })),
        element('span', { class: 'note' }, word('perCallShort', { a: time(r.meanA), b: time(r.meanB),
          t: signedTime(r.effect) })),
        r.tail ? element('span', { class: 'note tail' }, word('tail', { p: percent(r.middle) })) : null))),
    rows.length > 7 ? element('p', { class: 'note' }, word('andMore', { n: rows.length - 7 })) : null);
}

// Where all calls have changed, then where a few have.
function changedRows(verdict) {
  return KINDS.flatMap((k) => PAIRS[k]).filter((r) => r.verdict === verdict)
    .sort((a, b) => a.tail - b.tail || Math.abs(b.effect) - Math.abs(a.effect));
}

function renderCompareTop() {
  if (!COMPARED) return;
  $('compareTop').hidden = false;
  $('compareTop').replaceChildren(element('div', { class: 'bar' }, element('h2', null, word('whatChanged')),
    element('p', { class: 'note' }, word('whatChangedNote'))),
  element('div', { class: 'changes' },
    changedList(word('slowerList'), changedRows('slower'), 'slower', word('nothingSlower')),
    changedList(word('fasterList'), changedRows('faster'), 'faster', word('nothingFaster'))));
}

// ---- flames ----

const flame = { key: null, root: -1 };
const NARROWEST = 0.12; // % of the width

// A run's number, or 'd' for the second against the first, and the flame's name.
function flameKeys() {
  const there = (i) => ['host', 'device'].filter((k) => DATA.runs[i].flames[k].length > 0);
  return [...(COMPARED ? there(1).map((k) => 'd' + k) : []), ...DATA.runs.flatMap((run, i) =>
    there(i).map((k) => i + k))];
}

function flameLabel(key) {
  const run = !COMPARED ? '' : (key[0] === 'd' ? word('flameDiff') : 'AB'[Number(key[0])]) + ' · ';
  return run + word(key.slice(1) === 'host' ? 'flameHost' : 'flameDevice');
}

// What the first run has of each chain of names, by the second's nodes.
function totalsOfA(kind, nodes) {
  const [a, totals] = [DATA.runs[0].flames[kind], []];
  const known = new Map(a.map(([parent, name], i) => [parent + ',' + name, i]));
  const twins = [];
  nodes.forEach((node, i) => {
    const parent = node.parent < 0 ? -1 : twins[node.parent];
    twins.push(parent === undefined ? undefined : known.get(parent + ',' + node.name));
    totals.push(twins[i] === undefined ? 0 : a[twins[i]][3]);
  });
  return totals;
}

// A bar of a comparison: colour by the change, from none to twice or nothing.
function changeColour(node) {
  const change = node.before > 0 ? (node.total - node.before) / node.before : 1;
  const part = Math.round(Math.min(1, Math.abs(change)) * 65);
  if (part < 2) return 'var(--lane)';
  const full = 'color-mix(in srgb, var(' + (change > 0 ? '--slow' : '--fast') + ') ' + part + '%, var(--lane))';
  return change > 0 ? full : 'repeating-linear-gradient(45deg,' + full + ' 0 6px,var(--lane) 6px 7px)';
}

function flameBar(node, name, all, x, y, width, choose) {
  const compared = node.before !== undefined;
  const colour = compared ? changeColour(node) : name === null ? 'var(--hover)' : colourOf(name);
  const change = compared && node.before > 0 ? (node.total - node.before) / node.before * 100 : null;
  const text = name === null ? word('all') : NAMES[name];
  const share = all > 0 ? (node.total / all * 100).toFixed(1) + ' %' : '';
  const label = text + ' — ' + time(node.total) + ', ' + share + ', ' + number(node.count) + '×, '
    + word('self') + ' ' + time(node.self)
    + (compared ? ', ' + word('wasA', { t: time(node.before) }) + ' (' + percent(change) + ')' : '');
  return element('button', { type: 'button', title: label, 'aria-label': label, onclick: choose,
    style: 'left:' + x.toFixed(3) + '%;width:' + width.toFixed(3) + '%;top:' + y * 22 + 'px;background:'
      + colour + (name === null || compared ? ';color:var(--text)' : DARK_COLOURS.has(colour) ? ';color:#fff' : '') },
  width > 2.5 ? text + ' · ' + time(node.total) + (compared ? ' ' + (change > 0 ? '▲' : change < 0 ? '▼' : '')
    + percent(change) : '') : '');
}

function renderFlame() {
  const keys = flameKeys();
  $('flameSection').hidden = keys.length === 0;
  if (keys.length === 0) return;
  if (!keys.includes(flame.key)) flame.key = keys[0];
  const flames = DATA.runs[flame.key[0] === 'd' ? 1 : Number(flame.key[0])].flames;
  const list = flames[flame.key.slice(1)];
  const nodes = list.map(([parent, name, count, total, self], index) =>
    ({ parent, name, count, total, self, index, children: [] }));
  const top = { parent: -2, index: -1, count: 0, total: flames[flame.key.slice(1) + 'Total'], self: 0,
    children: [] };
  if (flame.key[0] === 'd') {
    totalsOfA(flame.key.slice(1), nodes).forEach((total, i) => { nodes[i].before = total; });
    top.before = DATA.runs[0].flames[flame.key.slice(1) + 'Total'];
  }
  $('flameNote').textContent = word(flame.key[0] === 'd' ? 'flameDiffNote' : 'flameNote');
  for (const node of nodes) {
    const parent = node.parent < 0 ? top : nodes[node.parent];
    parent.children.push(node);
    if (parent === top) top.count += node.count;
  }
  const nodeAt = (index) => (index < 0 ? top : nodes[index]);
  const root = nodeAt(flame.root);
  const bars = [];
  let deepest = 0;
  const choose = (index) => () => {
    flame.root = index === flame.root ? nodeAt(index).parent : index;
    if (flame.root < -1) flame.root = -1;
    renderFlame();
  };
  const chain = []; // of what has been gone into
  for (let n = root; n !== top && n.parent >= -1;) {
    n = nodeAt(n.parent);
    chain.unshift(n);
    if (n === top) break;
  }
  chain.forEach((n, y) => bars.push(flameBar(n, n === top ? null : n.name, top.total, 0, y, 100, choose(n.index))));
  const add = (node, x, y, width) => {
    if (bars.length > 1500) return;
    deepest = Math.max(deepest, y);
    bars.push(flameBar(node, node === top ? null : node.name, top.total, x, y, width, choose(node.index)));
    let at = x;
    let others = node.total - node.self; // in children that are too narrow, or not in the file
    for (const child of node.children.sort((a, b) => b.total - a.total)) {
      const part = node.total > 0 ? child.total / node.total * width : 0;
      if (part < NARROWEST) break;
      add(child, at, y + 1, part);
      at += part;
      others -= child.total;
    }
    const rest = node.total > 0 ? others / node.total * width : 0;
    if (rest >= NARROWEST) {
      deepest = Math.max(deepest, y + 1);
      bars.push(element('span', { class: 'others', title: word('others') + ' — ' + time(others),
        style: 'left:' + at.toFixed(3) + '%;width:' + rest.toFixed(3) + '%;top:' + (y + 1) * 22 + 'px' },
      rest > 6 ? word('others') + ' · ' + time(others) : ''));
    }
  };
  add(root, 0, chain.length, 100);
  $('flame').replaceChildren(...bars);
  $('flame').style.height = (deepest + 1) * 22 + 'px';
  tabs($('flameTabs'), keys, flameLabel, flame.key, (key) => {
    flame.key = key;
    flame.root = -1;
    renderFlame();
  });
}

// ---- losses and cost ----

function lossOf(run, index) {
  const a = run.account;
  const rows = [];
  const add = (label, value) => rows.push(element('tr', null, element('th', { scope: 'row' }, label),
    element('td', null, value)));
  const title = COMPARED ? element('h3', null, word('run') + ' ' + 'AB'[index]) : null;
  if (a === null) {
    return element('div', null, title, element('p', { class: 'note' }, word('noAccount')));
  }
  const part = a.emitted > 0 ? a.lost / a.emitted * 100 : 0;
  add(word('emitted'), number(a.emitted));
  add(word('written'), number(a.written));
  add(word('lostWord'), number(a.lost) + (a.lost > 0 ? ' (' + part.toPrecision(2) + ' %)' : ''));
  a.causes.forEach((n, i) => { if (n > 0) add('· ' + word('cause' + i), number(n)); });
  if (a.cut > 0) add(word('cut'), number(a.cut));
  if (a.open > 0) add(word('open'), number(a.open));
  const cost = [];
  const addCost = (label, value) => cost.push(element('tr', null, element('th', { scope: 'row' }, label),
    element('td', null, value)));
  addCost(word('callCost'), time(a.callNs));
  addCost(word('perStamp'), a.emitted > 0 ? time(a.callNs / a.emitted) : '—');
  addCost(word('writerCost'), time(a.writerNs));
  addCost(word('bytes'), bytes(a.bytes));
  addCost(word('recordingThreads'), number(a.threads));
  return element('div', null, title,
    element('div', { class: 'lossBar', role: 'img', 'aria-label': word('lostWord') + ' ' + part.toFixed(2) + ' %' },
      element('i', { style: 'width:' + (100 - part) + '%' }),
      element('i', { class: 'lost', style: 'width:' + part + '%' })),
    element('div', { class: 'losses' },
      element('table', null, element('tbody', null, ...rows)),
      element('table', null, element('tbody', null, ...cost))));
}

function renderLosses() {
  const notes = DATA.runs.flatMap((run) => run.notes);
  $('losses').replaceChildren(element('div', { class: 'bar' }, element('h2', null, word('losses'))),
    element('div', { class: COMPARED ? 'losses' : '' }, ...DATA.runs.map(lossOf)),
    ...(notes.length > 0 ? [element('details', null, element('summary', null,
      word('notes') + ' (' + notes.length + ')'), element('ul', null,
      ...notes.map((n) => element('li', null, n))))] : []));
}
