// SPDX-License-Identifier: Apache-2.0

// What report_data.c has written, and how its packed lists become typed arrays.
const DATA = JSON.parse($('data').textContent);
$('data').remove();
const NAMES = DATA.names;
const COMPARED = DATA.runs.length === 2;

// Okabe and Ito's colours without black, with tints and shades: what lies side by side can be told
// apart with any kind of colour blindness, and names are beside them.
const COLOURS = ['#56b4e9', '#e69f00', '#009e73', '#ecd83c', '#cc79a7', '#d55e00', '#0072b2',
  '#a6d8f5', '#f7cf80', '#7fceb9', '#e8c2d8', '#f2ab80', '#97517a', '#00664a'];
const DARK_COLOURS = new Set(COLOURS.filter((colour) => {
  const [r, g, b] = [1, 3, 5].map((at) => Math.pow(parseInt(colour.slice(at, at + 2), 16) / 255, 2.2));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.19; // white is read better on it than black
}));

const colourOf = (() => {
  const known = new Map();
  return (name) => { // by the text: the same name has the same colour in every report
    let colour = known.get(name);
    if (colour === undefined) {
      let hash = 2166136261;
      const text = NAMES[name] || '';
      for (let i = 0; i < text.length; i++) {
        hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
      }
      hash ^= hash >>> 15;
      colour = COLOURS[(Math.imul(hash, 0x85ebca6b) >>> 13) % COLOURS.length];
      known.set(name, colour);
    }
    return colour;
  };
})();

// A level's items as arrays: start, length, name and (merged levels) count and fill in percent, or
// (finest level of tasks) time since the launch, NaN: not known, and the thread that launched. Lane
// k has the items from first[k] to first[k + 1].
function unpack(level, launches) {
  const lanes = level.lanes;
  const n = lanes.reduce((a, b) => a + b, 0);
  const text = atob(level.items);
  const merged = level.width > 0;
  const out = {
    width: level.width, n, start: new Float64Array(n), length: new Float64Array(n),
    name: new Uint32Array(n), count: merged ? new Uint32Array(n) : null,
    fill: merged ? new Uint8Array(n) : null, first: [0],
    wait: launches && !merged ? new Float64Array(n) : null,
    thread: launches && !merged ? new Uint32Array(n) : null,
  };
  let at = 0;
  const next = () => {
    let byte = text.charCodeAt(at++);
    if (byte < 128) return byte;
    let value = byte & 127;
    let scale = 128;
    do { // beyond 32 bits: no shifts
      byte = text.charCodeAt(at++);
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value;
  };
  let i = 0;
  for (const count of lanes) {
    let start = 0;
    for (const end = i + count; i < end; i++) {
      start += next();
      out.start[i] = start;
      out.length[i] = next();
      out.name[i] = next();
      if (merged) {
        out.count[i] = next();
        out.fill[i] = next();
      } else if (launches) {
        const value = next() - 1; // zigzag
        out.wait[i] = value < 0 ? NaN : value % 2 === 1 ? -(value + 1) / 2 : value / 2;
        if (value >= 0) out.thread[i] = next();
      }
    }
    out.first.push(i);
  }
  return out;
}

// The tracks to draw, of all runs: {run, kind, label…, levels} or {run, kind: 'load', points}.
const TRACKS = [];
let SPAN = 1;
let EVENTS = 0;
DATA.runs.forEach((run, index) => {
  SPAN = Math.max(SPAN, run.span);
  EVENTS += run.events;
  const ofDevice = (t) => t.kind === 'tasks' || t.kind === 'comm';
  const add = (t) => {
    const track = { run: index, kind: t.kind, device: t.device, id: t.id, pid: run.pid, folded: false,
      levels: t.levels.map((l) => ({ width: l.width, raw: l, ready: null })) };
    track.lanes = t.levels[0].lanes.length;
    TRACKS.push(track);
  };
  const count = (c) => TRACKS.push({ run: index, kind: c.name, device: c.device, unit: c.unit, lanes: 0,
    max: c.points.reduce((a, p) => Math.max(a, p[1]), 0), points: c.points });
  run.counters.filter((c) => c.device < 0).forEach(count);
  run.tracks.filter((t) => !ofDevice(t)).forEach(add);
  for (const device of run.devices) {
    if (device.load.length > 0) {
      const width = run.span / device.load.length;
      TRACKS.push({ run: index, kind: 'load', device: device.device, max: 100, unit: ' %', lanes: 0,
        points: device.load.map((v, i) => [i * width, v]) });
    }
    if (device.mhz.length > 1) {
      TRACKS.push({ run: index, kind: 'frequency', device: device.device, unit: ' MHz', lanes: 0,
        max: device.mhz.reduce((a, p) => Math.max(a, p[1]), 0), points: device.mhz });
    }
    run.counters.filter((c) => c.device === device.device).forEach(count);
    run.tracks.filter((t) => ofDevice(t) && t.device === device.device).forEach(add);
  }
});

function levelAt(track, index) {
  const level = track.levels[index];
  if (level.ready === null) {
    level.ready = unpack(level.raw, track.kind === 'tasks');
    level.raw = null;
  }
  return level.ready;
}

// The coarsest level whose blocks are no wider than `ns`.
function levelFor(track, ns) {
  let best = 0;
  track.levels.forEach((l, i) => { if (l.width <= ns) best = i; });
  return levelAt(track, best);
}

// Who launched a task of the finest level and how long before: {thread, wait}, or null.
function launchOf(track, index) {
  const level = levelAt(track, 0);
  return level.wait && !Number.isNaN(level.wait[index])
    ? { thread: level.thread[index], wait: level.wait[index] } : null;
}

// First item of a lane that ends after t.
function firstAfter(level, lane, t) {
  let low = level.first[lane];
  let high = level.first[lane + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (level.start[middle] + level.length[middle] < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

function trackLabel(track) {
  const run = COMPARED ? 'AB'[track.run] + ' · ' : '';
  const thread = track.id + (track.pid === track.id ? ' (' + word('main') + ')' : '');
  switch (track.kind) {
    case 'ranges': return [run + word('thread') + ' ' + thread, word('ranges')];
    case 'spans': return [run + word('thread') + ' ' + thread, word('spans')];
    case 'calls': return [run + word('thread') + ' ' + thread, word('calls')];
    case 'tasks': return [run + 'NPU ' + track.device, word('stream') + ' ' + track.id];
    case 'comm': return [run + 'NPU ' + track.device, word('comm')];
    default: return [run + (track.device < 0 ? word('host') : 'NPU ' + track.device), word(track.kind)];
  }
}

// The table in which a track's events are counted.
function tableOf(kind) {
  return kind === 'spans' ? 'ranges' : kind;
}

// The type of a device task's name, as the device's flame has it: below its type.
const TYPES = new Map();
for (const run of DATA.runs) {
  for (const node of run.flames.device) {
    if (node[0] >= 0) TYPES.set(node[1], run.flames.device[node[0]][1]);
  }
}
