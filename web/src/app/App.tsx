import { BrowserRouter } from 'react-router-dom';
import { Frame } from './Frame';
import { Providers } from './Providers';
import { AppRoutes } from './routes';

export function App() {
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
