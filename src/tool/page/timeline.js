// SPDX-License-Identifier: Apache-2.0

// The canvas: an overview on top, an axis, then tracks. Times are ns since a run's first event.
const MAP = 34;   // px: overview
const AXIS = 22;
const TOP = MAP + AXIS;
const GROUP = 22; // a thread's or device's heading
const LANE = 17;
const CHART = 38;
const FOLDED = 14;
const SHORTEST = 100; // ns that can fill the view

const canvas = $('canvas');
const pen = canvas.getContext('2d');
const view = {
  from: 0, to: SPAN, width: 0, height: 0, label: 180, rows: [], tall: 0,
  picked: null,    // {track, index, lane} of the finest level
  selection: null, // {from, to, tracks: Set}
  matches: null,   // {list by start, of: lists by track, count, at}
  folded: new Set(), theme: {}, drawn: 0, due: false,
};
if (view.to < SHORTEST) view.to = SHORTEST;

const perPixel = () => (view.to - view.from) / Math.max(1, view.width - view.label);
const xOf = (t) => view.label + (t - view.from) / perPixel();
const timeAt = (x) => view.from + (x - view.label) * perPixel();
const finest = (track) => levelAt(track, 0);

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const key of ['card', 'text', 'soft', 'line', 'lane', 'accent', 'hover', 'back']) {
    view.theme[key] = style.getPropertyValue('--' + key).trim();
  }
  view.theme.font = '11px ' + getComputedStyle(document.body).fontFamily;
}

// ---- rows ----

function trackHeight(track) {
  if (track.folded) return FOLDED;
  if (track.points) return CHART;
  return track.lanes * laneHeight(track) + 6;
}

const laneHeight = (track) => (track.lanes > 24 ? 6 : track.lanes > 12 ? 11 : LANE);

function layRows() {
  let y = TOP;
  let group = null;
  view.rows = [];
  for (const track of TRACKS) {
    const [name, what] = trackLabel(track);
    if (name !== group) {
      group = name;
      view.rows.push({ y, height: GROUP, group: name });
      y += GROUP;
    }
    if (view.folded.has(name)) continue;
    const height = trackHeight(track);
    view.rows.push({ y, height, track, what });
    y += height;
  }
  view.tall = Math.max(y + 6, TOP + 60);
}

function size() {
  const frame = $('view');
  const most = Math.max(280, Math.min(window.innerHeight - 140, 900));
  const width = frame.clientWidth;
  const height = Math.min(view.tall, most);
  const scale = window.devicePixelRatio || 1;
  view.label = width < 620 ? 96 : 180;
  frame.style.maxHeight = height + 'px';
  $('room').style.height = view.tall - height + 'px';
  if (width !== view.width || height !== view.height || canvas.width !== Math.round(width * scale)) {
    view.width = width;
    view.height = height;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = height + 'px';
  }
  pen.setTransform(scale, 0, 0, scale, 0, 0);
}

// ---- drawing ----

function drawText(text, x, y, room, colour, bold) {
  pen.font = (bold ? '600 ' : '') + view.theme.font;
  let shown = text;
  if (pen.measureText(shown).width > room) {
    const letters = Math.floor(room / (pen.measureText(shown).width / shown.length)) - 1;
    if (letters < 2) return;
    shown = shown.slice(0, letters) + '…';
  }
  pen.fillStyle = colour;
  pen.fillText(shown, x, y);
}

// Short texts in blocks: no measuring, which is dear.
function drawName(text, x, y, room, colour) {
  const letters = Math.floor((room - 6) / 6.5);
  if (letters < 3) return;
  pen.fillStyle = colour;
  pen.fillText(text.length > letters ? text.slice(0, letters - 1) + '…' : text, x + 3, y);
}

