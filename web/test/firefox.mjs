/**
 * Controls Firefox over WebDriver BiDi by lines:
 *
 *   node web/test/firefox.mjs /usr/bin/firefox-esr /folder/of/downloads
 *
 * It reads {"do", ...} from each line of its input and prints {"value"} or {"error"} for each, in
 * order. The commands are go {url}, run {script, args}, find {script, args} (returns whether the
 * element exists, and selects it), click, and type {text}, which replaces the text of the selected
 * element. The end of the input closes the browser.
 */
import { createInterface } from 'node:readline';
import puppeteer from 'puppeteer-core';

const [executablePath, downloads] = process.argv.slice(2);
const browser = await puppeteer.launch({
  browser: 'firefox',
  executablePath,
  headless: true,
  extraPrefsFirefox: {
    'browser.download.folderList': 2,
    'browser.download.dir': downloads,
    'browser.download.useDownloadDir': true,
  },
});
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 1000 });
let found;

// As text: the policy of a page forbids creating functions from strings.
const call = ({ script, args }) =>
  `(function () { ${script} }).apply(null, ${JSON.stringify(args)})`;

const acts = {
  go: async ({ url }) => void (await page.goto(url)),
  run: (what) => page.evaluate(call(what)),
  find: async (what) => {
    found = (await page.evaluateHandle(call(what))).asElement();
    return found !== null;
  },
  click: () => found.click(),
  type: async ({ text }) => {
    await found.evaluate((field) => field.select());
    await found.type(text);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const answer = await acts[command.do](command).then(
    (value) => ({ value: value ?? null }),
    (error) => ({ error: String(error) }),
  );
  console.log(JSON.stringify(answer));
}
await browser.close();
