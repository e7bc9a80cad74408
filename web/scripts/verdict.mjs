/**
 * Measures how long a phone's worker takes for the verdict on a QR code, in a real browser on the
 * pages of a running product: node scripts/verdict.mjs <origin>
 *
 * Chromium throttles pages but not workers. The measure is therefore the CPU time of the worker's
 * thread (from Linux), times four, the factor that is used for phones elsewhere. It is the same on
 * a busy machine. Each page is new, so that its first verdict finds no compiled code. The codes
 * withstand everything, so that no test is skipped. Prints a table and fails above the budget.
 */
import { readdirSync, readFileSync } from 'node:fs';
import puppeteer from 'puppeteer-core';

const BUDGET = 300;
const SLOWDOWN = 4;
const PAGES = 5;
const [origin] = process.argv.slice(2);

const link = 'https://atajo.example/k7Qm2_xB';
/** The last one is the longest text that scans well at the level of a plain code. */
const texts = [link, `${link}?one`, `${link}?${'x'.repeat(22)}`];

const median = (values) => values.toSorted((one, other) => one - other)[values.length >> 1];

/** Returns the CPU time in milliseconds of all workers of the browser's pages. */
function workerMilliseconds(browser) {
  let nanoseconds = 0;
  for (const renderer of descendants(browser.process().pid)) {
    for (const task of readdirSync(`/proc/${renderer}/task`)) {
      const thread = `/proc/${renderer}/task/${task}`;
      if (!readFileSync(`${thread}/comm`, 'utf8').startsWith('DedicatedWorker')) continue;
      nanoseconds += Number(readFileSync(`${thread}/schedstat`, 'utf8').split(' ')[0]);
    }
  }
  return nanoseconds / 1e6;
}

function descendants(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  if (!children) return [];
  return children.split(' ').flatMap((child) => [child, ...descendants(child)]);
}

/** Runs in the worker: records its answers. */
function keepAnswers() {
  const post = self.postMessage.bind(self);
  self.answers = [];
  self.postMessage = (message) => {
    self.answers.push(message.text);
    post(message);
  };
}

async function answered(worker, text) {
  while (!(await worker.evaluate((expected) => self.answers.includes(expected), text))) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until the worker, which warms up before the first request, is idle. */
async function waitUntilIdle(browser) {
  let before = -1;
  while (before < workerMilliseconds(browser)) {
    before = workerMilliseconds(browser);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Returns the milliseconds of the verdict on each text. Each verdict must be 'well'. */
async function measure(browser) {
  const page = await browser.newPage();
  const coming = new Promise((resolve) => page.once('workercreated', resolve));
  await page.goto(`${origin}/custom-qr-generator`);
  const worker = await coming;
  await worker.evaluate(keepAnswers);
  await waitUntilIdle(browser);
  const took = [];
  for (const text of texts) {
    const before = workerMilliseconds(browser);
    // Enter the text at once: while typing, each intermediate picture would be measured.
    await page.locator('aria/URL[role="textbox"]').click({ count: 3 });
    await page.keyboard.sendCharacter(text);
    await answered(worker, text);
    took.push(SLOWDOWN * (workerMilliseconds(browser) - before));
    await page.waitForSelector('[data-verdict="well"]');
  }
  await page.close();
  return took;
}

const browser = await puppeteer.launch({
  executablePath: process.env.CHROME_PATH,
  args: ['--no-sandbox', '--disable-gpu'],
});
const pages = [];
for (let page = 0; page < PAGES; page += 1) pages.push(await measure(browser));
await browser.close();

const rows = texts.map((text, at) => ({
  text: `${text.length} characters`,
  'ms on a phone': Math.round(median(pages.map((took) => took[at]))),
  max: Math.round(Math.max(...pages.map((took) => took[at]))),
}));
console.table(rows);
if (rows.some((row) => row['ms on a phone'] > BUDGET)) {
  console.error(`A verdict may take ${BUDGET} ms.`);
  process.exitCode = 1;
}