// A block from x0, `wide` px long: whole pixels when it is short, so that neighbours leave no holes.
function span(x0, wide, least) {
  if (wide >= 3) return [Math.max(view.label, x0), Math.min(view.width, x0 + wide)];
  const left = Math.floor(x0);
  return [Math.max(view.label, left), Math.min(view.width, Math.max(left + least, Math.floor(x0 + wide)))];
}

function drawMark(x, y, high) {
  pen.beginPath();
  pen.moveTo(x, y + 1);
  pen.lineTo(x + 5, y + high / 2);
  pen.lineTo(x, y + high - 2);
  pen.lineTo(x - 5, y + high / 2);
  pen.fill();
}

function drawLane(track, level, lane, y, high) {
  const npp = perPixel();
  const dim = view.matches === null ? 1 : 0.22; // matches are drawn over it
  const end = level.first[lane + 1];
  const merged = level.count !== null;
  let last = -1; // pixel that has been filled by something short
  let colour = null;
  pen.globalAlpha = dim;
  for (let i = firstAfter(level, lane, view.from); i < end && level.start[i] <= view.to; i++) {
    const x0 = view.label + (level.start[i] - view.from) / npp;
    const wide = level.length[i] / npp;
    if (wide < 1) {
      const pixel = Math.floor(x0);
      if (pixel === last) continue;
      last = pixel;
    }
    const [left, right] = span(x0, wide, 1);
    if (right <= left) continue;
    const next = colourOf(level.name[i]);
    if (next !== colour) {
      colour = next;
      pen.fillStyle = colour;
    }
    const alpha = merged ? (0.35 + 0.65 * level.fill[i] / 100) * dim : dim;
    if (pen.globalAlpha !== alpha) pen.globalAlpha = alpha;
    view.drawn++;
    if (level.length[i] === 0 && high > 8) {
      drawMark(x0, y, high);
      continue;
    }
    const gap = right - left > 3 && wide >= 3 ? 0.6 : 0;
    pen.fillRect(left, y, right - left - gap, high - 1.5);
    if (right - left > 24 && high > 10) {
      const many = merged && level.count[i] > 1 ? ' ×' + level.count[i] : '';
      drawName(NAMES[level.name[i]] + many, left, y + high - 5.5, right - left,
        alpha < 0.5 ? view.theme.text : DARK_COLOURS.has(colour) ? '#fff' : '#14181c');
      colour = null;
    }
  }
  pen.globalAlpha = 1;
}

// The events that a search has found, each as it is, whatever the level below.
function drawMatches(track, yOf, high) {
  const level = finest(track);
  const npp = perPixel();
  const last = [];
  for (const hit of view.matches.of.get(track) || []) {
    const length = level.length[hit.index];
    if (hit.start > view.to || hit.start + length < view.from) continue;
    const x0 = xOf(hit.start);
    const [left, right] = span(x0, length / npp, 2);
    if (right <= left || last[hit.lane] >= right) continue;
    last[hit.lane] = right;
    const y = yOf(hit.lane);
    const colour = colourOf(level.name[hit.index]);
    pen.fillStyle = colour;
    if (length === 0 && high > 8) {
      drawMark(x0, y, high);
      continue;
    }
    pen.fillRect(left, y, right - left, high - 1.5);
    if (high > 8 && right - left > 5) {
      pen.strokeStyle = view.theme.text;
      pen.lineWidth = 1;
      pen.strokeRect(left + 0.5, y + 0.5, right - left - 1, high - 2.5);
      drawName(NAMES[level.name[hit.index]], left, y + high - 5.5, right - left,
        DARK_COLOURS.has(colour) ? '#fff' : '#14181c');
    }
  }
}

