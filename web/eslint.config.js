import { readdirSync } from 'node:fs';
import globals from 'globals';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import messages from './eslint-messages.js';

const features = readdirSync(new URL('./src/features', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

const PAGES = 'Pages do not import the route table.';
const FORMATS = 'Use lib/format.ts or lib/calendar.ts to format numbers and dates.';
const FEATURES = 'Features do not import each other; a page composes them.';

/** Forbids relative imports from a folder of src into these other folders. */
const forbidImports = (folder, others, message) => ({
  files: [`src/${folder}/**/*.{ts,tsx}`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        paths: folder === 'api' ? [] : [{ name: 'axios', message: 'Only api/ makes requests.' }],
        patterns: [
          { regex: `^(\\.\\.?/)+(src/)?(${others.join('|')})(/|$)`, message },
          { regex: '^/|^src/', message: 'Imports inside src are relative.' },
        ],
      },
    ],
    'no-restricted-syntax': [
      'error',
      {
        selector: 'ImportExpression > Literal[value=/^\\.\\.\\u002f/]',
        message: 'Only the route table loads modules of other folders.',
      },
    ],
  },
});

// Allowed imports: app -> pages -> features -> components -> lib; api is beside components.
const layers = [
  forbidImports(
    'lib',
    ['api', 'components', 'features', 'pages', 'app'],
    'lib imports no other folder.',
  ),
  forbidImports('api', ['components', 'features', 'pages', 'app'], 'api imports only lib.'),
  forbidImports(
    'components',
    ['api', 'features', 'pages', 'app'],
    'Components do not import features.',
  ),
  forbidImports('pages', ['app'], PAGES),
  forbidImports(
    'apiPage',
    ['api', 'components', 'features', 'pages', 'app'],
    'The script of the API documentation imports only lib.',
  ),
  forbidImports(
    'serviceWorker',
    ['api', 'components', 'features', 'pages', 'app'],
    'The service worker imports only lib.',
  ),
  ...features.map((name) =>
    forbidImports(
      `features/${name}`,
      ['pages', 'app', 'features', ...features.filter((other) => other !== name)],
      FEATURES,
    ),
  ),
];

export default tseslint.config(
  { ignores: ['dist', 'screenshots'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      globals: globals.browser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ...jsxA11y.flatConfigs.strict,
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ...reactHooks.configs.flat['recommended-latest'],
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/**/*{m,M}essages.{ts,tsx}', 'src/**/*.test.ts'],
    plugins: { text: messages },
    rules: { 'text/in-messages': 'error' },
  },
  {
    // Only api/ makes requests.
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/api/**'],
    rules: {
      'no-restricted-globals': ['error', 'fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource'],
    },
  },
  {
    // Only lib/format.ts formats numbers and dates, and lib/calendar.ts for statistics.
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/lib/format.ts', 'src/lib/calendar.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        ...['NumberFormat', 'DateTimeFormat', 'PluralRules', 'RelativeTimeFormat'].map(
          (property) => ({
            object: 'Intl',
            property,
            message: FORMATS,
          }),
        ),
        ...['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'].map((property) => ({
          property,
          message: FORMATS,
        })),
      ],
    },
  },
  ...layers,
  {
    files: ['**/*.{js,mjs}'],
    ...tseslint.configs.disableTypeChecked,
  },
  {
    files: ['*.js', 'scripts/**', 'test/**/*.mjs'],
    languageOptions: { globals: globals.node },
  },
);
