import { StrictMode } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import './styles/fonts.css';
import './styles/tokens.css';
import './styles/base.css';
import { App } from './app/App';
import { preloadPage } from './app/routes';
import { registerServiceWorker } from './lib/serviceWorker';
import { apply } from './lib/theme';

const root = document.getElementById('root');
if (!root) throw new Error('The document has no #root');
apply();
registerServiceWorker();
const site = (
  <StrictMode>
    <App />
  </StrictMode>
);
const render = () => {
  root.replaceChildren();
  delete document.documentElement.dataset['personal'];
  createRoot(root).render(site);
};
const isKnown = 'personal' in document.documentElement.dataset;
/** What a link or a reload passes to the page. */
const { usr } = (history.state ?? {}) as { usr?: unknown };
if (root.dataset['path'] === location.pathname && !isKnown && !usr) {
  // The document shows the page already, as a new visitor sees it.
  preloadPage(location.pathname).then(() => hydrateRoot(root, site), render);
} else {
  render();
}
