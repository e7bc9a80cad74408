/** Renders public pages at build time, for documents that show their text before any script. */
import { StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { StaticRouter } from 'react-router-dom';
import { Site } from './app/App';
import { preloadPage } from './app/routes';
import { head } from './components/Page';

/** Returns the content of a page's root, and its title and description. */
export async function prerender(path: string): Promise<typeof head & { html: string }> {
  await preloadPage(path);
  const html = renderToString(
    <StrictMode>
      <StaticRouter location={path}>
        <Site />
      </StaticRouter>
    </StrictMode>,
  );
  return { html, ...head };
}
