/**
 * Takes screenshots of every page of a running product, in both themes and at two widths (phone and
 * desktop):
 *
 *   node scripts/screenshots.mjs [http://localhost:8080] [folder]
 *
 * It registers its own account and shortens two links. With ADMINISTRATOR_TOKEN, a session of an
 * administrator, it takes those of the administration, too. It fails if a page scrolls sideways, breaks
 * the content security policy or writes an error to the console.
 */
import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [origin = 'http://localhost:8080', folder = 'screenshots'] = process.argv.slice(2);
const LONG = 'https://www.example.org/rutas/2026/el-camino-mas-corto-entre-dos-pueblos?desde=plaza';
const BITLY = `Link,Custom Link,Date created,Title,Destination URL,Engagements,Status
bit.ly/3xYzAbC,bit.ly/ruta-norte,2024-05-01T10:00:00+0000,Ruta,https://example.com/ruta,12,active
bit.ly/3xYzAbD,,2024-05-02T10:00:00+0000,Mapa,https://example.com/mapa,0,archived
bit.ly/3xYzAbE,bit.ly/abc,2024-05-03T10:00:00+0000,,https://example.com/corto,3,active
bit.ly/3xYzAbF,,2024-05-04T10:00:00+0000,,ftp://example.com/fichero,1,active
`;
const WIDTHS = { 390: 844, 1440: 900 };
const THEMES = ['light', 'dark'];

const email = `screenshots-${Date.now()}@example.org`;
const password = 'Senderos-1';
const administrator = process.env.ADMINISTRATOR_TOKEN;
const faults = [];

const field = (page) => page.getByRole('textbox', { name: 'Link to shorten' });
const plates = (page) => page.getByRole('list', { name: 'New short links' });

async function shorten(page, link) {
  await field(page).fill(link);
  await field(page).press('Enter');
  await plates(page).getByText(link).waitFor();
}

async function fillLogin(page, secret) {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(secret);
  await page.getByRole('button', { name: 'LOGIN' }).click();
}

/** Name and path of each page, and what to do before the screenshot. */
const pages = [
  ['home', '/'],
  ['home-shortened', '/', (page) => shorten(page, LONG)],
  [
    'home-refused',
    '/',
    async (page) => {
      await field(page).fill('example.com');
      await field(page).press('Enter');
    },
  ],
  [
    'home-menu',
    '/',
    async (page) => {
      const menu = page.getByRole('button', { name: 'Menu' });
      if (await menu.isVisible()) await menu.click();
    },
  ],
  ['shortener', '/short-link'],
  ['qr-empty', '/custom-qr-generator'],
  ['qr', '/custom-qr-generator', (page) => page.getByLabel('URL').fill(`${origin}/k7Qm2_xB`)],
  [
    'qr-picker',
    '/custom-qr-generator',
    (page) => page.getByRole('button', { name: /^Color/ }).click(),
  ],
  [
    'qr-options',
    '/custom-qr-generator',
    async (page) => {
      await page.getByLabel('URL').fill(`${origin}/k7Qm2_xB`);
      await page.getByRole('button', { name: 'More options' }).click();
      const choose = (group, option) =>
        page
          .getByRole('group', { name: group })
          .getByRole('radio', { name: option, exact: true })
          .check();
      await choose('Modules', 'Dots');
      await choose('Eye frames', 'Rounded');
      await page.getByLabel('Frame with text').check();
      await page.getByLabel('Style name').fill('Trail');
      await page.getByRole('button', { name: 'Save style' }).click();
    },
  ],
  ['qr-too-long', '/custom-qr-generator', (page) => page.getByLabel('URL').fill('x'.repeat(3000))],
  ['login', '/login'],
  [
    'login-refused',
    '/login',
    async (page) => {
      await fillLogin(page, 'wrong');
      await page.getByRole('main').getByText('Incorrect password').waitFor();
    },
  ],
  ['register', '/register'],
  [
    'register-refused',
    '/register',
    async (page) => {
      await page.getByLabel('Password', { exact: true }).fill('Senderos');
      await page.getByRole('button', { name: 'REGISTER' }).click();
    },
  ],
  ['reset-password', '/reset-password'],
  ['oidc-refused', '/oidc/callback?error=access_denied'],
  ['api', '/api'],
  ['terms', '/terms-of-use'],
  ['privacy', '/privacy-policies'],
  ['not-found', '/not-found'],
];
const memberPages = [
  ['account', '/my-account', (page) => page.getByRole('table').waitFor()],
  [
    'link',
    '/my-account',
    async (page) => {
      await page
        .getByRole('link', { name: /views of/ })
        .first()
        .click();
      await page.getByRole('heading', { name: 'Statistics' }).waitFor();
      await page.getByText('Dates are in').waitFor();
    },
  ],
  ['settings', '/my-account/settings'],
  [
    'recovery-codes',
    '/my-account/settings',
    async (page) => {
      await page.getByRole('button', { name: /^Create (recovery|new) codes/ }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Password', { exact: true }).fill(password);
      await dialog.getByRole('button', { name: 'Create recovery codes' }).click();
      await page.getByRole('list', { name: 'Your new recovery codes' }).waitFor();
    },
  ],
  ['import', '/my-account/import'],
  [
    'import-checked',
    '/my-account/import',
    async (page) => {
      await page.getByLabel('Choose a file').setInputFiles({
        name: 'links.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(BITLY),
      });
      await page.getByRole('button', { name: 'Check these links' }).click();
      await page.getByRole('heading', { name: '4 rows checked' }).waitFor();
    },
  ],
];
/** The sections of the administration. */
const administratorPages = ['reports', 'links', 'accounts', 'decisions', 'instance'].map((name) => [
  `admin-${name}`,
  `/admin#${name}`,
  (page) => page.waitForLoadState('networkidle'),
]);

async function open(browser, theme, width, storageState) {
  const context = await browser.newContext({
    viewport: { width: Number(width), height: WIDTHS[width] },
    colorScheme: theme,
    ...(storageState && { storageState }),
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`${page.url()}: ${message.text()}`);
  });
  return page;
}

