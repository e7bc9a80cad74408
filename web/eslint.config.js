import { readdirSync } from 'node:fs';
import globals from 'globals';
import importX, { createNodeResolver } from 'eslint-plugin-import-x';
import jsxA11y from 'eslint-plugin-jsx-a11y';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const features = readdirSync(new URL('./src/features', import.meta.url), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

// The arrows of the house: app -> pages -> features -> components -> lib; api beside features.
const forbidden = (target, from, message) => ({
  target: `./src/${target}`,
  from: from.map((folder) => `./src/${folder}`),
  message,
});
const zones = [
  forbidden('lib', ['api', 'components', 'features', 'pages', 'app'], 'lib stands on its own.'),
  forbidden('api', ['components', 'features', 'pages', 'app'], 'api knows only lib.'),
  forbidden(
    'components',
    ['api', 'features', 'pages', 'app'],
    'What is shared never knows a feature.',
  ),
  forbidden('features', ['pages', 'app'], 'A feature never knows where it is used.'),
  forbidden('pages', ['app'], 'A page never knows the table it stands in.'),
  ...features.map((name) => ({
    target: `./src/features/${name}`,
    from: './src/features',
    except: [`./${name}`],
    message: 'Features never import each other; a page composes them.',
  })),
];

export default tseslint.config(
  { ignores: ['dist'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      globals: globals.browser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    plugins: { 'import-x': importX },
    settings: {
      'import-x/resolver-next': [
        createNodeResolver({ extensions: ['.ts', '.tsx', '.js', '.mjs'] }),
      ],
    },
    rules: {
      'import-x/no-restricted-paths': ['error', { basePath: import.meta.dirname, zones }],
      'import-x/no-cycle': 'error',
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
    // api/ is the only place that calls out.
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/api/**'],
    rules: {
      'no-restricted-imports': ['error', { paths: ['axios'] }],
      'no-restricted-globals': ['error', 'fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource'],
    },
  },
  {
    files: ['**/*.{js,mjs}'],
    ...tseslint.configs.disableTypeChecked,
  },
  {
    files: ['*.js', 'scripts/**', 'test/**/*.mjs'],
    languageOptions: { globals: globals.node },
  },
);
