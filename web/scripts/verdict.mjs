/**
 * How long a phone's worker takes for the verdict on a QR code, in a real browser on the pages of a
 * running product: node scripts/verdict.mjs <origin>
 *
 * Chromium slows down pages and no workers, so what counts is the time that the worker's thread is
 * on a CPU (Linux tells it), four times over, as a phone is slowed down elsewhere. That is the same
 * on a busy machine. Each page is a new one, so that its first verdict finds nothing compiled; the
 * codes bear everything, so that nothing is left out. Prints a table and fails above the budget.
 */
import { readdirSync, readFileSync } from 'node:fs';
import puppeteer from 'puppeteer-core';

const BUDGET = 300;
const SLOWER = 4;
const PAGES = 5;
const [origin] = process.argv.slice(2);

const link = 'https://atajo.example/k7Qm2_xB';
/** The last one is the most that scans well at the level of a plain code. */
const texts = [link, `${link}?one`, `${link}?${'x'.repeat(22)}`];

const middle = (values) => values.toSorted((one, other) => one - other)[values.length >> 1];

/** Milliseconds that all workers of the browser's pages have been on a CPU. */
function millisecondsOfWorkers(browser) {
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

/** In the worker: keeps its answers. */
function keepAnswers() {
  const post = self.postMessage.bind(self);
  self.answers = [];
  self.postMessage = (message) => {
    self.answers.push(message.text);
    post(message);
  };
}

async function answered(worker, text) {
  while (!(await worker.evaluate((wanted) => self.answers.includes(wanted), text))) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Until the worker, which rehearses before anybody asks it, has nothing more to do. */
async function rested(browser) {
  let before = -1;
  while (before < millisecondsOfWorkers(browser)) {
    before = millisecondsOfWorkers(browser);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** For each text the milliseconds of its verdict, which has to be 'well'. */
async function measure(browser) {
  const page = await browser.newPage();
  const coming = new Promise((resolve) => page.once('workercreated', resolve));
  await page.goto(`${origin}/custom-qr-generator`);
  const worker = await coming;
  await worker.evaluate(keepAnswers);
  await rested(browser);
  const took = [];
  for (const text of texts) {
    const before = millisecondsOfWorkers(browser);
    // All at once: as it is typed, a picture after the other would be measured.
    await page.locator('aria/URL[role="textbox"]').click({ count: 3 });
    await page.keyboard.sendCharacter(text);
    await answered(worker, text);
    took.push(SLOWER * (millisecondsOfWorkers(browser) - before));
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
  'ms on a phone': Math.round(middle(pages.map((took) => took[at]))),
  most: Math.round(Math.max(...pages.map((took) => took[at]))),
}));
console.table(rows);
if (rows.some((row) => row['ms on a phone'] > BUDGET)) {
  console.error(`A verdict may take ${BUDGET} ms.`);
  process.exitCode = 1;
}
