import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { apiPage } from './build/api-page.ts';
import { bootScript } from './build/boot-script.ts';
import { DEFAULT, language, languages } from './build/language.ts';
import { loading } from './build/loading.ts';
import { prerender } from './build/prerender.ts';
import { reactColorfulCss } from './build/react-colorful-css.ts';
import { reactRouter } from './build/react-router.ts';
import { sampleChart } from './build/sample-chart.ts';
import { searchEngine } from './build/search-engine.ts';
import { api, CODE_PATTERN, functions, gateway, routes } from './src/lib/edgeNames.ts';

const BACKEND = 'http://localhost:8080';
/** Optional dependencies of jsPDF for HTML and SVG, which are never given to it here. */
const UNUSED_DEPENDENCIES = ['canvg', 'dompurify', 'html2canvas'];
const BACKEND_PATHS = [...Object.values(functions), ...Object.values(gateway)];

/** Tests that replace modules with `vi.mock`, or need modules that no other test has used. */
const NEED_OWN_MODULES = [
  'test/expiry.test.tsx',
  'test/import-page.test.tsx',
  'test/load.test.tsx',
  'test/locale.test.ts',
  'test/redirect.test.tsx',
];

/** The mode is the language, such as `es`: vite --mode es. */
export default defineConfig(({ mode, isSsrBuild = false }) => {
  const tag = languages().includes(mode) ? mode : DEFAULT;
  const scripts = tag === DEFAULT ? 'assets' : `assets/${tag}`;
  return {
    plugins: [
      language(tag),
      react(),
      apiPage(),
      !isSsrBuild && bootScript(),
      reactColorfulCss(),
      sampleChart(),
      searchEngine(),
      !isSsrBuild && [reactRouter(), loading(), prerender(tag)],
    ],
    build: {
      outDir: 'dist',
      // Nothing is inlined: a data: URL would count against a budget, and the CSP forbids data:
      // fonts.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        checks: { bundlerTimings: false },
        external: UNUSED_DEPENDENCIES,
        output: {
          // Seven characters (42 bits) of hash distinguish files of one name. The home page's code
          // contains every file name, so names are short.
          entryFileNames: `${scripts}/[name]-[hash:7].js`,
          chunkFileNames: `${scripts}/[name]-[hash:7].js`,
          assetFileNames: 'assets/[name]-[hash:7][extname]',
          codeSplitting: {
            groups: [
              // One file of everything that the document loads. Pages import shared modules from it, and
              // it compresses better than several files.
              { name: 'index', tags: ['$initial'] },
              // Tiny modules that several pages share: the home page's code contains the name of each
              // file.
              {
                name: 'lib',
                test: /\/(lib\/(counted|save|share|text|urls|useHere)|blockReasons)\.ts$/,
              },
              { name: 'valibot', test: /\/node_modules\/valibot\// },
              // In a file of their own, so that a page that reads codes does not load the calls.
              { name: 'codes', test: /\/src\/lib\/(codes|edgeNames|shortUrls)\.ts$/ },
              // The calls of all pages and what they share with those of administrators, in one file.
              {
                name: 'functions',
                test: /\/src\/api\/(functions\.ts|client\.ts|functions\/(?!administration))|\/node_modules\/axios\//,
              },
              // All pages with data of an owner load these together.
              {
                name: 'cache',
                test: /\/src\/(api\/(cache|scanCodes)|lib\/(csv|parallel))\.ts$|\/(useBaseQuery|useQuery|queryOptions)\.js$/,
              },
            ],
          },
        },
      },
    },
    worker: {
      // Required because one worker loads a part of it later.
      format: 'es',
      rolldownOptions: {
        checks: { bundlerTimings: false },
        external: UNUSED_DEPENDENCIES,
        output: {
          entryFileNames: `${scripts}/[name]-[hash:7].js`,
          chunkFileNames: `${scripts}/worker-[name]-[hash:7].js`,
        },
      },
    },
    server: {
      proxy: {
        [`^(${BACKEND_PATHS.join('|')})$`]: BACKEND,
        [`^${api}(?:[/?]|$)`]: BACKEND,
        // Short URLs. Vite serves the pages' own paths.
        [`^/(?!(${routes.join('|')})$)${CODE_PATTERN}$`]: BACKEND,
      },
    },
    test: {
      environment: 'jsdom',
      setupFiles: './test/setup.ts',
      restoreMocks: true,
      // Nothing else runs at the same time. Otherwise one core is left idle, which is half of two.
      maxWorkers: '100%',
      // Milliseconds per test. setup.ts limits each wait.
      testTimeout: 120_000,
      css: { include: [] },
      coverage: {
        include: ['src/**/*.{ts,tsx}'],
        exclude: ['src/languages/**', '**/*.d.ts', '**/*.test.*'],
        reporter: ['html', 'json-summary', 'text-summary'],
        reportsDirectory: '../reports/coverage/pages',
        thresholds: { branches: 88, lines: 95 },
      },
      // Files that share the modules they load take two thirds of the time.
      projects: [
        {
          extends: true,
          test: {
            name: 'shared',
            include: ['{src,test}/**/*.test.{ts,tsx}'],
            exclude: NEED_OWN_MODULES,
            isolate: false,
          },
        },
        { extends: true, test: { name: 'isolated', include: NEED_OWN_MODULES } },
      ],
    },
  };
});
