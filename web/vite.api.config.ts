/** Builds the documentation of the API into the folder of the pages, with a script of its own. */
import { defineConfig } from 'vite';
import { apiPage } from './build/api-page.ts';
import { bootScript } from './build/boot-script.ts';

export default defineConfig({
  plugins: [apiPage(), bootScript({ prefetch: false })],
  publicDir: false,
  build: {
    outDir: 'dist',
    emptyOutDir: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: 'api.html',
      output: {
        entryFileNames: 'assets/[name]-[hash:7].js',
        assetFileNames: 'assets/[name]-[hash:7][extname]',
      },
    },
  },
});