function drawChart(track, y, height) {
  const bottom = y + height - 4;
  const high = height - 10;
  const scale = high / Math.max(1, track.max);
  const points = track.points;
  pen.fillStyle = view.theme.accent;
  pen.globalAlpha = 0.28;
  const line = [];
  for (let i = 0; i < points.length; i++) {
    const from = xOf(points[i][0]);
    const to = xOf(i + 1 < points.length ? points[i + 1][0] : DATA.runs[track.run].span);
    if (to < view.label || from > view.width) continue;
    line.push([Math.max(view.label, from), bottom - points[i][1] * scale]);
    line.push([Math.min(view.width, to), bottom - points[i][1] * scale]);
  }
  if (line.length === 0) {
    pen.globalAlpha = 1;
    return;
  }
  pen.beginPath();
  pen.moveTo(line[0][0], bottom);
  line.forEach(([x, v]) => pen.lineTo(x, v));
  pen.lineTo(line[line.length - 1][0], bottom);
  pen.fill();
  pen.globalAlpha = 1;
  pen.strokeStyle = view.theme.accent;
  pen.lineWidth = 1.2;
  pen.beginPath();
  line.forEach(([x, v], i) => (i ? pen.lineTo(x, v) : pen.moveTo(x, v)));
  pen.stroke();
}

function drawRow(row, y) {
  if (row.group !== undefined) {
    pen.fillStyle = view.theme.back;
    pen.fillRect(0, y, view.width, row.height);
    drawText((view.folded.has(row.group) ? '▸ ' : '▾ ') + row.group, 8, y + 15, view.width - 16,
      view.theme.text, true);
    return;
  }
  const track = row.track;
  pen.fillStyle = view.theme.lane;
  pen.fillRect(view.label, y, view.width - view.label, row.height - 3);
  pen.save();
  pen.beginPath();
  pen.rect(view.label, y, view.width - view.label, row.height);
  pen.clip();
  pen.font = view.theme.font;
  if (track.points) {
    if (!track.folded) drawChart(track, y, row.height);
  } else {
    const level = levelFor(track, perPixel());
    const high = track.folded ? 9 : laneHeight(track);
    const yOf = (lane) => y + 1 + (track.folded ? 0 : lane * high);
    for (let lane = 0; lane < track.lanes; lane++) drawLane(track, level, lane, yOf(lane), high);
    if (view.matches) drawMatches(track, yOf, high);
  }
  pen.restore();
  const middle = y + Math.min(row.height / 2 + 3, 16);
  drawText(row.what, 14, middle, view.label - 22, view.theme.soft);
  if (track.points && !track.folded) {
    drawText(number(track.max) + track.unit, 14, y + row.height - 6, view.label - 22,
      view.theme.soft);
  }
}

// 1, 2 or 5 times a power of ten, at least `least`.
function step(least) {
  const power = Math.pow(10, Math.floor(Math.log10(least)));
  for (const factor of [1, 2, 5]) if (power * factor >= least) return power * factor;
  return power * 10;
}

function axisLabel(t, by) {
  const unit = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']].find((u) => view.to >= u[0] && by >= u[0] / 1000)
    || [1, 'ns'];
  return Number((t / unit[0]).toFixed(3)).toLocaleString('en-US') + ' ' + unit[1];
}

function drawAxis() {
  const by = step((view.to - view.from) / Math.max(2, (view.width - view.label) / 110));
  pen.fillStyle = view.theme.card;
  pen.fillRect(0, 0, view.width, TOP);
  pen.strokeStyle = view.theme.line;
  pen.lineWidth = 1;
  for (let t = Math.ceil(view.from / by) * by; t <= view.to; t += by) {
    const x = Math.round(xOf(t)) + 0.5;
    if (x < view.label) continue;
    pen.beginPath();
    pen.moveTo(x, MAP + 4);
    pen.lineTo(x, TOP);
    pen.stroke();
    if (x < view.width - 30) {
      drawText(axisLabel(t, by), x + 4, TOP - 7, 104, view.theme.soft);
    }
  }
  pen.beginPath();
  pen.moveTo(0, TOP - 0.5);
  pen.lineTo(view.width, TOP - 0.5);
  pen.stroke();
}