async function picture(browser, [name, path, act], theme, width, storageState) {
  const page = await open(browser, theme, width, storageState);
  await page.goto(origin + path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await act?.(page);
  await page.evaluate(() => document.fonts.ready);
  const aside = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  if (aside > 0) faults.push(`${name} at ${width}: scrolls ${aside} px sideways`);
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${folder}/${name}-${theme}-${width}.png`, fullPage: true });
  await page.context().close();
}

/** Registers a user, logs in and shortens two links. Returns the browser storage. */
async function member(browser) {
  const page = await open(browser, 'light', 1440);
  await page.goto(`${origin}/register`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Username').fill('Marta');
  await page.getByRole('button', { name: 'REGISTER' }).click();
  await page.waitForURL('**/login');
  await fillLogin(page, password);
  await page.waitForURL(`${origin}/`);
  await shorten(page, LONG);
  await shorten(page, 'https://docs.example.com/handbook#waymarks');
  const state = await page.context().storageState();
  await page.context().close();
  return state;
}

/** Returns the browser storage of a session. */
function storageOf(token) {
  const session = { token, expirationTimestamp: Date.now() + 3_600_000 };
  const localStorage = [{ name: 'userToken', value: JSON.stringify(session) }];
  return { cookies: [], origins: [{ origin, localStorage }] };
}

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  ...(process.env.CHROME_PATH ? { executablePath: process.env.CHROME_PATH } : {}),
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-sync'],
});
try {
  const state = await member(browser);
  for (const theme of THEMES) {
    for (const width of Object.keys(WIDTHS)) {
      for (const page of pages) await picture(browser, page, theme, width);
      for (const page of memberPages) await picture(browser, page, theme, width, state);
      if (!administrator) continue;
      for (const page of administratorPages) {
        await picture(browser, page, theme, width, storageOf(administrator));
      }
    }
  }
} finally {
  await browser.close();
}
for (const fault of faults) console.error(`screenshots: ${fault}`);
const all = [...pages, ...memberPages, ...(administrator ? administratorPages : [])];
console.log(`screenshots: ${all.length * 4} pictures in ${folder}/`);
process.exit(faults.length > 0 ? 1 : 0);
