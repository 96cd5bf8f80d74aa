const COLOURS = ['#1b6ca8', '#c8553d', '#3a7d44', '#8d6a9f'];
const PANEL = { width: 420, height: 150, left: 70, top: 34, gapX: 80, gapY: 46 };

/** Panels, by title: each returns the curves of a run's samples, as points `[minute, value]` by name. */
const PANELS = {
  'Table size, MB': (samples) => byTable(samples, ({ heap }) => heap),
  'Index size, MB': (samples) => byTable(samples, ({ indexes }) => indexes),
  'Dead rows': (samples) => byTable(samples, ({ dead }) => dead),
  'HOT updates so far, %': (samples) =>
    byTable(samples, ({ hot, updates }) => (updates === 0 ? 100 : (100 * hot) / updates)),
  'Memory (RSS), MB': (samples) =>
    Object.fromEntries(
      samples[0].rss.map((_, index, { length }) => [
        index === length - 1 ? 'worker' : `API ${index + 1}`,
        samples.map(({ minute, rss }) => [minute, rss[index]]),
      ]),
    ),
};

/** Draws the samples of each run, `{ name: samples }`, as an SVG: a column for each run, a row for each figure. */
export function draw(runs) {
  const columns = Object.entries(runs);
  const width = PANEL.left + columns.length * (PANEL.width + PANEL.gapX);
  const height = PANEL.top + Object.keys(PANELS).length * (PANEL.height + PANEL.gapY);
  const panels = Object.entries(PANELS).flatMap(([title, of], row) => {
    const curves = columns.map(([, samples]) => of(samples));
    // The same scale in a row, from zero, so that the runs can be compared.
    const most = niceAbove(
      Math.max(
        ...curves.flatMap((each) =>
          Object.values(each)
            .flat()
            .map(([, value]) => value),
        ),
      ),
    );
    return columns.map(([name], column) => panel(`${title}, ${name}`, curves[column], most, row, column));
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<rect width="${width}" height="${height}" fill="white"/>
${panels.join('\n')}
</svg>
`;
}

function panel(title, curves, most, row, column) {
  const left = PANEL.left + column * (PANEL.width + PANEL.gapX);
  const top = PANEL.top + row * (PANEL.height + PANEL.gapY);
  const last = Math.max(
    ...Object.values(curves)
      .flat()
      .map(([minute]) => minute),
  );
  const x = (minute) => (left + (minute / last) * PANEL.width).toFixed(1);
  const y = (value) => (top + PANEL.height - (value / most) * PANEL.height).toFixed(1);
  const lines = Object.values(curves).map((points, index) => {
    const path = points.map(([minute, value]) => `${x(minute)},${y(value)}`).join(' ');
    return `<polyline fill="none" stroke="${COLOURS[index]}" stroke-width="1.5" points="${path}"/>`;
  });
  const legend = Object.keys(curves).map(
    (name, index) =>
      `<text x="${left + 80 + index * 100}" y="${top + PANEL.height + 14}" fill="${COLOURS[index]}">${name}</text>`,
  );
  const ticks = [0, most / 2, most].map(
    (value) =>
      `<text x="${left - 6}" y="${Number(y(value)) + 4}" text-anchor="end" fill="#444">${value.toLocaleString('en')}</text>
<line x1="${left}" x2="${left + PANEL.width}" y1="${y(value)}" y2="${y(value)}" stroke="#ddd"/>`,
  );
  return `<text x="${left}" y="${top - 8}" font-weight="bold">${title}</text>
${ticks.join('\n')}
<text x="${left}" y="${top + PANEL.height + 14}" fill="#444">0–${Math.round(last)} min</text>
${[...lines, ...legend].join('\n')}`;
}

function byTable(samples, of) {
  const names = samples[0].tables.map(({ table }) => table).toSorted();
  const points = (name) =>
    samples.map(({ minute, tables }) => [minute, of(tables.find(({ table }) => table === name))]);
  return Object.fromEntries(names.map((name) => [name, points(name)]));
}

/** 1, 2 or 5 times a power of ten. */
function niceAbove(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].find((factor) => factor * power >= value) * power;
}