// How much of each part of the run something was going on, of the deepest tracks that are there.
const overview = (() => {
  const parts = 800;
  const sums = new Float32Array(parts);
  const kinds = TRACKS.some((t) => t.kind === 'tasks') ? ['tasks'] : ['calls', 'ranges', 'spans'];
  for (const track of TRACKS.filter((t) => kinds.includes(t.kind))) {
    const level = levelFor(track, SPAN / parts);
    for (let i = 0; i < level.first[1]; i++) { // its first lane
      const fill = level.fill ? level.fill[i] / 100 : 1;
      let part = Math.floor(level.start[i] / SPAN * parts);
      const to = (level.start[i] + level.length[i]) / SPAN * parts;
      if (level.length[i] === 0 && part < parts) sums[part] += 0.02;
      for (; part < to && part < parts; part++) {
        sums[part] += fill * (Math.min(to, part + 1) - Math.max(level.start[i] / SPAN * parts, part));
      }
    }
  }
  const most = sums.reduce((a, b) => Math.max(a, b), 0);
  return most > 0 ? sums.map((v) => v / most) : sums;
})();

const mapX = (t) => view.label + t / SPAN * (view.width - view.label);

function drawMap() {
  const wide = view.width - view.label;
  const high = MAP - 8;
  pen.fillStyle = view.theme.lane;
  pen.fillRect(view.label, 2, wide, high + 2);
  pen.fillStyle = view.theme.soft;
  pen.globalAlpha = 0.55;
  overview.forEach((v, i) => {
    if (v > 0) {
      pen.fillRect(view.label + i * wide / overview.length, 4 + high * (1 - v),
        wide / overview.length + 0.3, high * v);
    }
  });
  pen.globalAlpha = 1;
  if (view.matches) {
    pen.fillStyle = '#d55e00';
    let last = -1;
    for (const hit of view.matches.list) {
      const x = Math.floor(mapX(hit.start));
      if (x !== last) pen.fillRect(x, 2, 1.5, 5);
      last = x;
    }
  }
  const from = mapX(Math.max(0, view.from));
  const to = mapX(Math.min(SPAN, view.to));
  pen.globalAlpha = 0.6;
  pen.fillStyle = view.theme.card;
  pen.fillRect(view.label, 2, from - view.label, high + 2);
  pen.fillRect(to, 2, view.width - to, high + 2);
  pen.globalAlpha = 1;
  pen.strokeStyle = view.theme.accent;
  pen.lineWidth = 1.5;
  pen.strokeRect(from, 2, Math.max(3, to - from - 0.75), high + 2);
  drawText(word('overview'), 8, 21, view.label - 16, view.theme.soft);
}

// The mark around what is picked.
function drawPicked(scroll) {
  const p = view.picked;
  const row = p && view.rows.find((r) => r.track === p.track);
  if (!row) return;
  const level = finest(p.track);
  const high = p.track.folded ? 9 : laneHeight(p.track);
  const x = Math.max(view.label, xOf(level.start[p.index]));
  const end = Math.min(view.width, xOf(level.start[p.index] + level.length[p.index]));
  if (end < view.label || x > view.width) return;
  pen.strokeStyle = view.theme.text;
  pen.lineWidth = 2;
  pen.strokeRect(x - 1, row.y - scroll + (p.track.folded ? 0 : p.lane * high), Math.max(3, end - x + 2),
    high + 0.5);
}

