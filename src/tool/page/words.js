// SPDX-License-Identifier: Apache-2.0
'use strict';

// Errors are shown, for the reader and for tests.
window.addEventListener('error', (event) => {
  document.body.dataset.error = event.message + ' ' + event.lineno;
});

// Every label: English, Chinese.
const WORDS = {
  timeline: ['Timeline', '时间线'],
  comparison: ['Comparison', '对比'],
  search: ['Search names ( / )', '搜索名称（/）'],
  searchBack: ['Previous match', '上一个匹配'],
  searchNext: ['Next match', '下一个匹配'],
  zoomIn: ['Zoom in (W)', '放大（W）'],
  zoomOut: ['Zoom out (S)', '缩小（S）'],
  zoomAll: ['All', '全部'],
  help: ['Keys and help', '按键与帮助'],
  close: ['Close', '关闭'],
  flame: ['Flame chart', '火焰图'],
  flameNote: ['Ranges and calls of all threads by what they lie in; width is time. Click to go into one.',
    '所有线程的区间与调用按嵌套关系汇总；宽度为时间。点击可进入某一项。'],
  footer: ['Made by aclprof report. This file needs no network.', '由 aclprof report 生成。本文件无需网络。'],
  simulated: ['The device data are simulated: no NPU has recorded them.', '设备数据为模拟数据，并非由真实 NPU 记录。'],
  finished: ['finished', '已完成'], recovered: ['recovered', '已恢复'],
  unfinished: ['unfinished', '未完成'], running: ['still running', '运行中'],
  unfinishedNote: ['The process was killed or still runs: what was on disk at that moment is shown.',
    '进程被终止或仍在运行：此处仅显示当时已写入磁盘的数据。'],
  process: ['process', '进程'], on: ['on', '主机'], device: ['device', '设备'],
  noDevice: ['no device', '无设备'], simulatedShort: ['simulated', '模拟'],
  duration: ['Duration', '时长'], events: ['Events', '事件'], tasksTile: ['Device tasks', '设备任务'],
  busy: ['Device busy', '设备利用率'], longestGap: ['longest gap', '最长空闲'],
  lost: ['Lost events', '丢失事件'], cost: ['Recording cost', '采集开销'],
  ofThreads: ['of the threads’ time', '线程时间占比'], unknown: ['not known', '未知'],
  threads: ['threads', '线程'], thread: ['Thread', '线程'], stream: ['Stream', '流'],
  marks: ['marks', '打点'], ranges: ['Ranges', '区间'], spans: ['Start/stop ranges', '起止区间'],
  calls: ['API calls', 'API 调用'], tasks: ['Device tasks', '设备任务'],
  load: ['Busy', '利用率'], frequency: ['AI core MHz', 'AI Core 频率'],
  hot: ['Where the time went', '耗时分布'],
  name: ['Name', '名称'], count: ['Count', '次数'], total: ['Total', '总计'], average: ['Average', '平均'],
  least: ['Min', '最小'], median: ['Median', '中位数'], p99: ['p99', 'p99'], most: ['Max', '最大'],
  share: ['Share', '占比'],
  more: ['{n} more names are not shown', '另有 {n} 个名称未显示'],
  showAll: ['Show {n} more', '再显示 {n} 项'],
  nothing: ['Nothing was recorded.', '没有记录到数据。'],
  selected: ['{t} selected', '已选择 {t}'],
  selectedFrom: ['{a} to {b}, {n} events', '{a} 至 {b}，{n} 个事件'],
  zoomHere: ['Zoom to it', '缩放至此'], ofSelection: ['Of selection', '占所选'], kind: ['Kind', '类别'],
  andMore: ['and {n} more', '另有 {n} 项'], together: ['{n} events together', '{n} 个事件合并'],
  selectHint: ['Drag to select and sum · Shift-drag or A D to pan · Ctrl-wheel or W S to zoom · / to search · ? for all keys',
    '拖动选择并求和 · Shift 拖动或 A D 平移 · Ctrl 滚轮或 W S 缩放 · / 搜索 · ? 查看全部按键'],
  block: ['and others: {n} events in {t}, {p} % covered', '等：{t} 内 {n} 个事件，覆盖 {p} %'],
  startsAt: ['starts at {t}', '开始于 {t}'], matches: ['{i} of {n}', '{i} / {n}'], noMatch: ['none', '无匹配'],
  launched: ['launched {t} before by thread {n}', '由线程 {n} 于 {t} 前下发'],
  launchedAbout: ['launched at about the same time by thread {n} (clocks differ by {t})', '由线程 {n} 几乎同时下发（时钟相差 {t}）'],
  host: ['Host', '主机'], hostCpu: ['Process CPU', '进程 CPU'], hostMemory: ['Process memory', '进程内存'],
  npuMemory: ['Memory', '内存'], waiting: ['Waiting tasks', '等待任务数'],
  usual: ['one of {n}, median {m}, p99 {p}', '共 {n} 次，中位数 {m}，p99 {p}'],
  mark: ['mark', '打点'], overview: ['Overview', '总览'], comm: ['Communication', '通信'],
  findIt: ['show in the timeline', '在时间线中显示'], filter: ['Filter names', '筛选名称'],
  summary: ['Summary', '摘要'], all: ['All', '全部'], self: ['self', '自身'],
  canvasLabel: ['Timeline of {n} events on {t} tracks. Comma and dot step through events; the tables below have the sums.',
    '时间线：{t} 条轨道上的 {n} 个事件。按逗号和句点逐个浏览事件；下方表格为汇总。'],
  flameDiff: ['B against A', 'B 与 A 对比'], wasA: ['in A {t}', 'A 中 {t}'],
  flameDiffNote: ['Width is time in B. ▲ orange: more than in A, ▼ blue and hatched: less; the fuller the colour, the larger the change.',
    '宽度为 B 中的时间。▲ 橙色：比 A 多；▼ 蓝色斜纹：比 A 少；颜色越深变化越大。'],
  others: ['others', '其他'],
  flameHost: ['Host threads', '主机线程'], flameDevice: ['Device tasks', '设备任务'],
  coarse: ['This capture is so large that the file has its shortest events merged. Tables and sums of names are exact.',
    '该采集数据量很大，文件中最短的事件已合并显示；表格与按名称的汇总仍为精确值。'],
  comparisonOf: ['{a}: A compared with B', '{a}：A 与 B 对比'],
  marksOf: ['{n} of them marks', '其中打点 {n} 个'], hottest: ['{p} % {n}', '{n} 占 {p} %'],
  ofEmitted: ['of {n} recorded', '共记录 {n} 个'], ofNames: ['of {n} names', '共 {n} 个名称'],
  perStampShort: ['{t} a record', '每条记录 {t}'], perStamp: ['the same, a record', '平均每条记录'],
  recordingThreads: ['recording threads', '采集线程数'],
  run: ['Run', '运行'], main: ['main', '主线程'],
  tail: ['median {p}: a few long calls', '中位数 {p}：由少数长调用造成'],
  whatChanged: ['What has changed from A to B', 'A 到 B 的变化'],
  whatChangedNote: ['Names whose calls take longer or shorter beyond chance (q < 0.05), by the time that this has added to B or saved.',
    '单次耗时变化超出随机波动的名称（q < 0.05），按其给 B 增加或节省的时间排序。'],
  slowerList: ['Slower', '变慢'], fasterList: ['Faster', '变快'],
  nothingFaster: ['Nothing became faster beyond chance.', '没有超出随机波动的变快项。'],
  perCallShort: ['{a} → {b} a call, {t} in all', '单次 {a} → {b}，合计 {t}'],
  perCallAB: ['Mean A → B', '均值 A → B'],
  slower: ['slower', '变慢'], faster: ['faster', '变快'], unsure: ['no evidence', '无显著差异'],
  few: ['too few calls', '样本过少'], onlyA: ['only in A', '仅在 A'], onlyB: ['only in B', '仅在 B'],
  verdict: ['Per call', '单次耗时'], totalChange: ['Total B − A', '总计 B − A'],
  change: ['Change', '变化'], interval: ['95 % interval', '95 % 置信区间'],
  medians: ['Median A → B', '中位数 A → B'], counts: ['Count A → B', '次数 A → B'], q: ['q', 'q'], rank: ['rank p', '秩检验 p'],
  whatSlower: ['What became slower', '哪些变慢了'],
  nothingSlower: ['Nothing became slower beyond chance.', '没有超出随机波动的变慢项。'],
  slowerCount: ['Slower', '变慢'], fasterCount: ['Faster', '变快'],
  compareNote: ['By the change of total time. “Slower” and “faster”: the mean duration of a call has changed (Welch’s t test, q < 0.05 after Benjamini–Hochberg over all names of the table). Rank p: Mann–Whitney’s U, which few outliers do not move. Calls that follow each other are not independent: take a q near 0.05 with care.',
    '按总时间变化排序。“变慢/变快”：单次耗时均值有变化（Welch t 检验，对表内所有名称做 Benjamini–Hochberg 校正后 q < 0.05）。秩检验 p：Mann–Whitney U，不受少数离群值影响。相邻调用并非相互独立，q 接近 0.05 时请谨慎。'],
  losses: ['Losses and cost', '丢失与开销'],
  noAccount: ['This directory has no account of losses (it was not recorded by this library, or not finished).',
    '该目录没有丢失统计（不是由本库采集，或采集未完成）。'],
  emitted: ['emitted', '产生'], written: ['written', '已写入'], lostWord: ['lost', '丢失'],
  cause0: ['ring full', '环形缓冲已满'], cause1: ['no ring', '无缓冲'], cause2: ['in signal handler', '信号处理函数中'],
  cause3: ['disk', '磁盘'], cause4: ['storage limit', '存储上限'], cause5: ['damaged', '损坏'],
  cut: ['messages cut', '截断的消息'], open: ['open at the stop', '停止时未结束'],
  bytes: ['bytes written', '写入字节'], callCost: ['spent in stamp calls (estimate)', '打点调用耗时（估计）'],
  writerCost: ['CPU of the writer thread', '写线程 CPU 时间'], notes: ['Notes of the reader', '读取器备注'],
  keyZoom: ['zoom in, out', '放大、缩小'], keyPan: ['pan left, right', '左移、右移'],
  keyScroll: ['scroll tracks', '上下滚动轨道'], keyAll: ['show all', '显示全部'],
  keySearch: ['search; Enter and Shift+Enter: next, previous', '搜索；Enter 与 Shift+Enter：下一个、上一个'],
  keyNext: ['next, previous match', '下一个、上一个匹配'],
  keyBeside: ['previous, next event of the track', '轨道中的上一个、下一个事件'],
  keyFit: ['fit what is selected', '缩放至所选'], keySum: ['sum what is visible', '汇总可见部分'],
  keyEsc: ['clear selection and search', '清除选择与搜索'], keyHelp: ['this help', '本帮助'],
  keyDrag: ['drag: select and sum, in the tracks that it crosses', '拖动：选择并汇总所经轨道'],
  keyShiftDrag: ['drag with Shift: pan', 'Shift 拖动：平移'], keyWheel: ['wheel with Ctrl: zoom', 'Ctrl 滚轮：缩放'],
  keyClick: ['click: select an event; a double click fits it', '单击：选择事件；双击缩放至该事件'],
  keyFold: ['click on a track’s or thread’s name: fold it', '单击轨道或线程名称：折叠'],
};

let language = /^zh\b/i.test(navigator.language || '') ? 1 : 0;
{
  const wanted = /[?#&]lang=(en|zh)\b/.exec(location.search + location.hash);
  if (wanted) language = wanted[1] === 'zh' ? 1 : 0;
}

function word(key, values) {
  const text = WORDS[key] ? WORDS[key][language] : key;
  return values ? text.replace(/\{(\w+)\}/g, (all, k) => values[k]) : text;
}

function number(value) {
  return Math.round(value).toLocaleString('en-US');
}

// A duration with three digits that count: 1.23 ms.
function time(ns) {
  const size = Math.abs(ns);
  const unit = size < 1e3 ? [1, 'ns'] : size < 1e6 ? [1e3, 'µs'] : size < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
  const value = ns / unit[0];
  const digits = unit[0] === 1 ? 0 : Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  return value.toFixed(digits) + ' ' + unit[1];
}

function element(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'style') e.style.cssText = value;
    else if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null) e.setAttribute(key, value);
  }
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

const $ = (id) => document.getElementById(id);
