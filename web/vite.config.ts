import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';
import { bootScript } from './build/boot-script.ts';
import { loading } from './build/loading.ts';
import { reactColorfulCss } from './build/react-colorful-css.ts';
import { reactRouter } from './build/react-router.ts';
import { sampleChart } from './build/sample-chart.ts';
import { CODE_PATTERN, functions, gateway, routes } from './src/lib/edge.ts';

const BACK_END = 'http://localhost:8080';
/** jsPDF asks for these when it is given HTML or an SVG, which it never is here. */
const NEVER_ASKED = ['canvg', 'dompurify', 'html2canvas'];
const ANSWERED_THERE = [...Object.values(functions), ...Object.values(gateway)];

export default defineConfig({
  plugins: [react(), bootScript(), reactColorfulCss(), reactRouter(), sampleChart(), loading()],
  build: {
    outDir: 'dist',
    // A data: font or image would count against the budgets of the document and the CSP.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      external: NEVER_ASKED,
      output: {
        // 36 bits of hash tell files of one name apart; every name stands in what the home page loads.
        chunkFileNames: 'assets/[name]-[hash:6].js',
        assetFileNames: 'assets/[name]-[hash:6][extname]',
        codeSplitting: {
          groups: [
            // All that the document loads in one file: parts that pages share are exported from it, and
            // it compresses better than several.
            { name: 'index', tags: ['$initial'] },
            // Tiny parts that several pages have: the home page lists the name of each file.
            { name: 'lib', test: /\/src\/lib\/(save|share|text|urls|useHere)\.ts$/ },
            // All pages with something of an owner load these together.
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
    // One that loads a part of it later.
    format: 'es',
    rolldownOptions: {
      external: NEVER_ASKED,
      output: {
        entryFileNames: 'assets/[name]-[hash:6].js',
        chunkFileNames: 'assets/worker-[name]-[hash:6].js',
      },
    },
  },
  server: {
    proxy: {
      [`^(${ANSWERED_THERE.join('|')})$`]: BACK_END,
      // Short addresses; the pages' own paths stay here.
      [`^/(?!(${routes.join('|')})$)${CODE_PATTERN}$`]: BACK_END,
    },
  },
  test: {
    environment: 'jsdom',
    setupFiles: './test/setup.ts',
    include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.{ts,tsx}'],
    restoreMocks: true,
    // Nothing else runs beside them; without this a core is left idle, which of two is half.
    maxWorkers: '100%',
    // Milliseconds for a whole test; what it waits for is limited in setup.ts.
    testTimeout: 120_000,
    css: { include: [] },
  },
});