// From the launch of the picked task to the task.
function drawLaunch(scroll) {
  const p = view.picked;
  const launch = p && launchOf(p.track, p.index);
  const to = launch && view.rows.find((r) => r.track === p.track);
  const from = launch && (view.rows.find((r) => r.track && r.track.run === p.track.run && r.track.kind === 'calls'
    && r.track.id === launch.thread) || view.rows.find((r) => r.track && r.track.run === p.track.run
    && r.track.kind === 'ranges' && r.track.id === launch.thread));
  if (!from || !to) return;
  const start = finest(p.track).start[p.index];
  const [x0, x1] = [xOf(start - launch.wait), xOf(start)];
  const y0 = from.y + from.height - 4 - scroll;
  const y1 = to.y - scroll + (p.track.folded ? 0 : p.lane * laneHeight(p.track)) + 2;
  pen.save();
  pen.beginPath();
  pen.rect(view.label, TOP, view.width, view.height);
  pen.clip();
  pen.strokeStyle = view.theme.text;
  pen.fillStyle = view.theme.text;
  pen.lineWidth = 1.5;
  pen.setLineDash([5, 3]);
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
  pen.stroke();
  pen.beginPath();
  pen.arc(x0, y0, 3, 0, 7);
  pen.arc(x1, y1, 3, 0, 7);
  pen.fill();
  pen.restore();
}

function drawSelection(scroll) {
  const s = view.selection;
  if (!s) return;
  const x0 = Math.max(view.label, xOf(s.from));
  const x1 = Math.min(view.width, xOf(s.to));
  if (x1 <= x0) return;
  pen.fillStyle = view.theme.accent;
  for (const row of view.rows) {
    if (row.track && s.tracks.has(row.track)) {
      pen.globalAlpha = 0.16;
      pen.fillRect(x0, row.y - scroll, x1 - x0, row.height);
      pen.globalAlpha = 1;
      pen.fillRect(x0 - 0.75, row.y - scroll, 1.5, row.height);
      pen.fillRect(x1 - 0.75, row.y - scroll, 1.5, row.height);
    }
  }
}

function drawSelectionHead() {
  const s = view.selection;
  const x0 = s ? Math.max(view.label, xOf(s.from)) : 0;
  const x1 = s ? Math.min(view.width, xOf(s.to)) : 0;
  if (x1 <= x0) return;
  pen.fillStyle = view.theme.accent;
  pen.fillRect(x0, TOP - 4, x1 - x0, 3);
}

function draw() {
  view.due = false;
  layRows();
  size();
  const scroll = $('view').scrollTop;
  view.drawn = 0;
  pen.fillStyle = view.theme.card;
  pen.fillRect(0, 0, view.width, view.height);
  if (TRACKS.length === 0) {
    drawText(word('nothing'), 16, TOP + 30, view.width - 32, view.theme.soft);
  }
  for (const row of view.rows) {
    const y = row.y - scroll;
    if (y + row.height > TOP && y < view.height) drawRow(row, y);
  }
  drawSelection(scroll);
  drawPicked(scroll);
  drawLaunch(scroll);
  drawAxis();
  drawSelectionHead();
  drawMap();
  document.body.dataset.drawn = view.drawn;
}

function redraw() {
  if (!view.due) {
    view.due = true;
    requestAnimationFrame(draw);
  }
}

// ---- moving ----

function show(from, to) {
  const slack = SPAN * 0.03;
  const span = Math.min(Math.max(SHORTEST, to - from), Math.max(SHORTEST, SPAN + 2 * slack));
  view.from = Math.min(Math.max(from, -slack), Math.max(-slack, SPAN + slack - span));
  view.to = view.from + span;
  redraw();
}

