/**
 * Encodes with the page's own library, for measurements outside a browser: each line of standard
 * input is a JSON object {text, level, minVersion, boost}; each line of output its rows of 0 and 1.
 */
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { QRCodeSVG } from 'qrcode.react';
import { createInterface } from 'node:readline';

for await (const line of createInterface({ input: process.stdin })) {
  const { text, level = 'L', minVersion = 1, boost = true } = JSON.parse(line);
  const svg = renderToStaticMarkup(
    createElement(QRCodeSVG, { value: text, level, minVersion, boostLevel: boost, marginSize: 0 }),
  );
  const size = Number(/viewBox="0 0 (\d+)/.exec(svg)[1]);
  const rows = Array.from({ length: size }, () => new Array(size).fill(0));
  const path = svg.slice(svg.lastIndexOf('<path'));
  for (const [, x, y, run] of path.matchAll(/M(\d+)[ ,](\d+) ?h(\d+)/g)) {
    rows[y].fill(1, Number(x), Number(x) + Number(run));
  }
  console.log(JSON.stringify(rows.map((row) => row.join(''))));
}
