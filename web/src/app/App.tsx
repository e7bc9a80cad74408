import { useEffect } from 'react';
import { BrowserRouter } from 'react-router-dom';
import { Frame } from './Frame';
import { Providers } from './Providers';
import { AppRoutes } from './routes';
import { repeatEarly } from '../lib/early';

export function App() {
  // Not before the page has been rendered with what was typed early.
  useEffect(() => void setTimeout(repeatEarly), []);
  return (
    <BrowserRouter>
      <Site />
    </BrowserRouter>
  );
}

/** The pages within a router. */
export function Site() {
  return (
    <Providers>
      <Frame>
        <AppRoutes />
      </Frame>
    </Providers>
  );
}