function zoom(factor, centre) {
  const at = centre === undefined ? (view.from + view.to) / 2 : centre;
  show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

function pan(part) {
  const by = (view.to - view.from) * part;
  show(view.from + by, view.to + by);
}

function showAll() {
  show(0, SPAN);
}

// The row of a track into what is seen of the list.
function scrollTo(track) {
  layRows();
  const row = view.rows.find((r) => r.track === track);
  const box = $('view');
  if (!row) return;
  if (row.y - box.scrollTop < TOP || row.y + row.height - box.scrollTop > view.height) {
    box.scrollTop = row.y - TOP - 40;
  }
}

function goTo(track, index, lane) {
  const level = finest(track);
  const start = level.start[index];
  const end = start + level.length[index];
  const span = view.to - view.from;
  view.folded.delete(trackLabel(track)[0]);
  track.folded = false;
  pick({ track, index, lane });
  if (end - start > span || end - start < span / 200) {
    const room = Math.max((end - start) * 6, 2000);
    show((start + end) / 2 - room / 2, (start + end) / 2 + room / 2);
  } else if (start < view.from || end > view.to) {
    show((start + end - span) / 2, (start + end + span) / 2);
  }
  scrollTo(track);
  redraw();
}

// ---- picking ----

const rowAt = (y) => view.rows.find((r) => y >= r.y && y < r.y + r.height);

// What lies at a point: {track, level, index, lane}, level being the one that is drawn.
function itemAt(x, y) {
  const at = y + $('view').scrollTop;
  const row = y > TOP ? rowAt(at) : undefined;
  if (!row || !row.track || row.track.points || x < view.label) return null;
  const track = row.track;
  const level = levelFor(track, perPixel());
  const lanes = track.folded ? [...Array(track.lanes).keys()].reverse()
    : [Math.floor((at - row.y - 1) / laneHeight(track))];
  const slack = perPixel() * 3;
  for (const lane of lanes) {
    if (lane < 0 || lane >= track.lanes) continue;
    let best = -1;
    for (let i = firstAfter(level, lane, timeAt(x) - slack * 2);
      i < level.first[lane + 1] && level.start[i] <= timeAt(x) + slack; i++) {
      const inside = level.start[i] <= timeAt(x) && level.start[i] + level.length[i] >= timeAt(x);
      if (inside || best < 0 || level.length[i] === 0) best = i;
      if (inside && level.length[i] > 0) break;
    }
    if (best >= 0) return { track, level, index: best, lane };
  }
  return null;
}

// The event of the finest level at the place of a coarser level's item.
function finestAt(item) {
  const fine = finest(item.track);
  if (fine === item.level) return item.index;
  let i = firstAfter(fine, item.lane, item.level.start[item.index]);
  while (i < fine.first[item.lane + 1] - 1 && fine.start[i] < item.level.start[item.index]) i++;
  return i;
}

function pick(p) {
  view.picked = p;
  showDetails();
  redraw();
}

// The event before or behind the picked one in its lane.
function pickBeside(by) {
  const p = view.picked;
  if (!p) {
    const track = TRACKS.find((t) => !t.points && finest(t).n > 0);
    if (!track) return;
    const level = finest(track);
    goTo(track, Math.min(firstAfter(level, 0, view.from), level.first[1] - 1), 0);
    return;
  }
  const level = finest(p.track);
  const index = p.index + by;
  if (index >= level.first[p.lane] && index < level.first[p.lane + 1]) goTo(p.track, index, p.lane);
}

// ---- sums ----

function select(from, to, tracks) {
  view.selection = to > from ? { from, to, tracks: new Set(tracks) } : null;
  redraw();
}

// Names and what they took inside the selection, by table.
function sums() {
  const s = view.selection;
  const tables = {};
  for (const track of s.tracks) {
    if (track.points) continue;
    const kind = tableOf(track.kind);
    const t = tables[kind] = tables[kind] || {
      count: new Float64Array(NAMES.length), total: new Float64Array(NAMES.length) };
    const level = finest(track);
    for (let lane = 0; lane < track.lanes; lane++) {
      for (let i = firstAfter(level, lane, s.from);
        i < level.first[lane + 1] && level.start[i] <= s.to; i++) {
        const end = level.start[i] + level.length[i];
        const inside = Math.min(end, s.to) - Math.max(level.start[i], s.from);
        t.count[level.name[i]] += level.count ? level.count[i] : 1;
        t.total[level.name[i]] += level.fill ? inside * level.fill[i] / 100 : inside;
      }
    }
  }
  const rows = [];
  for (const [kind, t] of Object.entries(tables)) {
    t.count.forEach((count, name) => {
      if (count > 0) rows.push({ kind, name, count, total: t.total[name] });
    });
  }
  return rows.sort((a, b) => b.total - a.total || b.count - a.count);
}

// ---- search ----

function search(text, exact) {
  const wanted = text.toLowerCase();
  view.searched = text;
  view.matches = null;
  if (wanted !== '') {
    const flags = new Uint8Array(NAMES.length);
    let any = false;
    NAMES.forEach((name, i) => {
      if (exact ? name === text : name.toLowerCase().includes(wanted)) {
        flags[i] = 1;
        any = true;
      }
    });
    const list = [];
    let count = 0;
    for (const track of any ? TRACKS : []) {
      if (track.points) continue;
      const level = finest(track);
      for (let lane = 0; lane < track.lanes; lane++) {
        for (let i = level.first[lane]; i < level.first[lane + 1]; i++) {
          if (flags[level.name[i]] !== 1) continue;
          count += level.count ? level.count[i] : 1;
          if (list.length < 200000) list.push({ track, index: i, lane, start: level.start[i] });
        }
      }
    }
    list.sort((a, b) => a.start - b.start);
    const of = new Map(); // by track
    for (const hit of list) {
      if (!of.has(hit.track)) of.set(hit.track, []);
      of.get(hit.track).push(hit);
    }
    view.matches = { list, of, count, at: -1 };
  }
  showFound();
  redraw();
}

function nextMatch(by) {
  const m = view.matches;
  if (!m || m.list.length === 0) return;
  m.at = m.at < 0 ? (by > 0 ? 0 : m.list.length - 1) : (m.at + by + m.list.length) % m.list.length;
  const hit = m.list[m.at];
  goTo(hit.track, hit.index, hit.lane);
  showFound();
}

function showFound() {
  const m = view.matches;
  $('found').textContent = !m ? '' : m.count === 0 ? word('noMatch')
    : m.at < 0 ? number(m.count) : word('matches', { i: number(m.at + 1), n: number(m.count) });
}

// ---- pointer ----

function showTip(x, y) {
  const tip = $('tip');
  const item = itemAt(x, y);
  const row = y > TOP ? rowAt(y + $('view').scrollTop) : undefined;
  tip.hidden = true;
  if (item) {
    const { level, index } = item;
    const many = level.count !== null && level.count[index] > 1;
    tip.replaceChildren(element('b', null, NAMES[level.name[index]]), many
      ? word('block', { n: number(level.count[index]), t: time(level.length[index]),
        p: level.fill[index] }) : level.length[index] === 0 ? word('mark') : time(level.length[index]));
    tip.hidden = false;
  } else if (row && row.track && row.track.points && x > view.label) {
    let value = null;
    for (const p of row.track.points) if (p[0] <= timeAt(x)) value = p[1];
    if (value === null) return;
    tip.replaceChildren(element('b', null, row.what), number(value) + row.track.unit);
    tip.hidden = false;
  }
  if (!tip.hidden) {
    tip.style.left = Math.max(4, Math.min(x + 14, view.width - tip.offsetWidth - 8)) + 'px';
    tip.style.top = (y + 24 + tip.offsetHeight > view.height ? y - tip.offsetHeight - 10 : y + 18) + 'px';
  }
}

const pointers = new Map();
let gesture = null; // {kind: 'select' | 'pan' | 'map', x, y, moved, …}

function pointOf(event) {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function moveMap(x) {
  const centre = (x - view.label) / (view.width - view.label) * SPAN;
  const span = view.to - view.from;
  show(centre - span / 2, centre + span / 2);
}

function foldAt(y) {
  const row = rowAt(y + $('view').scrollTop);
  if (!row) return;
  if (row.track) row.track.folded = !row.track.folded;
  else if (!view.folded.delete(row.group)) view.folded.add(row.group);
  redraw();
}

canvas.addEventListener('pointerdown', (event) => {
  const { x, y } = pointOf(event);
  pointers.set(event.pointerId, { x, y });
  canvas.setPointerCapture(event.pointerId);
  canvas.focus({ preventScroll: true });
  $('tip').hidden = true;
  const row = rowAt(y + $('view').scrollTop);
  if (y < MAP) {
    gesture = { kind: 'map' };
    moveMap(x);
  } else if (y > TOP && (x < view.label || (row && row.group !== undefined))) {
    gesture = { kind: 'fold', y };
  } else {
    const pans = event.shiftKey || event.button === 1 || event.pointerType === 'touch';
    gesture = { kind: pans ? 'pan' : 'select', x, y, from: view.from, to: view.to, moved: false,
      time: timeAt(x), scroll: $('view').scrollTop };
  }
  if (event.button === 1) event.preventDefault();
});

canvas.addEventListener('pointermove', (event) => {
  const { x, y } = pointOf(event);
  const before = pointers.get(event.pointerId);
  if (!gesture) {
    showTip(x, y);
    return;
  }
  if (pointers.size === 2 && before) { // two fingers: zoom
    const other = [...pointers.entries()].find(([id]) => id !== event.pointerId)[1];
    const was = Math.max(10, Math.abs(before.x - other.x));
    zoom(was / Math.max(10, Math.abs(x - other.x)), timeAt((x + other.x) / 2));
    pointers.set(event.pointerId, { x, y });
    gesture = { kind: 'none' };
    return;
  }
  pointers.set(event.pointerId, { x, y });
  if (gesture.kind === 'map') moveMap(x);
  if (gesture.kind !== 'pan' && gesture.kind !== 'select') return;
  gesture.moved = gesture.moved || Math.abs(x - gesture.x) > 4;
  if (!gesture.moved) return;
  if (gesture.kind === 'pan') {
    const by = (gesture.x - x) * perPixel();
    show(gesture.from + by, gesture.to + by);
    return;
  }
  const low = Math.min(y, gesture.y) + $('view').scrollTop;
  const high = Math.max(y, gesture.y) + $('view').scrollTop;
  const tracks = gesture.y < TOP ? TRACKS : view.rows
    .filter((r) => r.track && r.y <= high && r.y + r.height > low).map((r) => r.track);
  const other = timeAt(Math.min(view.width, Math.max(view.label, x)));
  select(Math.min(gesture.time, other), Math.max(gesture.time, other), tracks);
});

function pointerEnds(event) {
  const { x, y } = pointOf(event);
  pointers.delete(event.pointerId);
  const g = gesture;
  if (pointers.size === 0) gesture = null;
  if (!g || event.type === 'pointercancel') return;
  if (g.kind === 'fold') foldAt(g.y);
  if (g.kind !== 'select' && g.kind !== 'pan') return;
  if (g.moved) {
    if (g.kind === 'select') {
      view.picked = null;
      showDetails();
    }
    return;
  }
  const item = itemAt(x, y);
  view.selection = null;
  pick(item ? { track: item.track, index: finestAt(item), lane: item.lane } : null);
}
canvas.addEventListener('pointerup', pointerEnds);
canvas.addEventListener('pointercancel', pointerEnds);
canvas.addEventListener('pointerleave', () => { $('tip').hidden = true; });
canvas.addEventListener('dblclick', (event) => {
  const { x, y } = pointOf(event);
  const item = itemAt(x, y);
  if (!item) return;
  const long = Math.max(item.level.length[item.index], SHORTEST);
  show(item.level.start[item.index] - long * 0.1, item.level.start[item.index] + long * 1.1);
});
canvas.addEventListener('wheel', (event) => {
  const { x, y } = pointOf(event);
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.006), timeAt(Math.max(view.label, x)));
  } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    show(view.from + (event.deltaX || event.deltaY) * perPixel(),
      view.to + (event.deltaX || event.deltaY) * perPixel());
  }
  showTip(x, y);
}, { passive: false });
$('view').addEventListener('scroll', redraw);
