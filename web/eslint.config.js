import { readdirSync } from 'node:fs';
import globals from 'globals';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import messages from './eslint-messages.js';

const features = readdirSync(new URL('./src/features', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

const PAGES = 'A page never knows the table it stands in.';
const FORMATS = 'lib/format.ts and lib/calendar.ts know how numbers and dates read.';
const FEATURES = 'Features never import each other; a page composes them.';

/** Relative imports that leave a folder of src for one of these others. */
const arrows = (folder, others, message) => ({
  files: [`src/${folder}/**/*.{ts,tsx}`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        paths: folder === 'api' ? [] : [{ name: 'axios', message: 'Only api/ calls out.' }],
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
        message: 'Only the route table loads what is in another folder.',
      },
    ],
  },
});

// The arrows of the house: app -> pages -> features -> components -> lib; api beside components.
const directions = [
  arrows('lib', ['api', 'components', 'features', 'pages', 'app'], 'lib stands on its own.'),
  arrows('api', ['components', 'features', 'pages', 'app'], 'api knows only lib.'),
  arrows('components', ['api', 'features', 'pages', 'app'], 'What is shared knows no feature.'),
  arrows('pages', ['app'], PAGES),
  ...features.map((name) =>
    arrows(
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
    // api/ is the only place that calls out.
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/api/**'],
    rules: {
      'no-restricted-globals': ['error', 'fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource'],
    },
  },
  {
    // How numbers and dates read is decided in one place, and for statistics in another.
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
  ...directions,
  {
    files: ['**/*.{js,mjs}'],
    ...tseslint.configs.disableTypeChecked,
  },
  {
    files: ['*.js', 'scripts/**', 'test/**/*.mjs'],
    languageOptions: { globals: globals.node },
  },
);
