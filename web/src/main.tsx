import { StrictMode } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import './styles/fonts.css';
import './styles/tokens.css';
import './styles/base.css';
import { App } from './app/App';
import { preloadPage } from './app/routes';
import { readPending } from './features/shorten/pending';
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
const render = () => createRoot(root).render(site);
const { usr } = (history.state ?? {}) as { usr?: unknown };
if (root.hasChildNodes() && !usr && !readPending()) {
  // The document shows the page already, as a new visitor sees it.
  preloadPage(location.pathname).then(() => hydrateRoot(root, site), render);
} else {
  render();
}
