import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './styles/fonts.css';
import './styles/tokens.css';
import './styles/base.css';
import { App } from './app/App';
import { registerServiceWorker } from './lib/serviceWorker';
import { apply } from './lib/theme';

const root = document.getElementById('root');
if (!root) throw new Error('The document has no #root');
apply();
registerServiceWorker();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
